#!/bin/sh
# SPDX-License-Identifier: MIT
# rela filter: every rule, scores of a model that learned to copy, order, tables, bad input.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# Rules alone.
{
    echo 'Two boats and a bridge.'
    echo 'The pump works.'
    echo 'The pump works.'
    echo ''
    echo 'Nobody saw a goose on that long day.'
    echo 'A copy of it'
    printf 'bad \377 bytes here\n'
    echo 'Another script of letters'
    echo 'The pump works.'
    echo 'One two three four five six seven eight nine ten eleven'
    printf 'The last one has no end'
} >src
{
    echo 'Zwei Boote und eine Brücke.'
    echo 'Die Pumpe läuft.'
    echo 'Die Pumpe läuft.'
    echo 'Nichts'
    echo 'Niemand'
    echo 'A copy of it'
    echo 'schlechte Bytes hier drin'
    echo 'Другая письменность букв'
    echo 'Die Pumpe geht.'
    echo 'eins zwei drei vier fünf sechs sieben acht neun zehn elf'
    echo 'Der letzte hat kein Ende'
} >tgt
"$RELA" filter --src src --tgt tgt --out-src a --out-tgt b --max-words 10 --tgt-script latin --scores s >table
printf 'Two boats and a bridge.\nThe pump works.\nThe pump works.\nThe last one has no end\n' | cmp - a
printf 'Zwei Boote und eine Brücke.\nDie Pumpe läuft.\nDie Pumpe geht.\nDer letzte hat kein Ende\n' | cmp - b
cut -f 1,2 s | tr '\t\n' '  ' >reasons
[ "$(cat reasons)" = "line reason 0 kept 1 kept 2 duplicate 3 empty 4 ratio 5 copy 6 encoding 7 script 8 kept 9 long 10 kept " ] ||
    fail "reasons: $(cat reasons)"
awk '$1 == "read" { read = $2; next } { sum += $2 } END { exit read != 11 || sum != 11 }' table || fail "table: $(cat table)"
"$RELA" filter --src src --tgt tgt --out-src c --out-tgt d --max-words 10 --tgt-script latin --duplicates source --threads 3 --json >json
grep -q '"read": 11, "kept": 3, .*"duplicate": 2' json || fail "json: $(cat json)"
"$RELA" filter --src src --tgt tgt --out-src c --out-tgt d --dry-run >/dev/null
[ "$(wc -l <c)" -eq 3 ] || fail "a dry run writes"
gzip -kf src
"$RELA" filter --src src.gz --tgt - --out-src c --out-tgt d --max-words 10 --tgt-script latin <tgt >/dev/null
cmp a c && cmp b d || fail "gzip and standard input"

# A very long line is dropped like others.
{ echo 'Zwei Boote'; head -c 20000000 /dev/zero | tr '\0' x; echo; echo 'Drei Boote'; } >huge.tgt
printf 'Two boats\nxxx\nThree boats\n' >huge.src
"$RELA" filter --src huge.src --tgt huge.tgt --out-src c --out-tgt d --threads 1 >table
grep -q '^long  *1 ' table && [ "$(cat d)" = "$(printf 'Zwei Boote\nDrei Boote')" ] || fail "a long line: $(cat table)"

# A model that copies; every fourth pair is no copy, every eighth has words added.
awk 'BEGIN {
    srand(4)
    for (i = 0; i < 3000; i++) {
        n = 4 + int(rand() * 5)
        line = ""; other = ""
        for (j = 0; j < n; j++) {
            line = line (j ? " " : "") "w" int(rand() * 20)
            other = other (j ? " " : "") "w" int(rand() * 20)
        }
        print line > "train"
        if (i >= 400) continue
        print line > "noisy.src"
        print i % 4 == 1 ? other : i % 8 == 2 ? line " " other : line > "noisy.tgt"
        print i % 4 == 1 || i % 8 == 2 ? "bad" : "good" > "noisy.label"
    }
}'
"$RELA" train --quiet --preset demo --attention rela-g --merges 0 --width 64 --ffn 128 --heads 4 \
    --enc-layers 1 --dec-layers 1 --dropout 0 --lr 3e-3 --warmup 100 --updates 300 --batch-tokens 512 \
    --save-every 300 --average 1 --train-src train --train-tgt train --out run --threads 2
model=run/model.rela
loose='--keep-copies --duplicates keep --max-ratio 0'
"$RELA" filter $model --src noisy.src --tgt noisy.tgt --out-src a --out-tgt b --scores s $loose \
    --trusted-src train --trusted-tgt train --calibrate 500 2>note >table
grep -q 'combined score made from 500 pairs: AUC' note || fail "note: $(cat note)"
tail -n +2 s | paste - noisy.label >judged
awk -F '\t' '($2 == "kept") != ($7 == "good") { wrong++ } END { print wrong + 0; exit wrong > 40 }' judged >wrong ||
    fail "$(cat wrong) of 400 pairs are judged wrongly"
awk -F '\t' '$2 == "kept"' judged | wc -l | tr -d ' ' >kept
[ "$(wc -l <a)" = "$(cat kept)" ] && [ "$(wc -l <b)" = "$(cat kept)" ] || fail "what is kept is not what is written"
for by in null uncovered logprob combined; do
    "$RELA" filter $model --src noisy.src --tgt noisy.tgt --out-src a --out-tgt b --by $by --keep 0.5 $loose -q --threads 1 --json >one
    "$RELA" filter $model --src noisy.src --tgt noisy.tgt --out-src c --out-tgt d --by $by --keep 0.5 $loose -q --threads 3 --json >two
    cmp one two && cmp a c && cmp b d || fail "$by: threads change what is kept"
    [ "$(wc -l <a)" -ge 200 ] || fail "$by: $(wc -l <a) lines are less than half"
done
"$RELA" filter $model --src noisy.src --tgt noisy.tgt --dry-run --by null --heads 1:2,1:4 --min-score 1 $loose >table
rela filter $model --src noisy.src --tgt noisy.tgt --dry-run --min-score 0 $loose -q | grep -q '^kept  *400 ' || fail "a least score of 0"
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "w1 "; print "" }' >long
rela filter $model --src long --tgt long --dry-run --by null $loose --max-words 9999 | grep -q '^tokens  *1 ' || fail "too long for the model"

# Clean text passes, also where a third of its words are translated freely; 1.8 % were dropped before.
awk 'BEGIN {
    srand(4)
    for (i = 0; i < 3000; i++) {
        n = 4 + int(rand() * 5)
        line = ""; free = ""
        for (j = 0; j < n; j++) {
            w = int(rand() * 20)
            line = line (j ? " " : "") "w" w
            free = free (j ? " " : "") "w" (rand() < 0.35 ? int(rand() * 20) : w)
        }
        print line > "clean.src"
        print free > "clean.tgt"
    }
}'
"$RELA" train --quiet --preset demo --attention rela-g --merges 0 --width 64 --ffn 128 --heads 4 --enc-layers 1 --dec-layers 1 \
    --dropout 0 --lr 3e-3 --warmup 100 --updates 300 --batch-tokens 512 --save-every 300 --average 1 --train-src clean.src \
    --train-tgt clean.tgt --out clean-run --threads 2
"$RELA" filter clean-run/model.rela clean.src clean.tgt --dry-run $loose 2>note >table
awk '$1 == "kept" { exit !($2 >= 2970) }' table || fail "clean text is dropped: $(cat table)"
grep -q 'scores below 0[.][0-9]* are dropped' note || fail "the threshold is not named: $(cat note)"

: >empty
accepts filter --src empty --tgt empty --dry-run
refuses 3 "empty: 0 pairs left by the rules" filter $model --src empty --tgt empty --dry-run
refuses 3 "noisy.src has 400 lines but train has 3000" filter --src noisy.src --tgt train --dry-run
refuses 2 "--out-src and --out-tgt are needed" filter --src src --tgt tgt --out-src a
refuses 2 "no text: name the two files" filter --src src --dry-run
refuses 2 "--keep and --heads need a model" filter --src src --tgt tgt --dry-run --keep 0.5
refuses 2 "--keep and --min-score" filter $model --src src --tgt tgt --dry-run --keep 0.5 --min-score 0.1
refuses 2 "unknown script 'runes'" filter --src src --tgt tgt --dry-run --src-script runes
refuses 2 "no layer 2; the model has 1" filter $model --src src --tgt tgt --dry-run --heads 2:1
refuses 2 "no head 5; the model has 4" filter $model --src src --tgt tgt --dry-run --heads 1:1,1:5
for heads in 0:1 1 1:1: x 1.5:1 99999:1; do
    refuses 2 "--heads: '$heads' is no list of heads" filter $model --src src --tgt tgt --dry-run --heads $heads
done
refuses 2 "so it cannot be standard input" filter $model --src - --tgt tgt --dry-run
refuses 2 "must be given together" filter $model --src src --tgt tgt --dry-run --trusted-src train
refuses 1 "no/such/a" filter --src src --tgt tgt --out-src no/such/a --out-tgt b
finish
