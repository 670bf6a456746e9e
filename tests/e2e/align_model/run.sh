#!/bin/sh
# SPDX-License-Identifier: MIT
# A model for alignment (train --preset align) on the built-in corpus, whose links are known: how well it
# links, that it can be stopped and resumed, and that nothing but align takes it.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

"$RELA" corpus --quiet --size 3000 --valid 100 --test 300 --out toy >/dev/null
# train SOURCE TARGET OUT UPDATES OPTION...
train() {
    from=$1 to=$2 out=$3 updates=$4
    shift 4
    "$RELA" train --quiet --preset align --tokenise --src-lang en --tgt-lang de --lowercase --merges 500 --batch-tokens 1024 --updates "$updates" \
        --valid-every 80 --save-every 80 --threads 1 --train-src toy/train.$from --train-tgt toy/train.$to \
        --valid-src toy/valid.$from --valid-tgt toy/valid.$to --out "$out" "$@"
}
train src tgt there 160
train tgt src back 160
aer() {
    "$RELA" aer toy/test.align -i links --samples 0
}

# One direction, then both; chance, or the mean of the heads of a translation model, is far above.
"$RELA" align there/model.rela --src toy/test.src --tgt toy/test.tgt >links
aer | awk '{ exit !($2 < 20) }' || fail "one direction: $(aer)"
"$RELA" align there/model.rela --reverse back/model.rela --src toy/test.src --tgt toy/test.tgt >links
aer | awk '{ exit !($2 < 14) }' || fail "both directions: $(aer)"
"$RELA" align there/model.rela --reverse back/model.rela --src toy/test.src --tgt toy/test.tgt --symmetrise mean >links
aer | awk '{ exit !($2 < 14) }' || fail "mean of both directions: $(aer)"
rela align there/model.rela --reverse back/model.rela --src toy/test.src --tgt toy/test.tgt --symmetrise mean --threads 3 |
    cmp - links || fail "threads change the links"
rela align there/model.rela --src toy/test.src --tgt toy/test.tgt --soft |
    awk '{ for (i = 1; i <= NF; i++) { split($i, a, ":"); if (a[2] < 0 || a[2] > 1) exit 1 } }' || fail "odd weights"
rela align there/model.rela --src toy/test.src --tgt toy/test.tgt --show 1 | grep -q 'attends to nothing' || fail "no picture"
rela info there/model.rela | grep -q 'task *align' || fail "no task: $("$RELA" info there/model.rela)"

# Weights that sum to one instead of rectified ones.
train src tgt softmax 160 --attention softmax
"$RELA" align softmax/model.rela --src toy/test.src --tgt toy/test.tgt >links
aer | awk '{ exit !($2 < 20) }' || fail "softmax: $(aer)"

# Stopped half way and resumed: the same bytes.
train src tgt halves 20 --schedule constant
train src tgt halves 40 --schedule constant
train src tgt whole 40 --schedule constant
cmp halves/checkpoints/000040.rela whole/checkpoints/000040.rela || fail "resuming changes the model"

# Nothing else takes it, and it takes no part of a translation model.
echo 'a line' >text
only="there/model.rela: a model for alignment can only link words"
refuses 2 "$only" translate there/model.rela
refuses 2 "$only" score there/model.rela --src text --tgt text
refuses 2 "$only" filter there/model.rela --src text --tgt text --dry-run
refuses 2 "$only" analyse there/model.rela --src text --tgt text --out analysis
refuses 2 "$only" convert there/model.rela --to ctranslate2 -o ct2
refuses 2 "$only" convert there/model.rela --to int8 -o small.rela
refuses 2 "$only" convert there/model.rela --to mapped -o small.rela
refuses 2 "$only" translate --int8 there/model.rela
text='--train-src text --train-tgt text --quiet'
refuses 2 'a model for alignment has one layer and one head' train --preset align $text --heads 2 --out bad
refuses 2 'a model for alignment ties target and output' train --preset align $text --tie all --out bad
refuses 2 'attention leaky-g cannot be used in a model for alignment' train --preset align $text --attention leaky-g --out bad
refuses 2 'no label smoothing' train --preset align $text --label-smoothing 0.1 --out bad
refuses 2 'no BLEU' train --preset align $text --valid-src text --valid-tgt text --valid-beam 4 --out bad
finish
