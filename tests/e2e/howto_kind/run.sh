# SPDX-License-Identifier: MIT
# docs/howto-attention-kind.md, followed to the letter in a copy of the sources: the two files that it shows are added,
# the program built, the checks run and models trained, all with the commands of the page.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
page=$RELA_SOURCE/docs/howto-attention-kind.md

# block LANGUAGE N: the Nth block of code of that language.
block() {
    awk -v start='```'"$1" -v n="$2" '{ line = $0; sub(/^ +/, "", line) }
        line == "```" && on { on = 0 } on { print line } line == start && ++seen == n { on = 1 }' "$page"
}

mkdir copy
(cd "$RELA_SOURCE" && tar cf - --exclude=./build --exclude=./.git --exclude=./demo-run .) | tar xf - -C copy
block c 1 >copy/src/nn/attn/kind_sigmoid.c
grep -q rela_attn_kinds_sigmoid copy/src/nn/attn/kind_sigmoid.c || fail "no code in the page"
block c 2 >copy/src/nn/attn/kind_expmean.c
grep -q rela_attn_kinds_expmean copy/src/nn/attn/kind_expmean.c || fail "no second example in the page"
cd copy
unset RELA_COVERED || true
n_checks=$((n_checks + 10))
# Without benchmarks and fuzz targets; only the programs that the page runs.
block sh 1 | sed -e 's/cmake --preset release/& -DRELA_BUILD_BENCH=OFF/' \
    -e 's/-j "$(nproc)"/-j 2 --target rela test_attn test_attention test_attention_grad test_model_grad precision_float precision_double test_decode/' >build.sh
sh -eu build.sh >build.log 2>&1 || fail "the example does not build: $(grep -m 3 error build.log)"
grep -q '^sigmoid  *sigma' build.log || fail "rela info --attention does not list it"
block sh 2 | sed "s/-j .* -R .*/-j 2 -R 'unit.attn$|unit.attention|grad.attention|grad.model|precision|unit.decode'/" >check.sh
sh -eu check.sh >check.log 2>&1 || fail "its checks fail: $(grep -m 3 -E 'Failed|ERROR' check.log)"
block sh 3 | sed 's/--updates 20/& --quiet --width 16 --ffn 16 --heads 2 --merges 50/' >train.sh
sh -eu train.sh >train.log 2>&1 || fail "it does not train: $(tail -n 1 train.log)"
grep -q 'attention_cross  *sigmoid:bias=1' train.log || fail "the model does not name it: $(grep attention_cross train.log)"
# The second example: the program is built and checked already.
block sh 4 | sed -e '/^cmake/d' -e '/^ctest/d' -e 's/--updates 20/& --quiet --width 16 --ffn 16 --heads 2 --merges 50/' >mean.sh
grep -q '^ *ctest' mean.sh && fail "the second example is checked twice"
sh -eu mean.sh >mean.log 2>&1 || fail "the second example does not train: $(tail -n 1 mean.log)"
grep -q '^expmean ' mean.log || fail "rela info --attention does not list the second example"
cmp -s corpus/train.src out && fail "it translates nothing"
[ "$(wc -l <out)" = "$(wc -l <corpus/train.src)" ] || fail "it does not translate every line"
for beam in 1 4; do
    build/release/rela translate run-mean --beam "$beam" --threads 1 --batch 1 <corpus/train.src >one
    build/release/rela translate run-mean --beam "$beam" --threads 2 --batch 7 <corpus/train.src >two
    cmp -s one two || fail "beam $beam: threads and batches change the translation"
done
head -n 4 corpus/train.src >few.src
head -n 4 corpus/train.tgt >few.tgt
RELA=build/release/rela refuses 2 'attention expmean forms no weights' analyse run-mean/model.rela --src few.src --tgt few.tgt --out report
# Nothing but the new file knows the kind.
grep -rl sigmoid:bias src cli include && fail "the number is named outside its file"
grep -rlw rela_attn_kinds_sigmoid src cli include | grep -v kind_sigmoid.c && fail "the kind is named outside its file"
grep -rl expmean src cli include | grep -v kind_expmean.c && fail "the second kind is named outside its file"
cd ..
rm -rf copy
finish
