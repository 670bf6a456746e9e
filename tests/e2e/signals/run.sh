# SPDX-License-Identifier: MIT
# A signal that ends the program leaves no temporary file, whichever signal it is, whichever command
# gets it and whenever it comes: it is sent before each file call in turn.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
# shellcheck disable=SC3045 # every sh of today has it
ulimit -c 0

mkdir in tmp
export TMPDIR="$PWD/tmp"
"$RELA_SOURCE/tests/tiny_model" "$RELA" in >/dev/null
head -n 8 in/corpus/test.src >in/src
head -n 8 in/corpus/test.tgt >in/tgt
head -n 8 in/corpus/test.align >in/links
"$RELA" bpe learn -q -s 20 in/src -o in/codes
"$RELA" truecase learn -q in/src -o in/case
M=in/model.rela

export RELA_SIGNALS="${RELA_SIGNALS:-}"
# So that signals of crashes reach the program in builds with sanitizers, too.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_sigtrap=0"

left() {
    find . -name '*.tmp-*' -o -name 'rela-scratch*'
}

# stopped FAULT ARGUMENT...: runs with this RELA_FAULT; the exit code is in $code.
stopped() {
    fault=$1
    shift
    rm -rf out
    mkdir out
    code=0
    RELA_FAULT=$fault "$RELA" "$@" >/dev/null 2>err </dev/null || code=$?
    n_checks=$((n_checks + 1))
    [ -z "$(left)" ] && return
    fail "RELA_FAULT=$fault rela $*: left $(left | tr '\n' ' ')"
    find . -name '*.tmp-*' -delete
}

# sweep STEP ARGUMENT...: SIGTERM before every file call, or before each STEP-th; before every one of
# all commands with RELA_SIGNALS=all, which takes minutes.
sweep() {
    step=$1 n=1
    shift
    [ "$RELA_SIGNALS" != all ] || step=1
    while :; do
        stopped signal15:$n "$@"
        [ $code -eq 143 ] || break
        n=$((n + step))
    done
    [ $code -eq 0 ] || fail "RELA_FAULT=$fault rela $*: exit code $code: $(cat err)"
    [ $n -gt $((2 * step)) ] || fail "rela $*: no signal came: $(cat err)"
    echo "up to file call $n, step $step: rela $*"
}

train="train --preset demo --width 16 --ffn 16 --merges 10 --updates 4 --save-every 2 --average 1 --report-every 1
    --train-src in/src --train-tgt in/tgt --valid-src in/src --valid-tgt in/tgt --out out/run"
sweep 1 corpus --size 30 --valid 10 --test 10 --out out
sweep 1 bpe learn -s 20 in/src -o out/o
sweep 1 bpe apply -c in/codes in/src -o out/o
sweep 1 bpe undo in/src -o out/o.gz
sweep 1 vocab in/src -o out/o
sweep 1 normalise in/src -o out/o
sweep 1 tokenise in/src -o out/o.zst
sweep 1 detokenise in/src -o out/o
sweep 1 truecase learn in/src -o out/o
sweep 1 truecase apply -m in/case in/src -o out/o
sweep 1 truecase undo in/src -o out/o
sweep 1 symmetrise in/links in/links -o out/o
sweep 1 corpus check --src in/src --tgt in/tgt
sweep 29 average in/tiny -o out/o
sweep 5 convert $M -o out/o --to safetensors
sweep 5 convert $M -o out/o --to mapped
sweep 5 shortlist $M --src in/src --tgt in/tgt -o out/o
sweep 1 translate $M -i in/src -o out/o
writing=$((n - 7)) # the last five calls are the renaming and what makes it durable
sweep 5 score $M --src in/src --tgt in/tgt -o out/o
sweep 5 align $M --src in/src --tgt in/tgt -o out/o
sweep 5 filter $M --by null --src in/src --tgt in/tgt --out-src out/s --out-tgt out/t --scores out/o
sweep 23 bench attention --preset demo --rounds 2 --seconds 0 -a rela-g --length 10 --out out
sweep 83 analyse $M --src in/src --tgt in/tgt --dump out/o.npz -o out

# The first SIGTERM finishes the update, the second ends training at once; one that comes when all is
# done changes nothing.
step=43
[ "$RELA_SIGNALS" != all ] || step=1
n=1
while [ $n -le 450 ]; do
    for plus in '' +; do
        # shellcheck disable=SC2086 # its options are words
        stopped signal15:$n$plus $train
        [ $code -eq 143 ] || [ $code -eq 0 ] || fail "RELA_FAULT=$fault rela $train: exit code $code: $(cat err)"
    done
    n=$((n + step))
done

# Every signal that ends a process and can be caught, with all nine files of a corpus open, and while
# a translation is written.
for number in 1 2 3 4 5 6 7 8 10 11 12 14 15 16 24 26 27 29 30 31 34 35 50 63 64; do
    stopped signal$number:30 corpus --size 30 --valid 10 --test 10 --out out
    [ $code -eq $((128 + number)) ] || fail "signal $number: exit code $code: $(cat err)"
    stopped signal$number:$writing translate $M -i in/src -o out/o
    [ $code -eq $((128 + number)) ] || fail "translate, signal $number: exit code $code: $(cat err)"
done
finish
