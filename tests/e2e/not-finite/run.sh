#!/bin/sh
# SPDX-License-Identifier: MIT
# Weights that are finite but huge: whatever overflows is an error with the line, or a marked line,
# and never a result; lines that do not overflow are what they are without the others.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

"$RELA" corpus --quiet --size 300 --valid 2 --test 2 --out toy >/dev/null
sed -n 1,24p toy/train.src >src
sed -n 1,24p toy/train.tgt >tgt
# make NAME OPTION...: a small model
make() {
    name=$1
    shift
    "$RELA" train --quiet --preset demo --tie output --merges 0 --width 16 --ffn 16 --heads 2 --enc-layers 1 --dec-layers 1 \
        --updates 40 --threads 2 --train-src toy/train.src --train-tgt toy/train.tgt --out "$name" "$@"
}
make run
make other --lr 0.002
cp run/model.rela good.rela
cp other/model.rela other.rela

# poison TENSOR ROW COLUMNS MODEL [BYTES FROM]: good.rela, or another, with 1e30, or other bytes, in a row of a tensor
poison() {
    rm -rf plain
    "$RELA" convert --quiet "${6:-good.rela}" --to safetensors -o plain
    file=plain/model.safetensors
    header=$(od -A n -t u8 -N 8 $file | tr -d ' ')
    start=$(head -c $((header + 8)) $file | tail -c +9 | tr '{' '\n' | sed -n "/\"$1\":\$/{n;s/.*data_offsets\":\[\([0-9]*\),.*/\1/p;}")
    at=$((8 + header + start + $2 * $3 * 4))
    for column in $(seq 0 $(($3 - 1))); do
        printf "${5:-\\312\\362\\111\\161}" | dd of=$file bs=1 seek=$((at + 4 * column)) conv=notrunc status=none
    done
    "$RELA" convert --quiet --from safetensors plain -o "$4"
}
# The first words of line 7 that the lines before do not have.
word=$(awk 'NR < 7 { for (i = 1; i <= NF; i++) seen[$i] } NR == 7 { for (i = 1; i <= NF; i++) if (!($i in seen)) { print $i; exit } }' src)
"$RELA" convert --quiet good.rela --to safetensors -o words
number=$(awk -v word="$word" '$1 == word { print NR - 1; exit }' words/vocab.src)
poison embed.src "$number" 16 bad.rela
awk -v word="$word" '{ hit = 0; for (i = 1; i <= NF; i++) hit = hit || $i == word; print hit }' src >hits
[ "$(awk '$1 { print NR; exit }' hits)" -eq 7 ] || fail "the bad word '$word' is not in line 7 first"
"$RELA" convert --quiet bad.rela --to int8 -o bad8.rela
"$RELA" convert --quiet good.rela --to int8 -o good8.rela
"$RELA" shortlist --quiet good.rela --src toy/train.src --tgt toy/train.tgt -o list >/dev/null
cut -d ' ' -f 1 tgt >prefix
message='line 7: logits are not finite: numbers of the model overflow'

# both BAD GOOD OPTION...: fails at line 7 after writing the lines before; marked, the others are those of the good model
both() {
    bad=$1 good=$2
    shift 2
    n_checks=$((n_checks + 3))
    "$RELA" translate --quiet $good -i src "$@" >want
    code=0
    "$RELA" translate --quiet $bad -i src "$@" >got 2>err || code=$?
    [ $code -eq 1 ] && grep -q "^rela translate: $message; --nan mark goes on" err || fail "translate $bad $*: exit code $code: $(cat err)"
    head -n 6 want | cmp -s - got || fail "translate $bad $*: not the lines before"
    "$RELA" translate --quiet $bad -i src --nan mark "$@" >got 2>err || fail "translate $bad $* --nan mark: $(cat err)"
    paste -d '\n' hits want | awk 'NR % 2 { hit = $1; next } { if (hit) sub(/^[^|]*/, "<nan>"); print }' >marked
    sed 's/<nan> *|.*/<nan>/' got >got.text
    sed 's/<nan>|.*/<nan>/' marked | cmp -s - got.text || fail "translate $bad $* --nan mark: other lines"
    [ "$(grep -c '^<nan>' got)" -eq "$(grep -c 1 hits)" ] || fail "translate $bad $* --nan mark: $(grep -c '^<nan>' got) lines"
}
both bad.rela good.rela --beam 1
both bad.rela good.rela --beam 4
both bad.rela good.rela --beam 4 --threads 2 --batch 3
both bad.rela good.rela --beam 4 --threads 1 --batch 1 --read-bytes 1
both bad.rela good.rela --sampling full
both bad.rela good.rela --sampling top:5
both bad.rela good.rela --sampling nucleus:0.9
both bad.rela good.rela --prefix prefix
both bad.rela good.rela --unk replace
both bad.rela good.rela --shortlist list
both bad.rela good.rela --int8
both bad8.rela good8.rela
both bad8.rela good8.rela --beam 1 --shortlist list
both 'bad.rela other.rela' 'good.rela other.rela'
both 'other.rela bad.rela' 'other.rela good.rela' --beam 1
both 'other.rela bad.rela' 'other.rela good.rela' --sampling full --shortlist list
both bad.rela good.rela --scores --alignment hard
rela translate --quiet bad.rela -i src --nan mark --n-best 2 --scores | grep -c '^6 ||| <nan> ||| logp= nan ||| nan$' | grep -qx 1 || fail "n-best"

# JSON is JSON: what is not finite is null.
strict() {
    n_checks=$((n_checks + 1))
    [ -s "$1" ] || fail "$2: nothing"
    if grep -nE '(^|[^"A-Za-z])-?(nan|inf)' "$1"; then fail "$2: not JSON"; fi
}
"$RELA" translate --quiet --json bad.rela -i src --nan mark --word-scores --alignment soft >json
strict json 'translate --json'
grep -q '^{"line": 6, "rank": 0, "text": null, "logp": null, "score": null, "tokens": \[\], "alignment": ""}$' json || fail "translate --json: $(sed -n 7p json)"
"$RELA" score --quiet --json bad.rela --src src --tgt tgt --nan mark --word-scores >json
strict json 'score --json'
grep -q '^{"line": 6, "logp": null, "tokens": ' json || fail "score --json: $(sed -n 7p json)"
tail -n 1 json | grep -q "\"not_finite\": $(grep -c 1 hits), " || fail "score --json: $(tail -n 1 json)"

# Scores.
for models in 'bad.rela' 'bad.rela other.rela' 'other.rela bad.rela'; do
    n_checks=$((n_checks + 2))
    "$RELA" score --quiet $(echo "$models" | sed s/bad/good/) --src src --tgt tgt >want
    code=0
    "$RELA" score --quiet $models --src src --tgt tgt >got 2>err || code=$?
    [ $code -eq 1 ] && grep -q "^rela score: $message" err || fail "score $models: exit code $code: $(cat err)"
    head -n 6 want | cmp -s - got || fail "score $models: not the lines before"
    "$RELA" score --quiet $models --src src --tgt tgt --nan mark >got
    paste hits want | awk '{ print $1 ? "nan" : $2 }' | cmp -s - got || fail "score $models --nan mark: $(cat got)"
done

# Attention: links, measures, filters, shortlists.
attention='src: line 7: attention is not finite: numbers of the model overflow'
refuses 1 "$attention" align bad.rela --src src --tgt tgt -o links
refuses 1 'tgt: line 7: attention is not finite' align good.rela --reverse bad.rela --src tgt --tgt src -o links
refuses 1 "$attention" analyse --quiet bad.rela --src src --tgt tgt --out analysis
refuses 1 "$attention" shortlist --quiet bad.rela --src src --tgt tgt -o another
for by in logprob null uncovered; do
    refuses 1 'src: line 7: logits are not finite' filter bad.rela --src src --tgt tgt --by $by --out-src kept.src --out-tgt kept.tgt
    refuses 1 'src: line 7: logits are not finite' filter bad.rela --src src --tgt tgt --by $by --keep 0.5 --out-src kept.src --out-tgt kept.tgt
done
refuses 1 'src: a pair to calibrate with: logits are not finite' filter bad.rela --src src --tgt tgt --calibrate 20 --out-src kept.src --out-tgt kept.tgt
[ ! -e kept.src ] && [ ! -e links ] && [ ! -e another ] || fail "an output file is there"

# Every kind of tensor, in float and in int8: nothing comes out of such a model.
for tensor in enc.0.self.qkv.weight enc.0.self.out.weight enc.0.ffn.up.weight enc.0.ffn.down.weight enc.0.ffn.ln.gain \
    dec.0.self.qkv.weight dec.0.cross.q.weight dec.0.cross.kv.weight dec.0.ffn.up.weight dec.0.ffn.ln.offset output; do
    columns=16
    case $tensor in *.ln.*) columns=8 ;; esac
    poison $tensor 3 $columns huge.rela
    refuses 1 'line 1: logits are not finite' translate huge.rela -i src
    refuses 1 'line 1: logits are not finite' translate huge.rela --int8 -i src
    refuses 1 'line 1: logits are not finite' score huge.rela --src src --tgt tgt
done
# A model for alignment; 2e38 in the embedding of the word.
"$RELA" train --quiet --preset align --merges 0 --width 16 --updates 10 --train-src toy/train.src --train-tgt toy/train.tgt --out link
poison embed.src "$number" 16 link.rela '\231\166\026\177' link/model.rela
refuses 1 "$attention" align link.rela --src src --tgt tgt -o links
# Weights that training has made huge.
make wild --lr 1e6 --schedule constant --warmup 0 --max-skipped 100
refuses 1 'line 1: logits are not finite' translate wild/model.rela -i src
refuses 1 'line 1: logits are not finite' score wild/model.rela --src src --tgt tgt
finish
