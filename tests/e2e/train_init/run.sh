#!/bin/sh
# SPDX-License-Identifier: MIT
# --init MODEL takes configuration, text preparation, languages and vocabularies from the model, so one option is enough to
# fine-tune; a resumed run does not need the model. What contradicts it is refused, but for another kind of attention
# with the same parameters.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --level easy --size 200 --valid 20 --test 1 --seed 5 --out c >/dev/null
text='--train-src c/train.src --train-tgt c/train.tgt'
accepts train --quiet --preset demo $text --width 24 --ffn 40 --heads 2 --enc-layers 1 --dec-layers 3 --tokenise --lowercase --merges 40 --norm pre \
    --tie output --src-lang fr --tgt-lang en --attention softmax --norm-per-head --batch-tokens 300 --updates 4 --out first
cp first/model.rela model.rela

# same KEY...: the settings are those of the model
same() {
    for key in "$@"; do
        n_checks=$((n_checks + 1))
        [ "$(grep "^$key:" first/config.yml)" = "$(grep "^$key:" tuned/config.yml)" ] ||
            fail "$key: $(grep "^$key:" first/config.yml), fine-tuned $(grep "^$key:" tuned/config.yml)"
    done
}
accepts train --quiet --init model.rela $text --updates 2 --out tuned
same preset width ffn heads enc-layers dec-layers max-length norm tie norm-per-head attention src-lang tgt-lang tokenise lowercase normalise \
    ln-epsilon attn-epsilon
grep -qx 'lr: 0.0006' tuned/config.yml && grep -qx 'warmup: 100' tuned/config.yml || fail "recipe: $(grep '^lr:\|warmup' tuned/config.yml)"
"$RELA" info tuned/model.rela >info
grep -q 'source language *fr' info || fail "card: $(cat info)"

# As if it had not been stopped, without the model.
accepts train --quiet --init model.rela $text --updates 3 --out whole
mv model.rela away
accepts train --quiet --init model.rela $text --updates 3 --out tuned
cmp whole/checkpoints/000003.rela tuned/checkpoints/000003.rela || fail "resumed: another checkpoint"
mv away model.rela

# Attention with the same parameters may change; other contradictions are refused.
"$RELA" train --init model.rela $text --attention sparsemax --updates 1 --out sparse >out 2>err || fail "sparsemax: $(cat err)"
grep -q 'attention changes from softmax to sparsemax' err || fail "not said: $(cat err)"
accepts train --quiet --init model.rela $text --attention-cross topk:k=4 --updates 1 --out topk
grep -qx 'attention-cross: "topk:k=4"' topk/config.yml || fail "topk: $(grep attention topk/config.yml)"
refuses 2 'model.rela has attention softmax; its weights do not fit rela-g, which has other parameters' train --quiet --init model.rela $text --attention rela-g --out x1
refuses 2 'model.rela was made with another width than the options say' train --quiet --init model.rela $text --width 32 --out x2
refuses 2 'model.rela was made with another number of decoder layers' train --quiet --init model.rela $text --dec-layers 2 --out x3
refuses 2 'model.rela does not normalise its text, so its training cannot' train --quiet --init model.rela $text --normalise --out x4
refuses 2 'model.rela is a model for fr, not de, as source of its text' train --quiet --init model.rela $text --src-lang de --out x5
refuses 1 'nowhere.rela: No such file or directory' train --quiet --init nowhere.rela $text --out x6
refuses 3 'c/train.src: not a model file' train --quiet --init c/train.src $text --out x7
finish
