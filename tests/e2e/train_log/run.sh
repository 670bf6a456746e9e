# SPDX-License-Identifier: MIT
# What the log of training says to people: kinds of attention, counts with separators, epochs from 1 (an update
# is an epoch here), one checkpoint.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --size 120 --valid 4 --test 1 --seed 5 --out c >/dev/null
train="train --preset demo --ffn 16 --width 16 --heads 2 --enc-layers 1 --dec-layers 1 --threads 1 --merges 0 --updates 2 --report-every 1
    --train-src c/train.src --train-tgt c/train.tgt --valid-src c/valid.src --valid-tgt c/valid.tgt --valid-every 2 --valid-beam 1 --average 1"
says() { # PATTERN
    n_checks=$((n_checks + 1))
    grep -Eq "$1" err || fail "expected '$1' in: $(cat err)"
}
"$RELA" $train --out same 2>err
says '^rela: [0-9]+,[0-9]{3} parameters; attention rela-g; [0-9.]+ MB of memory for training$'
says '^rela: training text: 120 pairs kept of 120, [1-9],[0-9]{3} \+ [1-9],[0-9]{3} tokens$'
says '^rela: update 1, epoch 1: '
says '^rela: update 2, epoch 2: '
says 'cross attention [0-9]+\.[0-9] % zeros, [0-9]+\.[0-9] % null'
says '^rela: last checkpoint: perplexity '
says '^rela: the model is same/model.rela: (last checkpoint|best checkpoint, update 2), perplexity .* on the validation text$'
grep -q '"update": 1, "epoch": 1,' same/train.jsonl || fail "epochs that are complete: $(head -n 1 same/train.jsonl)"
"$RELA" $train --attention-cross topk:k=4 --out mixed 2>err
says 'parameters; attention rela-g \(encoder\), rela-g \(decoder\), topk:k=4 \(cross\); '
finish
