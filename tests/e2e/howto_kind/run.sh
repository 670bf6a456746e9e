# SPDX-License-Identifier: MIT
# docs/howto-attention-kind.md, followed to the letter in a copy of the sources: the file that it shows is added, the
# program built, the checks run and a model trained, all with the commands of the page.
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
sed -n '/^```c$/,/^```$/p' "$page" | grep -v '^```' >copy/src/nn/attn/kind_sigmoid.c
grep -q rela_attn_kinds_sigmoid copy/src/nn/attn/kind_sigmoid.c || fail "no code in the page"
cd copy
unset RELA_COVERED || true
n_checks=$((n_checks + 4))
# Without benchmarks and fuzz targets; only the programs that the page runs.
block sh 1 | sed -e 's/cmake --preset release/& -DRELA_BUILD_BENCH=OFF/' \
    -e 's/-j "$(nproc)"/-j 2 --target rela test_attn test_attention_grad test_model_grad precision_float precision_double test_decode/' >build.sh
sh -eu build.sh >build.log 2>&1 || fail "the example does not build: $(grep -m 3 error build.log)"
grep -q '^sigmoid  *sigma' build.log || fail "rela info --attention does not list it"
block sh 2 | sed "s/'attn|grad|precision|decode'/'unit.attn$|grad.attention|grad.model|precision|unit.decode'/" >check.sh
sh -eu check.sh >check.log 2>&1 || fail "its checks fail: $(grep -m 3 -E 'Failed|ERROR' check.log)"
block sh 3 | sed 's/--updates 20/& --quiet --width 16 --ffn 16 --heads 2 --merges 50/' >train.sh
sh -eu train.sh >train.log 2>&1 || fail "it does not train: $(tail -n 1 train.log)"
grep -q 'attention_cross  *sigmoid:bias=1' train.log || fail "the model does not name it: $(grep attention_cross train.log)"
# Nothing but the new file knows the kind.
grep -rl sigmoid:bias src cli include && fail "the number is named outside its file"
grep -rlw rela_attn_kinds_sigmoid src cli include | grep -v kind_sigmoid.c && fail "the kind is named outside its file"
cd ..
rm -rf copy
finish
