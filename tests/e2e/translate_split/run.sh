#!/bin/sh
# SPDX-License-Identifier: MIT
# rela translate --split: the sentences of a line come out as each would alone, in one line, whatever
# is written with them; what goes with it and what does not.
set -eu
LC_ALL=C
export LC_ALL
. "$RELA_SOURCE/tests/e2e/lib.sh"

"$RELA" corpus --quiet --size 600 --seed 3 --out corpus
train() { # NAME OPTION...: a small model
    name=$1
    shift
    "$RELA" train --quiet --preset demo --width 32 --ffn 64 --batch-tokens 512 --updates 60 --warmup 20 --lr 5e-3 \
        --save-every 60 --average 1 --threads 2 --train-src corpus/train.src --train-tgt corpus/train.tgt --out "$name" "$@"
}
train run --merges 200 --max-length 100 --tokenise --src-lang en --tgt-lang de
train words --merges 0 --vocab-size 60 --seed 5 --src-lang de
M=run/model.rela W=words/model.rela

# Three sentences to a line; a line alone, an empty one and one without an end mark among them.
grep '[.]$' corpus/test.src | head -n 30 >each
paste -d ' ' - - - <each >in
rela split -q in | cmp -s - each || fail "the lines are not three sentences each: nothing would be tested"
joined() { # OPTION...: what the sentences give alone, put together
    rela translate -q "$@" <each | paste -d ' ' - - -
}

# ---- texts ----
joined $M >want
for options in '' '--split always' '--batch 1 -t 1' '--batch 7 --read-bytes 50' '--src-lang de'; do
    # shellcheck disable=SC2086
    "$RELA" translate -q $options $M <in >out
    cmp -s want out || fail "$options: $(diff want out | head -n 2)"
    n_checks=$((n_checks + 1))
done
"$RELA" translate -q --split never $M <in >whole
! cmp -s want whole || fail "--split never makes no difference"
"$RELA" translate -q --split never $M <each >a
rela translate -q $M <each | cmp -s - a || fail "single sentences are changed"
for how in forbid replace; do
    joined --unk $how $W >want.$how
    rela translate -q --unk $how $W <in | cmp -s - want.$how || fail "--unk $how"
done
! cmp -s want.forbid want.replace || fail "no unknown words: nothing was tested"
{ head -n 1 in && echo && echo '   ' && head -n 2 each && sed -n 2p in; } >mixed
{ head -n 1 want && echo && echo && head -n 2 a && sed -n 2p want; } >want.mixed
rela translate -q $M <mixed | cmp -s - want.mixed || fail "lines of all sorts"
n_checks=$((n_checks + 5))

# ---- what comes with them: ranks, sums, tokens ----
"$RELA" translate -q --n-best 3 --word-scores $M <each >nbest.each
"$RELA" translate -q --n-best 3 --word-scores $M <in >nbest
awk -F ' [|][|][|] ' '
    FNR == NR { line = int($1 / 3); rank = (FNR - 1) % 3; key = line " " rank
        text[key] = text[key] (text[key] == "" ? "" : " ") $2
        sub(/^logp= /, "", $3); logp[key] += $3; score[key] += $4
        sub(/^words= /, "", $5); words[key] = words[key] " " $5; next }
    { key = $1 " " (FNR - 1) % 3; sub(/^logp= /, "", $3); sub(/^words=/, "", $5)
      d = logp[key] - $3; e = score[key] - $4
      if (text[key] != $2 || d * d > 4e-6 || e * e > 4e-6 || words[key] != $5) { print key ": " $0; bad = 1 } n++ }
    END { exit bad || n != 30 }' nbest.each nbest >odd || fail "n-best: $(head -n 2 odd)"
"$RELA" translate -q --json --word-scores --alignment hard $M <in >json
[ "$(grep -o '"<eos>"' json | wc -l)" -gt 10 ] && [ "$(wc -l <json)" -eq 10 ] || fail "json: $(head -n 1 json)"

# ---- word links: of each sentence, the words before it added (text and words are the same here) ----
for links in hard soft; do
    "$RELA" translate -q --unk forbid --alignment $links $W <each >links.each
    rela translate -q --unk forbid --alignment $links $W <in | sed 's/.* ||| *//' >links
    paste -d '|' each links.each | awk -F ' *[|]+ *' '
        (NR - 1) % 3 == 0 { s = t = 0; row = "" }
        { n = split($3, l, " ")
          for (i = 1; i <= n; i++) { split(l[i], p, /[-:]/); rest = l[i]; sub(/^[0-9]*-[0-9]*/, "", rest)
              row = row (row == "" ? "" : " ") p[1] + s "-" p[2] + t rest }
          s += split($1, w, " "); t += split($2, w, " ") }
        NR % 3 == 0 { print row }' >want.links
    cmp -s links want.links || fail "--alignment $links: $(diff links want.links | head -n 4)"
    [ "$(head -n 1 links | wc -w)" -gt 5 ] || fail "--alignment $links: nothing was tested"
    n_checks=$((n_checks + 1))
done

# ---- sampling ----
yes "$(head -n 1 each)" | head -n 3 | paste -d ' ' - - - >same
"$RELA" translate -q --sampling full --seed 4 --json --word-scores $M <same >sample
rela translate -q --sampling full --seed 4 --json --word-scores -t 1 $M <same | cmp -s - sample || fail "samples depend on threads"
sed 's/.*"tokens": \[//; s/\["<eos>", [^]]*\]/\n/g' sample | sed '/"/!d; s/^, //' | sort -u | wc -l >n
[ "$(cat n)" -eq 3 ] || fail "the sentences of a line have $(cat n) different samples"

# ---- prefixes belong to the line, so it stays whole ----
cut -d ' ' -f 1 whole >begin
"$RELA" translate -q --prefix begin $M <in >out
rela translate -q --prefix begin --split never $M <in | cmp -s - out || fail "lines with a prefix were split"
sed 's/.*//' begin >none
rela translate -q --prefix none $M <in | cmp -s - want || fail "empty prefixes"

# ---- languages ----
ends() { # MODEL OPTION...: sentences of a line with a German date
    echo 'Am 3. Mai regnet es.' | rela translate -q --json --word-scores "$@" | grep -o '"<eos>"' | wc -l
}
[ "$(ends $W)" -eq 1 ] && [ "$(ends $M --src-lang de)" -eq 1 ] || fail "a date in German was split"
[ "$(ends $M)" -eq 2 ] && [ "$(ends $W --src-lang en)" -eq 2 ] || fail "a date in English was not split"

# ---- lines that are longer than the model or the memory for them ----
{ awk 'BEGIN { for (i = 0; i < 40; i++) printf "the student saw the house , "; print "end ." }' | tr -d '\n' && echo " $(head -n 1 each)"; } >long
"$RELA" translate $M <long >out 2>err
[ "$(wc -l <out)" -eq 1 ] && [ "$(grep -c 'line 1: .* translated in parts' err)" -eq 1 ] || fail "a long sentence: $(cat err)"
last=$(head -n 1 a)
case $(cat out) in *" $last") ;; *) fail "the sentence after a long one is lost: $(tail -c 100 out)" ;; esac
"$RELA" translate -q --long cut --alignment hard $M <long >out
case $(sed 's/ ||| .*//' out) in *" $last") ;; *) fail "--long cut: the sentence after a long one is lost" ;; esac
awk 'BEGIN { for (i = 0; i < 9000; i++) printf "the student saw the house . "; print "" }' >longer
"$RELA" translate -b 1 --long cut --word-scores $M <longer >out 2>err
grep -q 'line 1: longer than .* the rest is not translated' err || fail "--long cut of a very long line: $(cat err)"
[ "$(wc -l <out)" -eq 1 ] || fail "--long cut of a very long line"
n_checks=$((n_checks + 10))

refuses 2 "option --split" translate $M --split sometimes
refuses 2 "--split always does not go with --prefix" translate $M --split always --prefix begin -i in
refuses 2 "language 'germn' is not known" translate $M --src-lang germn -i in

# ---- memory that fails, one call after the other ----
head -n 1 in >one
"$RELA" translate -q -t 1 -b 1 $M -i one -o whole
n=1
while [ $n -lt 4000 ]; do
    code=0
    RELA_FAULT=mem:$n "$RELA" translate -q -t 1 -b 1 $M -i one -o faulty >out 2>err || code=$?
    if [ $code -eq 0 ]; then
        cmp -s faulty whole || fail "memory call $n: another result"
        [ $n -lt 400 ] || break
    else
        [ $code -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] || fail "memory call $n: code $code: $(cat err)"
    fi
    rm -f faulty
    n=$((n + 1 + n / 8))
    n_checks=$((n_checks + 1))
done
finish
