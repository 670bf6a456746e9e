# SPDX-License-Identifier: MIT
# Kinds of attention that form no rows, beside others: threads change no byte of the model, nor does a run that ends and
# goes on, also where random features are sampled anew in between; translations do not depend on their company.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

rela corpus --size 300 --out corpus >/dev/null
train() {
    accepts train --preset demo --quiet --width 16 --ffn 16 --heads 2 --merges 50 --average 1 \
        --train-src corpus/train.src --train-tgt corpus/train.tgt \
        --attention-enc 1xlinear+performer:redraw=3 --attention-dec performer:redraw=3 \
        --attention-cross 1xsoftmax-zero+performer-relu:redraw=2 "$@"
}
train --updates 10 --threads 1 --out one
train --updates 10 --threads 2 --out two
train --updates 4 --threads 2 --out parts
train --updates 10 --threads 1 --out parts
n_checks=$((n_checks + 4))
cmp -s one/model.rela two/model.rela || fail "threads change the model"
cmp -s one/model.rela parts/model.rela || fail "a resumed run has another model"
for beam in 1 4; do
    rela translate one/model.rela --beam "$beam" --batch 1 --threads 1 <corpus/train.src >alone
    rela translate one/model.rela --beam "$beam" --batch 9 --threads 2 <corpus/train.src >together
    cmp -s alone together || fail "beam $beam: batches or threads change translations"
done

# Attention to the source is shown where it can be formed, and dropout of weights is not applied in silence.
accepts align one/model.rela corpus/train.src corpus/train.tgt
train --updates 2 --dropout-attention 0.1 --log log --out dropped
grep -q 'attention linear forms no weights to drop' log || fail "dropout is ignored in silence: $(head -n 5 log)"
finish
