#!/bin/sh
# SPDX-License-Identifier: MIT
# rela align on a model that learned to copy: its links are nearly the diagonal; and every kind of bad
# text, gold or option with its exit code and message.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# Sentences of twenty words and their copies; gold links are the diagonal.
awk 'BEGIN {
    srand(4)
    for (i = 0; i < 3000; i++) {
        n = 3 + int(rand() * 5)
        line = ""; gold = ""
        for (j = 0; j < n; j++) {
            line = line (j ? " " : "") "w" int(rand() * 20)
            gold = gold (j ? " " : "") j "-" j
        }
        print line > "train.txt"
        print gold > "train.gold"
    }
}'
"$RELA" train --quiet --preset demo --attention rela-g --merges 0 --width 48 --ffn 64 --heads 4 \
    --enc-layers 1 --dec-layers 2 --dropout 0 --lr 5e-3 --warmup 60 --updates 220 --batch-tokens 512 \
    --save-every 220 --average 1 --train-src train.txt --train-tgt train.txt --out run --threads 2
model=run/model.rela
head -n 100 train.txt >a
head -n 100 train.gold >gold
head -n 40 train.gold >gold40

# Heads chosen on the first lines; the choice is told; the error that is told is the one rela aer finds.
"$RELA" align $model --src a --tgt a --best-on gold40 -o links 2>note
grep -q 'best on gold40: .* attention (AER [0-9.]* on 40 pairs)' note || fail "note: $(cat note)"
aer=$(sed 's/.*AER \([0-9.]*\) .*/\1/' note)
head -n 40 links >links40
rela aer gold40 -i links40 --samples 0 | grep -q "^AER $aer " || fail "not AER $aer"
rela aer gold -i links --samples 0 | awk '{ exit !($2 < 20) }' ||
    fail "a copy is aligned badly: $(rela aer gold -i links --samples 0)"

# One line per pair, whatever the threads; empty for empty and for too long pairs.
long=$(awk 'BEGIN { for (i = 0; i < 3000; i++) printf "w1 " }')
{ cat a; echo; echo "w1 w2"; echo "$long"; printf '\000 w3\n'; printf 'w1 w1'; } >odd.src
{ cat a; echo "w1"; echo; echo "w1"; printf '\377\n'; echo "w2"; } >odd.tgt
"$RELA" align $model --src odd.src --tgt odd.tgt --threads 1 >one 2>note
[ "$(wc -l <one)" -eq 105 ] || fail "$(wc -l <one) lines"
[ -z "$(sed -n 101,103p one | tr -d '\n')" ] || fail "links of nothing: $(sed -n 101,103p one)"
grep -q 'line 103: longer than .* tokens' note || fail "no warning: $(cat note)"
for threads in 2 3; do
    rela align $model --src odd.src --tgt odd.tgt --threads $threads 2>/dev/null | cmp - one ||
        fail "$threads threads change the links"
done
gzip -kf odd.src
rela align $model --src odd.src.gz --tgt - <odd.tgt 2>/dev/null | cmp - one || fail "gzip, standard input"

# Thresholds, soft links, both directions, a picture.
for choice in '--layer 1' '--layer 2 --head 4' '--layer 2 --shift' ''; do
    "$RELA" align $model --src a --tgt a $choice >links
    [ "$(wc -l <links)" -eq 100 ] || fail "$choice: $(wc -l <links) lines"
    "$RELA" align $model --src a --tgt a $choice --threshold 0.000001 >all
    rela align $model --src a --tgt a $choice --soft | sed 's/:[^ ]*//g' | cmp - all ||
        fail "$choice: soft links are not all links"
done
"$RELA" align $model --src a --tgt a --reverse $model --symmetrise intersect >both
"$RELA" align $model --src a --tgt a >forward
sed 's/\([0-9]*\)-\([0-9]*\)/\2-\1/g' forward >turned
rela symmetrise forward turned --method intersect | cmp - both || fail "the reverse model is not turned"
"$RELA" align $model --src a --tgt a --reverse $model --best-on gold40 >links 2>note
[ "$(wc -l <note)" -eq 2 ] && grep -q '^rela align: reverse: best on\|reverse: best on' note || fail "note: $(cat note)"
"$RELA" align $model --src a --tgt a --show 2 --layer 2 >picture
grep -q 'attends to nothing' picture || fail "no picture: $(cat picture)"
# In a terminal a picture that is too wide continues below; wide characters and marks keep the columns in place.
n_checks=$((n_checks + 1))
printf 'w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15 w16 w17 w18 w19 w20 w21 w22 w23 w24\n\344\270\200 \344\272\214 e\314\201 a b c\n' >wide
script -qec "stty cols 40; '$RELA' align --quiet $model --src wide --tgt wide --show 1" /dev/null </dev/null | tr -d '\r' >picture
LC_ALL=C sed 's/[\x80-\xbf]//g' picture >narrow # one byte per character
[ "$(awk '/^share/ { exit } length($0) > 40 { wide++ } /^ *w24 / { rows++ } END { print wide + 0, rows + 0 }' narrow)" = "0 2" ] ||
    fail "a wide picture: $(cat picture)"
"$RELA" align $model --src wide --tgt wide --show 2 >picture
grep -q "^ *$(printf '\344\270\200')$(printf '\344\272\214')e$(printf '\314\201') a b " picture || fail "wide characters: $(cat picture)"
rela align $model --src odd.src --tgt odd.tgt --show 101 | grep -q 'empty side' || fail "empty picture"
"$RELA" align $model --src a --tgt a --best-on gold40 -o links --json -q >report
grep -q '"lines": 100, .*"dev_pairs": 40, "dev_aer": ' report || fail "report: $(cat report)"
# People count layers and heads from 1, programs from 0; -1 is the mean.
counts() { # LAYER HEAD OPTION...
    want="\"layer\": $1, \"head\": $2, "
    shift 2
    "$RELA" align $model --src a --tgt a -o links --json -q "$@" >report
    grep -qF -- "$want" report || fail "$*: $(cat report)"
}
counts -1 -1
counts 0 -1 --layer 1
counts 1 3 --layer 2 --head 4
: >empty
accepts align $model --src empty --tgt empty
[ ! -s lib.out ] || fail "links of nothing"

# Gold links: exit code, third line of the gold, message. Both commands that read them.
while IFS='|' read -r expected third why; do
    { head -n 2 gold; echo "$third"; } >bad.gold
    if [ "$expected" -eq 0 ]; then
        "$RELA" align $model --src a --tgt a --best-on bad.gold -q >/dev/null || fail "align: '$third' is refused"
        continue
    fi
    refuses "$expected" "bad.gold: line 3: $why" align $model --src a --tgt a --best-on bad.gold
    refuses "$expected" "bad.gold: line 3: $why" analyse $model --src a --tgt a --gold bad.gold --out x
done <<'END'
3|0-|'0-' is not a link; expected i-j, i?j or ipj
3|-1-2|'-1-2' is not a link
3|0-0-0|'0-0-0' is not a link
3|x-1|'x-1' is not a link
3|0:1|'0:1' is not a link
3|0-0 3-99|'3-99'
3|99-0|'99-0'
3|99999999999999999999-0|'99999999999999999999-0'
3|0-16777216|'0-16777216'
0|2-2 0-0 1-1|unsorted
0|0-0 0-0 0?0 0-0|repeated
0|0?1 1p2|only possible ones
0||none
END
refuses 3 "gold: line 1: " align $model --src a --tgt a --best-on gold --gold-base 1
: >none
refuses 3 "none: no lines" align $model --src a --tgt a --best-on none
refuses 3 "train.gold has 3000 lines but a has 100" align $model --src a --tgt a --best-on train.gold
refuses 3 "a has 100 lines but train.txt has 3000" align $model --src a --tgt train.txt --output links
refuses 2 "standard input" align $model --src - --tgt a --best-on gold
refuses 2 "standard input can be read only once" align $model --src - --tgt -
refuses 2 "no layer 3; the model has 2" align $model --src a --tgt a --layer 3
refuses 2 "no head 9; the model has 4" align $model --src a --tgt a --layer 1 --head 9
refuses 2 "--head needs --layer" align $model --src a --tgt a --head 1
refuses 2 "threshold" align $model --src a --tgt a --threshold 1.5
refuses 2 "no text: name the two files" align $model --src a
refuses 2 "--soft and --reverse" align $model --src a --tgt a --soft --reverse $model
refuses 2 "--best-on chooses" align $model --src a --tgt a --best-on gold --layer 1
refuses 2 "no line 101; it has 100" align $model --src a --tgt a --show 101
refuses 1 "no-such-file" align $model --src no-such-file --tgt a
refuses 3 "a: " align a --src a --tgt a

# One token on each side.
echo w1 >single
echo 0-0 >single.gold
rela align $model --src single --tgt single --best-on single.gold -q | grep -qx '\(0-0\)\{0,1\}' || fail "a single word"
finish
