#!/bin/sh
# SPDX-License-Identifier: MIT
# model.sh RELA CORPUS OUT UPDATES [OPTION...]: the recipe of the demo model, for text of `rela corpus --level easy`. Sizes and
# rates were chosen by BLEU on the validation set. Further options go to `rela train`.
set -eu
rela=$1 corpus=$2 out=$3 updates=$4
shift 4
# The card of the model has the day; without it the same text gives the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date +%s)}
export SOURCE_DATE_EPOCH
"$rela" train --preset demo --tokenise --src-lang en --tgt-lang de --merges 0 --norm pre --batch-tokens 1024 \
    --updates "$updates" --lr 4e-3 --warmup 150 --cool-down $((updates * 3 / 10)) --report-every 100 --valid-every $(((updates + 4) / 5)) \
    --licence MIT --description 'simplified English to German, from the grammar of rela corpus --level easy' \
    --train-src "$corpus/train.src" --train-tgt "$corpus/train.tgt" \
    --valid-src "$corpus/valid.src" --valid-tgt "$corpus/valid.tgt" --out "$out" "$@"
