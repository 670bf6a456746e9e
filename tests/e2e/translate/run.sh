#!/bin/sh
# SPDX-License-Identifier: MIT
# rela translate and rela score: one line out for every line in, whatever it holds; the same result
# in any batch and on any number of threads; formats, long sentences, unknown words, bad input.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

train() { # NAME OPTION...: a small model of the built-in corpus
    name=$1
    shift
    "$RELA" train --quiet --preset demo --width 32 --ffn 64 --batch-tokens 512 --updates 60 --warmup 20 --lr 5e-3 \
        --save-every 60 --average 1 --threads 2 --train-src corpus/train.src --train-tgt corpus/train.tgt \
        --out "$name" "$@"
}
"$RELA" corpus --quiet --size 600 --seed 3 --out corpus
train run --merges 200 --max-length 100 --tokenise --src-lang en --tgt-lang de
train words --merges 0 --vocab-size 60 --seed 5
M=run/model.rela
head -n 40 corpus/test.src >in

# ---- the same whatever the batch, the threads, the way in and out ----
"$RELA" translate -q $M <in >base
[ "$(wc -l <base)" -eq 40 ] || fail "40 lines in, $(wc -l <base) out"
for options in '--batch 1' '--batch 7' '-t 1' '--batch-words 30' '--read-bytes 100' '-i in -o out'; do
    # shellcheck disable=SC2086
    "$RELA" translate -q $M $options <in >out.std
    case $options in *-o*) mv out out.std ;; esac
    cmp -s base out.std || fail "translate $options: another result"
    n_checks=$((n_checks + 1))
done
rela translate -q $M $M <in | cmp -s - base || fail "a model and itself are not that model"
"$RELA" translate -q -b 1 $M <in >greedy
rela translate -q --sampling top:1 $M <in | cmp -s - greedy || fail "sampling among one is not greedy"
"$RELA" translate -q --sampling nucleus:0.9 --seed 4 $M <in >sample
rela translate -q --sampling nucleus:0.9 --seed 4 -t 1 --batch 3 $M <in | cmp -s - sample || fail "samples depend on the batch"

# ---- what comes with it ----
"$RELA" translate -q --n-best 3 $M <in >nbest
[ "$(wc -l <nbest)" -eq 120 ] || fail "3-best of 40 lines: $(wc -l <nbest) lines"
sed -n '1~3p' nbest | sed 's/^[0-9]* ||| //; s/ ||| logp.*//' | cmp -s - base || fail "the first of 3-best is not the best"
"$RELA" translate -q --json --word-scores --alignment soft $M <in >json
grep -c '^{"line": [0-9]*, "rank": 0, "text": ".*", "logp": -[0-9.]*, "score": -[0-9.]*, "tokens": \[\[".*"alignment": "[-0-9:. e]*"}$' json >count || true
[ "$(cat count)" -eq 40 ] || fail "json: $(head -n 1 json)"
"$RELA" translate -q --scores --alignment hard --layer 1 --head 2 $M <in >links
grep -qE ' \|\|\| logp= -[0-9.]+ \|\|\| -[0-9.]+ \|\|\| [-0-9 ]*$' links || fail "links: $(head -n 1 links)"
# With a prefix the first word is that, or it with marks that are written without a blank: of its own
# choice, and of words it would not choose.
cut -d ' ' -f 1 base >own
head -n 40 corpus/test.tgt | cut -d ' ' -f 1 >other
for prefix in own other; do
    rela translate -q --prefix $prefix $M <in | cut -d ' ' -f 1 >first
    paste $prefix first | awk -F '\t' 'index($2, $1) != 1 || substr($2, length($1) + 1) !~ /^[[:punct:]]*$/' >wrong
    [ ! -s wrong ] || fail "prefix not followed: $(head -n 1 wrong)"
    n_checks=$((n_checks + 1))
done

# The log-probability of a translation is that of the search (words are tokens here, so that text
# and tokens are the same).
W=words/model.rela
"$RELA" translate -q --scores --unk forbid $W <in >scored
sed 's/ ||| .*//' scored >hyp
sed 's/.*logp= \([^ ]*\) .*/\1/' scored >want
"$RELA" score -q $W --src in --tgt hyp >got
paste want got | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-3) bad++ } END { exit bad > 2 }' ||
    fail "score and translate disagree: $(paste want got | head -n 3)"
rela score -q --batch-words 1 -t 1 $W --src in --tgt hyp | paste got - |
    awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-4) bad = 1 } END { exit bad }' || fail "scores depend on the batch"
rela score --word-scores --json $W --src in --tgt hyp 2>err | tail -n 1 | grep -q '"perplexity": ' || fail "no summary"
grep -q '40 pairs, .* perplexity ' err || fail "score: $(cat err)"
n_checks=$((n_checks + 12))

# ---- unknown words ----
rela translate -q $W <in | grep -q '<unk>' || fail "no unknown word, nothing tested"
for how in forbid replace; do
    ! rela translate -q --unk $how $W <in | grep -q '<unk>' || fail "--unk $how leaves <unk>"
done

# ---- lines of all sorts: as many out as in ----
{
    printf 'one\n\n   \nnul\000nul\n\377\376\300\257\n\357\273\277mark\nreturn\r\n\342\200\250\n'
    awk 'BEGIN { for (i = 0; i < 3000; i++) printf "word "; print "" }'
    head -c 10485760 /dev/zero | tr '\0' 'x'
    echo
    printf 'no end'
} >odd
"$RELA" translate -b 1 --long cut $M <odd >out 2>err
[ "$(wc -l <out)" -eq 11 ] || fail "11 lines in, $(wc -l <out) out"
[ -z "$(sed -n '2,3p' out | tr -d '\n')" ] || fail "something out of nothing"
grep -q 'line 9: longer than the 99 tokens that the model takes: the rest is not translated' err || fail "cut: $(cat err)"
"$RELA" score -q $M --src odd --tgt odd >out
[ "$(wc -l <out)" -eq 11 ] || fail "11 pairs in, $(wc -l <out) scores"
awk 'BEGIN { for (i = 0; i < 30; i++) printf "the student saw the house , "; print "end ." }' >long
"$RELA" translate $M <long >out 2>err
[ "$(wc -l <out)" -eq 1 ] && grep -q 'line 1: .* translated in parts' err || fail "split: $(cat err)"
awk 'BEGIN { for (i = 0; i < 9000; i++) printf "the student saw the house . "; print "" }' >longer
{ cat long longer && head -n 1 in; } | "$RELA" translate -b 1 -n 1 --alignment hard $M >out2 2>err
[ "$(wc -l <out2)" -eq 3 ] || fail "very long: $(wc -l <out2) lines"
grep -q 'line 1: longer than the 99 tokens' err || fail "very long: $(cat err)"
[ "$(grep -c 'line 2: longer than 71936 bytes: translated in parts' err)" -eq 1 ] && ! grep -q 'line 3' err ||
    fail "very long: $(cat err)"
sed -n 2p out2 | grep -q ' ||| $' || fail "links of a line in parts"
[ "$(sed -n 2p out2 | wc -w)" -gt 500 ] || fail "very long: $(sed -n 2p out2 | wc -w) words, of more than 500 parts"
cut -d ' ' -f -18000 longer | "$RELA" translate -q -b 2 -n 2 --json --word-scores $M >out2 # above that limit, too
[ "$(grep -c '^{"line": 0, "rank": [01], "text": ".*"logp": -.*"tokens": \[\[".*\]\]}$' out2)" -eq 2 ] || fail "very long: --json"
"$RELA" translate -q --long cut $M <long >beginning
[ "$(wc -w <out)" -gt "$(wc -w <beginning)" ] || fail "the parts are not longer than the beginning"
: | "$RELA" translate -q $M >out
[ ! -s out ] || fail "output without input"
n_checks=$((n_checks + 8))

# ---- an answer to each line as it comes ----
mkfifo ask
"$RELA" translate -q $M <ask >answers &
{
    head -n 1 in
    tries=100
    while [ ! -s answers ] && [ $tries -gt 0 ]; do
        sleep 0.3
        tries=$((tries - 1))
    done
    [ "$(wc -l <answers)" -eq 1 ] || fail "no answer while the input is open"
    sed -n 2p in
} >ask
wait
head -n 2 base | cmp -s - answers || fail "answers differ"

# ---- what is refused ----
refuses 1 "missing.rela: No such file" translate missing.rela
refuses 3 "in: not a model file" translate in
refuses 2 "missing argument" translate
refuses 2 "option --normalize: 'x:1'" translate $M --normalize x:1
refuses 2 "option --normalize: 'b' is not a number" translate $M --normalize gnmt:b
refuses 2 "option --sampling: 'top:0'" translate $M --sampling top:0
refuses 2 "--n-best 5 is more than --beam 4" translate $M --n-best 5
refuses 2 "beam" translate $M -b 0
refuses 2 "beam" translate $M -b 100000
refuses 2 "$M and $W have different source vocabularies" translate $M $W
refuses 1 "nothing: No such file" translate $M -i nothing
refuses 1 "/dev/full: cannot be written: No space left" translate $M -i in -o /dev/full
head -n 39 in >short
refuses 3 "short: ends before line 40, which in has" translate $M -i in --prefix short
refuses 2 "--layer 9" translate $M -i in --alignment hard --layer 9
refuses 2 "no text: name the two files" score $M
refuses 3 "in: has a line 40, but short ends before it" score $M --src short --tgt in -o scores
[ ! -e scores ] || fail "a file under its final name after a failure"
refuses 3 "short: ends before line 40, which in has" score $M --src in --tgt short -o scores
rela translate -q $M --read-bytes 1 <in 2>err | head -n 1 >/dev/null
[ ! -s err ] || fail "closed output: $(cat err)"

# ---- memory and files that fail, one call after the other ----
"$RELA" translate -q -t 1 -b 1 $M -i long -o whole
for what in mem file; do
    n=1
    while [ $n -lt 4000 ]; do
        code=0
        RELA_FAULT=$what:$n+ "$RELA" translate -q -t 1 -b 1 $M -i long -o faulty >out 2>err || code=$?
        [ $code -ne 0 ] || break
        [ $code -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] || fail "$what call $n: code $code: $(cat err)"
        # Only that the name outlives a power loss may fail when the file is there.
        [ ! -e faulty ] || { grep -q durable err && cmp -s faulty whole; } || fail "$what call $n: a file under its final name"
        rm -f faulty
        n=$((n + 1 + n / 4))
        n_checks=$((n_checks + 1))
    done
    rm -f faulty
done
finish
