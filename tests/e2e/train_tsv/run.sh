# SPDX-License-Identifier: MIT
# Training text in one file of columns gives what a file for each side gives: several files, several sources, compressed.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --size 120 --valid 10 --test 6 --out c >/dev/null
small="--quiet --preset demo --merges 30 --width 16 --ffn 16 --heads 2 --enc-layers 1 --dec-layers 1 --updates 4 --batch-tokens 300 --valid-beam 0 --valid-every 2"
for side in src tgt; do
    head -n 70 c/train.$side >a.$side
    tail -n 50 c/train.$side >b.$side
done
paste a.src a.tgt >a.tsv
paste b.src b.tgt | gzip >b.tsv.gz
paste c/valid.src c/valid.tgt >valid.tsv

# scores MODEL SOURCE...
scores() { "$RELA" score --quiet "$@" --tgt c/test.tgt; }
accepts train $small --train-src a.src --train-tgt a.tgt --train-src b.src --train-tgt b.tgt --valid-src c/valid.src --valid-tgt c/valid.tgt --out files
accepts train $small --train-tsv a.tsv --train-tsv b.tsv.gz --valid-tsv valid.tsv --out columns
scores files/model.rela --src c/test.src >want
scores columns/model.rela --src c/test.src >got
cmp -s want got || fail "one source: other scores"
cut -f 1,2,3 files/valid.tsv >want
cut -f 1,2,3 columns/valid.tsv >got
cmp -s want got || fail "validation differs"

# It is resumed, and the configuration it wrote can be passed back.
accepts train $small --train-tsv a.tsv --train-tsv b.tsv.gz --valid-tsv valid.tsv --out columns
accepts train --quiet --config columns/config.yml --out columns

paste c/train.src c/train.src c/train.tgt >two.tsv
paste c/valid.src c/valid.src c/valid.tgt >valid2.tsv
accepts train $small --train-src c/train.src --train-src-2 c/train.src --train-tgt c/train.tgt --valid-src c/valid.src \
    --valid-src-2 c/valid.src --valid-tgt c/valid.tgt --out files2
accepts train $small --train-tsv two.tsv --valid-tsv valid2.tsv --out columns2
scores files2/model.rela --src c/test.src --src-2 c/test.src >want
scores columns2/model.rela --src c/test.src --src-2 c/test.src >got
cmp -s want got || fail "two sources: other scores"

printf 'a b\tc\n\nd\te\tf\n' >uneven.tsv
refuses 3 "uneven.tsv: line 3: 3 columns; expected 2" train $small --train-tsv uneven.tsv --out x
refuses 3 "c/train.src: line 1: 1 column; expected 2 to 5" train $small --train-tsv c/train.src --out x
refuses 3 "valid.tsv: line 1: 2 columns; expected 3" train $small --train-tsv two.tsv --valid-tsv valid.tsv --out x
refuses 1 "missing.tsv: No such file or directory" train $small --train-tsv missing.tsv --out x
refuses 2 "--train-tsv has all sides: leave --train-src and --train-tgt" train $small --train-tsv a.tsv --train-src a.src --train-tgt a.tgt --out x
refuses 2 "--valid-tsv has all sides: leave --valid-src and --valid-tgt" train $small --train-tsv a.tsv --valid-tsv valid.tsv --valid-src a.src --out x
refuses 2 "no directory for the run: option --out" train $small --train-tsv a.tsv
finish
