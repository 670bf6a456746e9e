#!/bin/sh
# SPDX-License-Identifier: MIT
# sources.sh RELA DIR [UPDATES]: what a second source is worth, on the built-in corpus.
#   halves: each source lacks every other word, and together they have all; the model with both against
#           the models with one.
#   noise:  the second source is some other sentence; null rates of the attention to each source.
# Prints BLEU on the test part and null rates; the figures are in DIR/report.
set -eu
rela=$1
dir=$2
updates=${3:-1500}
mkdir -p "$dir"
[ -f "$dir/corpus/test.src" ] || "$rela" corpus --quiet --tokenised --out "$dir/corpus"

for part in train valid test; do
    for half in 0 1; do
        awk -v half=$half '{ for (i = 1; i <= NF; i++) if ((i + NR) % 2 != half) $i = "_"; print }' \
            "$dir/corpus/$part.src" >"$dir/$part.half$half"
    done
    # Sentence n + 7 instead of n: text of the same kind that says nothing about it.
    { tail -n +8 "$dir/corpus/$part.src" && head -n 7 "$dir/corpus/$part.src"; } >"$dir/$part.noise"
    cp "$dir/corpus/$part.src" "$dir/$part.full"
done

# train NAME SOURCE [SOURCE2]
train() {
    "$rela" train --preset demo --attention rela-g --updates "$updates" --cool-down $((updates / 3)) --valid-every "$updates" \
        --train-src "$dir/train.$2" --train-tgt "$dir/corpus/train.tgt" --valid-src "$dir/valid.$2" --valid-tgt "$dir/corpus/valid.tgt" \
        ${3:+--train-src-2 "$dir/train.$3" --valid-src-2 "$dir/valid.$3"} --out "$dir/$1" 2>"$dir/$1.log"
    printf '%s\t%s\n' "$1" "$("$rela" translate --quiet "$dir/$1/model.rela" -i "$dir/test.$2" ${3:+--input-2 "$dir/test.$3"} |
        "$rela" bleu --quiet --tokenize none "$dir/corpus/test.tgt" | sed 's/[^=]* = \([0-9.]*\).*/\1/;q')"
}
printf 'model\tBLEU\n'
train half0 half0
train half1 half1
train both half0 half1
train noise full noise
"$rela" analyse "$dir/noise/model.rela" --names noise --src "$dir/test.full" --src-2 "$dir/test.noise" --tgt "$dir/corpus/test.tgt" \
    --out "$dir/report"
