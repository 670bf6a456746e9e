# SPDX-License-Identifier: MIT
# Models with several sources: train, translate, score, convert, and what is refused.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

"$RELA" corpus --quiet --size 300 --valid 20 --test 12 --tokenised --out c
for part in train valid test; do
    # Each source lacks every other word; a line of the second is empty.
    awk '{ for (i = 1; i <= NF; i++) if (i % 2) $i = "_"; print }' "c/$part.src" >"$part.a"
    awk '{ for (i = 1; i <= NF; i++) if (i % 2 == 0) $i = "_"; print NR == 3 ? "" : $0 }' "c/$part.src" >"$part.b"
    cp "c/$part.tgt" "$part.t"
done
small="--preset tiny --merges 100 --width 32 --ffn 32 --heads 2 --enc-layers 1 --dec-layers 1 --batch-tokens 400 --max-length 80
 --updates 12 --valid-every 6 --save-every 6 --keep 2 --average 2"
two="--train-src train.a --train-src-2 train.b --train-tgt train.t --valid-src valid.a --valid-src-2 valid.b --valid-tgt valid.t"

for shape in "" "--share-encoders" "--cross serial" "--share-encoders --cross serial --norm pre"; do
    name=run$(echo "$shape" | tr -d ' -')
    accepts train --quiet $small $two $shape --out "$name"
    m=$name/model.rela
    "$RELA" translate --quiet "$m" -i test.a --input-2 test.b >files
    paste test.a test.b | "$RELA" translate --quiet "$m" >columns
    cmp -s files columns || fail "$name: files and columns differ"
    [ "$(wc -l <files)" -eq 12 ] || fail "$name: $(wc -l <files) lines"
    "$RELA" translate --quiet --batch 1 --threads 1 "$m" -i test.a --input-2 test.b >alone
    cmp -s files alone || fail "$name: alone is not as in a batch"
    for to in mapped int8; do
        "$RELA" convert --quiet --to $to "$m" -o "$name.$to"
        "$RELA" translate --quiet "$name.$to" -i test.a --input-2 test.b >"out.$to"
    done
    cmp -s files out.mapped || fail "$name: mapped differs"
    [ "$(wc -l <out.int8)" -eq 12 ] || fail "$name: int8"
    "$RELA" score --quiet "$m" --src test.a --src-2 test.b --tgt test.t >scores
    paste test.a test.b | "$RELA" score --quiet "$m" --src - --tgt test.t >scores2
    cmp -s scores scores2 || fail "$name: scores of files and columns differ"
    "$RELA" translate --quiet --word-scores --n-best 2 --alignment hard --source 2 "$m" -i test.a --input-2 test.b >nbest
    [ "$(wc -l <nbest)" -eq 24 ] || fail "$name: n-best"
    n_checks=$((n_checks + 7))
done
cmp -s run/model.rela run--crossserial/model.rela 2>/dev/null && fail "parallel and serial are the same model"

# Symbols are as probable when they are scored as when they were chosen; a cut one may end within a word.
"$RELA" translate --quiet --word-scores run/model.rela -i test.a --input-2 test.b >with
sed 's/ ||| .*//' with >only
sed 's/.*words= *//' with >chosen
rela score --quiet --word-scores run/model.rela --src test.a --src-2 test.b --tgt only | sed 's/.* ||| *//' >scored
paste -d '|' chosen scored | awk -F '|' '{ n = split($1, a, " "); split($2, b, " ")
    for (i = 1; i < n; i++) { d = a[i] - b[i]; if (d > 0.001 || d < -0.001) bad++ } all += n } END { exit bad > 0 || all < 50 }' ||
    fail "scores differ: $(paste chosen scored | head -n 2)"

# Sentences without any source, and with one.
printf '\t\n\n_ dog\t\n\tthe _\n' | "$RELA" translate --quiet run/model.rela >empty
[ "$(sed -n 1p empty)$(sed -n 2p empty)" = "" ] && [ "$(wc -l <empty)" -eq 4 ] || fail "empty sources: $(cat empty)"

# A run is resumed, with the same bytes.
accepts train --quiet $(echo "$small" | sed "s/--updates 12/--updates 6/") $two --out halves
accepts train --quiet $small $two --out halves
cmp -s run/model.rela halves/model.rela || fail "resumed run differs"

# Several training files of each source.
for s in a b t; do
    head -n 150 "train.$s" >"1.$s"
    tail -n +151 "train.$s" >"2.$s"
done
accepts train --quiet $small --train-src 1.a --train-src 2.a --train-src-2 1.b --train-src-2 2.b --train-tgt 1.t --train-tgt 2.t \
    --valid-src valid.a --valid-src-2 valid.b --valid-tgt valid.t --out parts
"$RELA" translate --quiet parts/model.rela -i test.a --input-2 test.b >parts.out
cmp -s files parts.out >/dev/null 2>&1 || rela translate --quiet run/model.rela -i test.a --input-2 test.b | cmp -s - parts.out ||
    fail "text in two files gives another model"
grep -q '^train-src: \["1.a", "2.a"\]' parts/config.yml || fail "config.yml: $(grep train-src parts/config.yml)"
accepts train --quiet --config parts/config.yml --out parts

grep -q 'sources *2' <<EOF || fail "rela info: no sources"
$("$RELA" info run/model.rela)
EOF

refuses 2 "--train-src-2" train --quiet $small --train-src 1.a --train-src 2.a --train-src-2 1.b --train-tgt 1.t --train-tgt 2.t --out x
refuses 2 "1 x --train-src, but 0 x --train-tgt" train --quiet $small --train-src 1.a --out x
refuses 2 "validation text has no file of source 2" train --quiet $small --train-src 1.a --train-src-2 1.b --train-tgt 1.t \
    --valid-src valid.a --valid-tgt valid.t --out x
refuses 2 "without a gap" train --quiet $small --train-src 1.a --train-src-3 1.b --train-tgt 1.t --out x
refuses 2 "for several sources" train --quiet $small --train-src 1.a --train-tgt 1.t --share-encoders --out x
refuses 3 "its 'sources' differs" train --quiet $small --train-src train.a --train-tgt train.t --out run
refuses 2 "--input-3: the model has 2 sources" translate --quiet run/model.rela -i test.a --input-2 test.b --input-3 test.b
refuses 3 "line 1: 1 tab-separated column; the model has 2 sources" translate --quiet run/model.rela -i test.a
head -n 11 test.b >short
refuses 3 "ends before line 12" translate --quiet run/model.rela -i test.a --input-2 short
refuses 2 "no source 3; the model has 2 sources" translate --quiet --alignment hard --source 3 run/model.rela -i test.a --input-2 test.b
refuses 1 "several sources" convert --quiet --to ctranslate2 run/model.rela -o ct2
finish
