#!/bin/sh
# SPDX-License-Identifier: MIT
# Training with text, settings and directories that are bad or odd: a row each, with exit code and
# message, or the run must succeed. What a failed run leaves behind must be usable.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --size 60 --seed 5 --out corpus >/dev/null
mv corpus/train.src s
mv corpus/train.tgt t
head -n 1 s >s1
head -n 1 t >t1
: >empty
text='--train-src s --train-tgt t'
basis='--preset demo --ffn 16 --heads 2 --enc-layers 1 --dec-layers 1 --threads 1 --warmup 0 --quiet'
small="$basis --width 16 --merges 0"

bad() { # CODE MESSAGE OUT OPTION...
    want_code=$1 want_message=$2 out=$3
    shift 3
    refuses "$want_code" "$want_message" train $small --out "$out" "$@"
    [ ! -e "$out/model.rela" ] || fail "$out: a model was written"
}
good() { # OUT OPTION...
    out=$1
    shift
    accepts train $small --out "$out" "$@"
    [ -s "$out/model.rela" ] || fail "$out: no model"
}

# ---- text ----
good one --train-src s1 --train-tgt t1 --updates 3
good few $text --updates 3 --batch-tokens 100000000
good same --train-src s --train-tgt s --updates 2
bad 3 'empty and empty: no lines' none --train-src empty --train-tgt empty --updates 2
bad 3 's has 60 lines and t1 has 1; expected as many lines in both' uneven --train-src s --train-tgt t1 --updates 2
bad 3 's: no pair of sentences is left (of 60)' long $text --max-length 2 --updates 2
good cut $text --max-length 2 --cut-long --updates 2
bad 1 'nowhere: No such file or directory' missing --train-src s --train-tgt nowhere --updates 2
bad 1 'Is a directory' folder --train-src s --train-tgt . --updates 2
bad 3 'empty and empty: no lines' valid0 $text --valid-src empty --valid-tgt empty --updates 2
bad 3 'empty has 0 lines and t has 60; expected as many lines in both' valid2 $text --valid-src empty --valid-tgt t --updates 2
[ ! -e valid2/text ] && ! grep -q learning lib.err || fail "validation text is checked after learning: $(cat lib.err)"
bad 2 'standard input: text to train on is read several times' stdin --train-src - --train-tgt t --updates 2 <s
mkfifo pipe
bad 1 'pipe: not a regular file' pipes --train-src pipe --train-tgt t --updates 2
bad 2 'validation needs both --valid-src and --valid-tgt' half $text --valid-src s1 --updates 2
bad 3 'expected as many lines in both' valid1 $text --valid-src s --valid-tgt t1 --updates 2

# ---- vocabularies and codes that are given ----
printf '<pad>\n<unk>\n<eos>\nthe\nthe\n' >twice
bad 3 "twice: line 5: token 'the' was already listed in line 4" vocab2 $text --vocab-src twice --vocab-tgt twice --updates 2
printf '<pad>\n<unk>\n<eos>\nthe\n' >few.vocab
good tiny $text --vocab-src few.vocab --updates 2
bad 3 'empty: ends after 0 lines' vocab0 $text --vocab-src empty --vocab-tgt empty --updates 2
bad 3 'empty: empty; expected lines like' codes0 $text --codes empty --updates 2
refuses 2 'a vocabulary needs the codes it was made with' train $basis --width 16 $text --vocab-src few.vocab --merges 5 --out learned
bad 2 'BPE dropout needs subwords, but there are 0 merges' dropbpe $text --bpe-dropout 0.1 --updates 2
good oldname $text --piece-rows 64 --updates 2 # what --micro-batch was called
good rdropone $text --r-drop 5 --micro-batch 1 --updates 2 # less than a sentence and its copy
bad 2 'R-Drop compares two samples of dropout, but there is none' rdrop $text --r-drop 5 --dropout 0 --updates 2
refuses 2 'R-Drop is for models that translate' train --preset align --quiet --out rdropalign $text --r-drop 5 --updates 2
bad 2 'option --bpe-dropout: 1 is out of range; expected 0..0.99' dropall $text --bpe-dropout 1 --updates 2

# More words than fit into the header of a model file: found out before the first update.
seq 1000000 1999999 | paste -s -d '     \n' >words
refuses 3 'codes and vocabularies take 18' train $small --train-src words --train-tgt words --out large --updates 1
rm words

# ---- starting from a model ----
accepts train $small $text --updates 3 --out first
accepts train $small $text --init first/model.rela --lr 0 --updates 1 --dropout 0.4 --out second
for model in first second; do
    "$RELA" score --quiet $model/model.rela --src s --tgt t >$model.scores
done
cmp first.scores second.scores || fail "a run that learns nothing does not have the weights it began with"
mv first moved # what a run began with is in its checkpoints
accepts train $small $text --init first/model.rela --lr 0 --updates 2 --dropout 0.4 --out second
seq -s ' ' 700 >stretched # more tokens than the first model could take
accepts train $small --train-src stretched --train-tgt stretched --init moved/model.rela --max-length 1000 --updates 2 --report-every 1 --out longer
grep -q '"skipped": 0' longer/train.jsonl || fail "sentences longer than those of the model to begin with: $(cat longer/train.jsonl)"
bad 1 'nowhere: No such file or directory' begin0 $text --init nowhere --updates 2
bad 3 's: not a model file' begin1 $text --init s --updates 2
bad 2 'its weights do not fit softmax, which has other parameters' begin2 $text --init moved/model.rela --attention softmax --updates 2
refuses 2 'another width than the options say' train $basis --width 32 --merges 0 $text --init moved/model.rela --updates 2 --out begin3
bad 2 'the model to start from brings its own subwords' begin4 $text --init moved/model.rela --codes s --updates 2
"$RELA" convert --quiet moved/model.rela --to int8 -o bytes.rela
bad 3 'bytes.rela: a packed model can only translate' begin5 $text --init bytes.rela --updates 2

# ---- settings ----
good still $text --lr 0 --updates 2
bad 2 'option --lr: 1e30 is out of range; expected 0..1000000' lr30 $text --lr 1e30 --updates 2
bad 2 "option --lr: 'nan' is not a number" lrnan $text --lr nan --updates 2
bad 1 'not finite, 3 times in a row; a smaller learning rate' wild $text --lr 1e6 --schedule constant \
    --max-skipped 3 --save-every 1 --updates 30
for file in wild/checkpoints/*.rela; do # what is left is finite
    accepts info "$file"
done
# Intervals without a good update have no loss, and a validation that is not finite is never the best.
useless='model.rela cannot be used: its perplexity on the validation text is not finite'
refuses 1 "silent/$useless" train $small --out silent $text --lr 1e6 --schedule constant --valid-src s1 --valid-tgt t1 --valid-every 2 --report-every 2 --updates 6 --max-skipped 9
[ "$(grep -c '"loss": null, "nll": null, .*"grad_norm": null' silent/train.jsonl)" -eq 2 ] || fail "skipped updates: $(cat silent/train.jsonl)"
awk -F '\t' 'NR > 1 && ($4 != "nan" || $5 != -1 || $6 != 0) { exit 1 }' silent/valid.tsv || fail "not finite: $(cat silent/valid.tsv)"
[ ! -e silent/best.rela ] || fail "a validation that is not finite is the best"
grep -q '[4-6] of 6 updates were skipped: loss or gradient was not finite' silent/train.log || fail "no count of skipped updates"
refuses 1 "wilder/$useless" train $small --out wilder $text --lr 1e6 --schedule constant --valid-src s1 --valid-tgt t1 --valid-every 2 --updates 4
bad 2 "unknown attention 'hard'" kind $text --attention hard --updates 2
refuses 2 'width 18 is not a multiple of 4 heads' train $text --preset demo --width 18 --quiet --out odd
for huge in '--width 16384 --enc-layers 200' '--width 8192 --micro-batch 1048576'; do
    # Said at once, before memory is asked for.
    "$RELA_BUILD/tests/peak" kib "$RELA" train $text --preset demo --merges 0 --quiet $huge --out huge 2>err && fail "$huge: taken"
    grep -qE 'training this model needs [0-9]+ MB of memory, but only [0-9]+ MB are free' err || fail "$huge: $(cat err)"
    [ "$(cat kib)" -lt 1000000 ] || fail "$huge: $(cat kib) KiB"
    n_checks=$((n_checks + 1))
done

# ---- the directory ----
bad 1 's1: cannot be made' s1 $text --updates 2
good some/new/place $text --updates 2
code=0
(ulimit -f 20 && "$RELA" train $small $text --updates 2 --out limited) 2>err || code=$?
[ $code -eq 1 ] && grep -q 'limited/checkpoints/000002.rela: cannot be written: File too large' err ||
    fail "a limit of file sizes: exit code $code: $(cat err)"
good limited $text --updates 2

# ---- resuming with something else ----
run="$text --vocab-src few.vocab --save-every 1 --keep 3 --average 1"
good old $run --updates 2
cp old/model.rela want.rela
again() { # CODE MESSAGE OPTION...
    want_code=$1 want_message=$2
    shift 2
    refuses "$want_code" "$want_message" train $small --out old --updates 2 "$@"
    cmp -s old/model.rela want.rela || fail "resuming with $*: the model has changed"
}
refuses 1 "width was 16, now 32" train $basis --width 32 --merges 0 --out old --updates 2 $run
refuses 1 'attention-enc was not set, now "softmax"' train $small --out old --updates 2 $run --attention-enc softmax
accepts train $small --out mixed --updates 2 $run --attention-enc softmax
refuses 1 'attention-enc was "softmax", now not set' train $small --out mixed --updates 3 $run
again 1 'attention was "rela-g", now "softmax"' $run --attention softmax
again 1 'vocab-size was 0, now 9' $run --vocab-size 9
again 1 'now "softmax"; vocab-size was 0, now 9; max-length was 128, now 30; use another' $run --attention softmax --vocab-size 9 --max-length 30
again 2 "unknown attention 'rella'" $run --attention rella
again 1 'not the one this run was started with: train-src was "s", now "s1"; train-tgt was "t", now "t1"' \
    --vocab-src few.vocab --save-every 1 --keep 3 --average 1 --train-src s1 --train-tgt t1
again 1 'now 30' $run --max-length 30
printf '<pad>\n<unk>\n<eos>\na\n' >other.vocab
again 1 'other.vocab is not the file this run was started with' --train-src s --train-tgt t --vocab-src other.vocab --save-every 1 --keep 3 --average 1
again 1 'the training text is not the one this run was started with' --train-src s1 --train-tgt t1 --vocab-src few.vocab --save-every 1 --keep 3 --average 1
printf x >>old/checkpoints/000002.rela
again 3 'old/checkpoints/000002.rela: header: ' $run
grep -q '; remove this file to go on from the one before$' lib.err || fail "no advice: $(cat lib.err)"
cp old/model.rela old/checkpoints/000002.rela
again 3 'old/checkpoints/000002.rela: a model, not a checkpoint: it has no state of the optimiser; remove this file' $run
accepts convert old/checkpoints/000001.rela --to int8 -o old/checkpoints/000002.rela
again 3 'old/checkpoints/000002.rela: a packed model can only translate' $run
rm old/checkpoints/000002.rela
# The clock went back: all that is there seems to come from the future.
find old -exec touch -d '2090-01-01' {} +
accepts train $small --out old --updates 2 $run
cmp -s old/model.rela want.rela || fail "from the checkpoint before: another model"
cp few.vocab moved.vocab
accepts train $small --out old --updates 2 $text --vocab-src moved.vocab --save-every 1 --keep 3 --average 1

# ---- any file call fails, a full disk among them; then the run goes on to the same result ----
faulty="$small $text --updates 3 --save-every 1 --keep 2 --average 2 --valid-src s1 --valid-tgt t1 --valid-every 2 --valid-beam 1"
"$RELA" train $faulty --out whole
failed=0 n=1 in_a_row=0
while [ $in_a_row -lt 3 ]; do
    code=0
    n_checks=$((n_checks + 1))
    RELA_FAULT=file:$n "$RELA" train $faulty --out f 2>err || code=$?
    if [ $code -eq 0 ]; then
        in_a_row=$((in_a_row + 1))
    else
        in_a_row=0 failed=$((failed + 1))
        [ $code -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] || fail "file:$n: exit code $code: $(cat err)"
        "$RELA" train $faulty --out f 2>err || fail "file:$n: cannot be resumed: $(cat err)"
    fi
    cmp -s f/model.rela whole/model.rela || fail "file:$n: another model"
    [ -z "$(find . -name '*.tmp-*')" ] || fail "file:$n: $(find . -name '*.tmp-*') is left"
    rm -rf f
    if [ $n -lt 12 ]; then n=$((n + 3)); else n=$((n + ${RELA_STRIDE:-43})); fi
done
echo "$failed runs failed and went on, up to call $n"
finish
