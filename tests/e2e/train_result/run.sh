#!/bin/sh
# SPDX-License-Identifier: MIT
# The model that a run leaves is never worse on its validation text than the last checkpoint, however far back
# --average would reach; without validation text lines of the training text are held out. The last line says which
# model it is and how good. The same bytes with any number of threads, and after a stop.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --level easy --size 1200 --valid 40 --test 1 --seed 5 --out c >/dev/null
text='--train-src c/train.src --train-tgt c/train.tgt'
valid='--valid-src c/valid.src --valid-tgt c/valid.tgt'
for line in 'preset demo' 'tie output' 'merges 0' 'width 16' 'ffn 16' 'heads 2' 'enc-layers 1' 'dec-layers 1' 'batch-tokens 400' \
    'warmup 20' 'lr 0.01' 'updates 60' 'report-every 30' 'save-every 10' 'valid-every 30' 'average 6'; do
    echo "${line% *}: ${line#* }"
done >small.yml
small='train --config small.yml'

# perplexity MODEL: by rela score on the validation text
perplexity() {
    rela score --json --quiet "$1" --src c/valid.src --tgt c/valid.tgt | sed -n 's/.*"perplexity": \([^}]*\)}/\1/p'
}
# trains OUT OPTION...: the log is in OUT/train.log
trains() {
    out=$1
    shift
    n_checks=$((n_checks + 1))
    "$RELA" $small $text --out "$out" "$@" >out 2>err || fail "train $*: $(cat err)"
}
# says RUN PATTERN
says() {
    n_checks=$((n_checks + 1))
    grep -Eq "$2" "$1/train.log" || fail "expected '$2' in: $(cat "$1/train.log")"
}

# The loss falls so fast that a mean of all checkpoints is far worse than the last one.
trains early --valid-beam 1 $valid
last=$(perplexity early/checkpoints/000060.rela) model=$(perplexity early/model.rela)
awk -v last="$last" -v model="$model" 'BEGIN { exit !(model > 0 && model <= last * 1.0001) }' ||
    fail "the model has perplexity $model, the last checkpoint $last"
says early ' last checkpoint: perplexity [0-9.]+, BLEU [0-9.]+$'
tail -n 1 early/train.log | grep -Eq ' the model is early/model.rela: (last checkpoint|mean of the last [2-6] checkpoints), perplexity [0-9.]+, BLEU [0-9.]+ on the validation text$' ||
    fail "last line: $(tail -n 1 early/train.log)"
figure=$(tail -n 1 early/train.log | sed 's/.*perplexity \([0-9.]*\).*/\1/')
awk -v a="$figure" -v b="$model" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) < 1e-3 * b) }' || fail "said $figure, is $model"

# When the loss hardly moves any more, the mean is better and is taken.
trains late --schedule constant --lr 0.1 --batch-tokens 100 --save-every 2 --valid-beam 0 $valid
says late ' the model is late/model.rela: mean of the last [2-6] checkpoints, perplexity '
last=$(perplexity late/checkpoints/000060.rela) model=$(perplexity late/model.rela)
awk -v last="$last" -v model="$model" 'BEGIN { exit !(model < last) }' || fail "the mean has $model, the last checkpoint $last"

# The rate is far too large after the best validation.
trains worse --average 3 --schedule constant --updates 60 --lr-start 0.01 --lr 9 --warmup 70 --valid-every 10 --valid-beam 0 $valid
says worse ' the model is worse/model.rela: best checkpoint, update [1-5]0, perplexity '
[ "$(perplexity worse/model.rela)" = "$(perplexity worse/best.rela)" ] || fail "not the best checkpoint"

# Held-out lines: said, the same for any number of threads, and after stops.
for out in one two; do
    threads=1
    [ $out = one ] || threads=2
    trains $out --bpe-dropout 0.1 --merges 40 --threads $threads
    says $out ' no validation text: 24 pairs of the training text held out for it'
    says $out ' the model is .*, perplexity [0-9.]+ on the held-out text$'
done
cmp one/model.rela two/model.rela || fail "one and two threads: other models"
"$RELA" $small $text --bpe-dropout 0.1 --merges 40 --quiet --updates 40 --out stopped
"$RELA" $small $text --bpe-dropout 0.1 --merges 40 --quiet --out stopped
cmp one/checkpoints/000060.rela stopped/checkpoints/000060.rela || fail "stopped: another last checkpoint"
cmp one/model.rela stopped/model.rela || fail "stopped: another model"
grep -q '^hold-out: 500$' one/config.yml || fail "config.yml: $(grep hold-out one/config.yml)"
# With a text for it the run goes on without these lines, and its best validation counts anew.
"$RELA" $small $text --bpe-dropout 0.1 --merges 40 --quiet $valid --valid-beam 0 --updates 61 --valid-every 61 --out stopped
says stopped ' validation at update 61: .*, best so far$'
says stopped ' on the validation text$'

# None of 1,200 lines if that is wanted, or if there are too few.
trains off --hold-out 0
! grep -q 'held out' off/train.log || fail "held out in spite of --hold-out 0"
says off ' the model is off/model.rela: '
tail -n 999 c/train.src >few.src && tail -n 999 c/train.tgt >few.tgt
text='--train-src few.src --train-tgt few.tgt'
trains few --updates 2
! grep -q 'held out' few/train.log || fail "held out of 999 lines"
refuses 2 'patience needs validation text' $small $text --patience 3 --quiet --out impatient
finish
