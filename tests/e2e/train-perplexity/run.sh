#!/bin/sh
# SPDX-License-Identifier: MIT
# The figures of a validation are those of `rela score` on the same text, for every preset and both
# means of the loss, with and without label smoothing, BPE dropout and R-Drop.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --size 150 --valid 40 --test 1 --out toy >/dev/null
tiny='--quiet --threads 1 --width 16 --merges 100 --updates 2 --report-every 1 --valid-every 1 --save-every 1 --keep 2 --average 2
    --train-src toy/train.src --train-tgt toy/train.tgt'
small="$tiny --batch-tokens 500 --valid-src toy/valid.src --valid-tgt toy/valid.tgt"
layers='--ffn 16 --heads 2 --enc-layers 1 --dec-layers 1 --valid-beam 0'

# near WHAT A B: equal but for 1e-4 of their size.
near() {
    n_checks=$((n_checks + 1))
    awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(a > 0 && b > 0 && (d < 0 ? -d : d) <= 1e-4 * b) }' ||
        fail "$1: $2, expected $3"
}
# perplexity MODEL: by rela score
perplexity() {
    rela score --json --quiet "$1" --src toy/valid.src --tgt toy/valid.tgt | sed -n 's/.*"perplexity": \([^}]*\)}/\1/p'
}
# figure RUN UPDATE COLUMN: of valid.tsv
figure() {
    awk -F '\t' -v update="$2" -v column="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        $1 == update { print $at }' "$1/valid.tsv"
}
# check RUN
check() {
    for update in 1 2; do
        near "$1, update $update" "$(figure "$1" $update perplexity)" "$(perplexity "$1/checkpoints/00000$update.rela")"
    done
    best=$(awk -F '\t' '$6 == 1 { last = $1 } END { print last }' "$1/valid.tsv")
    near "$1, best" "$(figure "$1" "$best" perplexity)" "$(perplexity "$1/best.rela")"
    near "$1, model" "$(sed -n 's/^[^ ]* the model is .*perplexity \([0-9.]*\).*/\1/p' "$1/train.log")" "$(perplexity "$1/model.rela")"
}

for mean in token sentence; do
    for preset in paper base tiny demo; do
        "$RELA" train $small $layers --preset $preset --loss-mean $mean --out $preset-$mean
        check $preset-$mean
    done
    # rela score takes no model for alignment; without a rate the mean of the loss changes nothing.
    "$RELA" train $small --preset align --lr 0 --lr-least 0 --lr-start 0 --loss-mean $mean --out align-$mean
done
near 'align, update 2' "$(figure align-sentence 2 perplexity)" "$(figure align-token 2 perplexity)"

# What training minimises and what it reports. Without a rate and without dropout every update sees
# the same weights: batches of all sentences give the figures of the validation of that text.
same="$tiny $layers --preset demo --lr 0 --lr-start 0 --dropout 0 --batch-tokens 1000000 --valid-src toy/train.src --valid-tgt toy/train.tgt"
record() { # RUN KEY
    sed -n "s/^{\"update\": 2,.*\"$2\": \([^,]*\),.*/\1/p" "$1/train.jsonl"
}
for smooth in 0 0.1; do
    for mean in token sentence; do
        "$RELA" train $same --label-smoothing $smooth --loss-mean $mean --out same-$mean-$smooth
        for key in loss nll; do
            near "same-$mean-$smooth, training $key" "$(record same-$mean-$smooth $key)" "$(figure same-$mean-$smooth 2 $key)"
        done
    done
    near "both means, smoothing $smooth: nll" "$(figure same-sentence-$smooth 2 nll)" "$(figure same-token-$smooth 2 nll)"
done
near 'no smoothing, mean of tokens: loss' "$(figure same-token-0 2 loss)" "$(figure same-token-0 2 nll)"
# The mean over sentences of the means over their tokens, from the scores of each pair.
rela score --quiet --normalize same-sentence-0/model.rela --src toy/train.src --tgt toy/train.tgt |
    awk '{ sum -= $1 } END { printf "%.6f\n", sum / NR }' >mean
near 'no smoothing, mean of sentences: loss' "$(figure same-sentence-0 2 loss)" "$(cat mean)"

# A text in other subwords in each epoch, and two draws of dropout: validation knows neither.
for mean in token sentence; do
    "$RELA" train $small $layers --preset demo --loss-mean $mean --bpe-dropout 0.2 --r-drop 3 --out drops-$mean
    check drops-$mean
done
finish
