# SPDX-License-Identifier: MIT
# Models that version 0.1 wrote still load, and give what they gave then: plain weights with three kinds of attention
# and numbers of their own, int8 weights (pre-norm, nothing tied), mapped panels, and a model for alignment.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
old=$RELA_SOURCE/tests/e2e/old_models
RELA_ISA=portable
export RELA_ISA

for model in mixed int8 mapped; do
    accepts translate --quiet --scores --input "$old/test.src" "$old/$model.rela"
    cmp -s lib.out "$old/$model.out" || fail "$model: translations differ: $(diff lib.out "$old/$model.out" | head -n 2)"
done
for model in mixed align; do
    accepts align --quiet "$old/$model.rela" --src "$old/test.src" --tgt "$old/test.tgt"
    cmp -s lib.out "$old/$model.links" || fail "$model: links differ: $(diff lib.out "$old/$model.links" | head -n 2)"
done
# Products of the library behind scores depend on the processor.
accepts score --quiet "$old/mixed.rela" --src "$old/test.src" --tgt "$old/test.tgt"
paste lib.out "$old/mixed.scores" | awk '{ d = $1 - $2; if (d * d > 1e-8 * $2 * $2) bad++ } END { exit NR != 12 || bad > 0 }' ||
    fail "mixed: scores differ"
finish
