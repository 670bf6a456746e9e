#!/bin/sh
# SPDX-License-Identifier: MIT
# table.sh RUNS [SEED [SECONDS]]: INT, TERM, HUP and QUIT at random moments, RUNS times each, to long
# commands. Each must end within SECONDS (2) of the signal with exit code 128 + its number, a line that
# says so, and no temporary file. HUP makes training save and go on, so TERM follows. With LONG set
# also commands that learn for a minute, on the corpora of $RELA_DATA. Needs $RELA, $RELA_SOURCE; works
# in the current folder. `make test-signals` runs 20 of each.
# shellcheck disable=SC2086 # lists of options are split
set -eu
runs=$1
random=${2:-1}
seconds=${3:-2}
. "$RELA_SOURCE/tests/e2e/lib.sh"
# shellcheck disable=SC3045 # every sh of today has it
ulimit -c 0

# draw N: a number below N; the generator of Park and Miller, so that a failure can be repeated.
draw() {
    random=$((random * 48271 % 2147483647))
    drawn=$((random / 7 % $1))
}

now() { # milliseconds
    echo $(($(date +%s%N) / 1000000))
}

mkdir in tmp
export TMPDIR="$PWD/tmp"
"$RELA_SOURCE/tests/tiny_model" "$RELA" in >/dev/null
i=0
while [ $i -lt ${COPIES:-6} ]; do
    cat in/corpus/train.src >>in/src
    cat in/corpus/train.tgt >>in/tgt
    i=$((i + 1))
done
gzip -k in/src in/tgt
awk -f "$RELA_SOURCE/tests/e2e/random_text.awk" >in/text
head -n 60 in/text >in/valid
"$RELA" bpe learn -q -s 200 in/src -o in/codes
M=in/model.rela

left() {
    ls -A tmp
    find . -name '*.tmp-*' -o -name 'rela-scratch*'
}

# begin ARGUMENT...: starts the program in a new folder; signals that a shell ignores for commands in
# the background have their default action again.
begin() {
    rm -rf out
    mkdir out
    env --default-signal=INT,QUIT,HUP "$RELA" "$@" >out.txt 2>err.txt </dev/null &
    pid=$!
}

# end: waits for the program, which is killed after a while; its exit code is in $code.
end() {
    (sleep 60 && kill -KILL $pid) 2>/dev/null &
    guard=$!
    code=0
    wait $pid 2>/dev/null || code=$?
    kill $guard 2>/dev/null || true
    wait $guard 2>/dev/null || true
}

slowest=0
# stop SIGNAL NUMBER DELAY ARGUMENT...: the delay is in milliseconds
stop() {
    signal=$1 number=$2 delay=$3
    shift 3
    n_checks=$((n_checks + 1))
    begin "$@"
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    if [ "$1" = train ] && [ "$signal" = HUP ]; then
        kill -HUP $pid 2>/dev/null || true
        sleep 0.1
        signal=TERM number=15
    fi
    from=$(now)
    kill -"$signal" $pid 2>/dev/null || true
    end
    took=$(($(now) - from))
    what="$signal after $delay ms: rela $*"
    if [ $code -eq $((128 + number)) ]; then
        [ $took -le $((1000 * seconds)) ] || fail "$what: it took $took ms"
        [ $took -le $slowest ] || slowest=$took
        # a signal that comes before the program has started ends it silently
        [ ! -s err.txt ] || grep -q "stopped by signal $number" err.txt || fail "$what: $(cat err.txt)"
        n_stopped=$((n_stopped + 1))
    elif [ $code -ne 0 ]; then
        fail "$what: exit code $code: $(cat err.txt)"
    fi
    [ -z "$(left)" ] || fail "$what: left $(left | tr '\n' ' ')"
    rm -rf tmp/*
    find . -name '*.tmp-*' -exec rm -rf {} +
}

# sweep MILLISECONDS ARGUMENT...: the time within which signals come; 0: that of a whole run
sweep() {
    length=$1
    shift
    if [ "$length" -eq 0 ]; then
        from=$(now)
        begin "$@"
        end
        [ $code -eq 0 ] || fail "rela $*: exit code $code: $(cat err.txt)"
        length=$(($(now) - from))
    fi
    n_stopped=0 slowest=0 n=0
    while [ $n -lt "$runs" ]; do
        for pair in INT:2 TERM:15 HUP:1 QUIT:3; do
            draw "$length"
            stop ${pair%:*} ${pair#*:} "$drawn" "$@"
        done
        n=$((n + 1))
    done
    echo "$n_stopped of $((4 * runs)) stopped in $length ms, the slowest within $slowest ms: rela $*"
}

text='--src in/src --tgt in/tgt'
if [ -z "${LONG:-}" ]; then
    sweep 0 train --preset demo --merges 20 --width 32 --ffn 48 --batch-tokens 256 --updates ${UPDATES:-15} --threads 2 --save-every 7 \
        --valid-every 10 --valid-beam 2 --train-src in/text --train-tgt in/text --valid-src in/valid --valid-tgt in/valid --out out/run
    sweep 0 align in/corpus/train.src in/corpus/train.tgt --updates ${UPDATES:-15} -o out/links
    sweep 0 align $M $text -o out/links.gz
    sweep 0 filter $M --by null $text --out-src out/s --out-tgt out/t.gz --scores out/scores
    sweep 0 analyse $M --src in/corpus/test.src --tgt in/corpus/test.tgt -o out
    sweep 0 bpe learn -s 2000 in/src -o out/codes
    sweep 0 bpe apply -c in/codes in/src.gz -o out/pieces.gz
    sweep 0 convert $M --to safetensors -o out/plain
    sweep 0 translate $M -i in/corpus/test.src -o out/translation
else
    needs_corpora europarl-deen
    D=$RELA_DATA/europarl-deen
    gzip -dc $D/train.de.gz | head -n 20000 >in/de
    gzip -dc $D/train.en.gz | head -n 20000 >in/en
    both="--train-src $D/train.de.gz --train-tgt $D/train.en.gz --src-lang de --tgt-lang en --tokenise"
    sweep 30000 train --preset base $both --out out/run
    sweep 60000 train --preset base --merges 500 --train-src in/de --train-tgt in/en --out out/run
    sweep 30000 align --tokenise --src-lang de --tgt-lang en $D/train.de.gz $D/train.en.gz -o out/links
    sweep 20000 bpe learn -s 20000 $D/train.de.gz -o out/codes
fi
finish
