#!/bin/sh
# SPDX-License-Identifier: MIT
# Attention of models with several sources: columns of validation, analysis by place, links of each source,
# and what refuses such models.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# The second source is the first, the third the target, each with every third line empty.
"$RELA" corpus --quiet --size 400 --valid 40 --test 40 --seed 3 --out toy >/dev/null
for part in train valid test; do
    awk 'NR % 3 == 0 { print ""; next } { print }' toy/$part.src >toy/$part.src2
    awk 'NR % 3 == 1 { print ""; next } { print }' toy/$part.tgt >toy/$part.src3
done
small='--quiet --preset tiny --tokenise --merges 200 --width 32 --ffn 48 --heads 4 --enc-layers 1 --dec-layers 2
 --batch-tokens 400 --updates 40 --valid-every 20 --save-every 20 --average 1 --valid-beam 1 --threads 1 --max-length 64'
text='--train-src toy/train.src --train-tgt toy/train.tgt --valid-src toy/valid.src --valid-tgt toy/valid.tgt'
back='--train-src toy/train.tgt --train-tgt toy/train.src --valid-src toy/valid.tgt --valid-tgt toy/valid.src'
second='--train-src-2 toy/train.src2 --valid-src-2 toy/valid.src2'
third='--train-src-3 toy/train.src3 --valid-src-3 toy/valid.src3'
"$RELA" train $small $back --out one
"$RELA" train $small $text $second --out two
"$RELA" train $small $text $second $third --cross serial --out three

# column RUN NAME: of the last row of valid.tsv
column() {
    awk -F '\t' -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        END { print at ? $at : "none" }' "$1/valid.tsv"
}
fixed='update loss nll perplexity bleu best'
heads() {
    head -n 1 "$1/valid.tsv" | tr '\t' ' '
}
[ "$(heads one)" = "$fixed sparsity_enc sparsity_dec sparsity_cross null_cross" ] || fail "one source: $(heads one)"
[ "$(heads two)" = "$fixed sparsity_enc1 sparsity_enc2 sparsity_dec sparsity_cross1 sparsity_cross2 null_cross1 null_cross2" ] ||
    fail "two sources: $(heads two)"
[ "$(awk -F '\t' 'NF != 16' three/valid.tsv | wc -l)" -eq 0 ] || fail "three sources: $(cat three/valid.tsv)"
# A third of the lines has no second source, so at least so many queries are null.
[ "$(column two null_cross2 | awk '{ print ($1 >= 0.25 && $1 < 1) }')" -eq 1 ] || fail "null_cross2: $(column two null_cross2)"
grep -q 'cross attention [0-9]*/[0-9]* % zeros, [0-9]*/[0-9]* % null' two/train.log || fail "log: $(grep validation two/train.log)"
grep -q '<svg' two/figures/sparsity.svg || fail "no figure of zeros"
finish
