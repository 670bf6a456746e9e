#!/bin/sh
# SPDX-License-Identifier: MIT
# Commands that write several files replace earlier ones together: after a failure of any file call all
# files are old or all are new, and a process killed before any call leaves no old file beside a new
# one; what is incomplete is refused by its reader.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# Thousands of files are made durable: in memory where that can be.
if [ -w /dev/shm ]; then
    memory=$(mktemp -d -p /dev/shm)
    trap 'rm -rf "$memory"' EXIT INT TERM
    cd "$memory"
fi
"$RELA_SOURCE/tests/tiny_model" "$RELA" in >/dev/null
"$RELA_SOURCE/tests/tiny_model" "$RELA" other 3 >/dev/null
for side in src tgt; do
    head -n 30 in/corpus/test.$side >$side.a
    tail -n 33 in/corpus/test.$side >$side.b
done

# names FOLDER: its files, but not what a killed process leaves under a temporary name.
names() {
    ls -A "$1" >names.all
    grep -v '\.tmp-[0-9]*-[0-9]*$' names.all || [ $? -eq 1 ]
}

# sides: counts of files in out/ in n_old, n_new (as in old/ or new/, where these differ) and n_gone
# (in neither as they should be there), and in n_other those that are nothing of that.
sides() {
    n_old=0 n_new=0 n_other=0
    names out >names.out
    while read -r name; do
        if cmp -s "old/$name" "out/$name"; then
            cmp -s "new/$name" "out/$name" || n_old=$((n_old + 1))
        elif cmp -s "new/$name" "out/$name"; then
            n_new=$((n_new + 1))
        else
            n_other=$((n_other + 1))
        fi
    done <names.out
}

# whole FOLDER: whether out/ holds what the folder holds.
whole() {
    names "$1" >names.want
    names out >names.out
    cmp -s names.want names.out || return 1
    while read -r name; do
        cmp -s "$1/$name" "out/$name" || return 1
    done <names.want
}

# try FAULT ARGUMENT...: the command over a copy of old/; $code is its exit code.
try() {
    fault=$1
    shift
    rm -rf out
    cp -r old out
    code=0
    RELA_FAULT=$fault "$RELA" "$@" >try.out 2>try.err </dev/null || code=$?
    n_checks=$((n_checks + 1))
    sides
    if [ "$n_other" -gt 0 ]; then fail "RELA_FAULT=$fault rela $*: a file is neither old nor new"; fi
    if [ "$n_old" -gt 0 ] && [ "$n_new" -gt 0 ]; then
        fail "RELA_FAULT=$fault rela $*: $n_old old files beside $n_new new ones"
    fi
}

# failing STEP ARGUMENT...: every file call fails, or each STEP-th.
failing() {
    step=$1 n=1 in_row=0
    shift
    while [ $in_row -lt 8 ]; do
        try "file:$n" "$@"
        if [ "$code" -eq 0 ]; then in_row=$((in_row + 1)); else in_row=0; fi
        whole old || whole new || fail "RELA_FAULT=file:$n rela $*: incomplete: $(ls -A out | tr '\n' ' ')"
        if [ "$code" -ne 0 ] && [ ! -s try.err ]; then fail "RELA_FAULT=file:$n rela $*: no message"; fi
        ls -A out >names.out
        if grep -q '\.tmp-' names.out; then fail "RELA_FAULT=file:$n rela $*: a temporary file is left"; fi
        n=$((n + step))
    done
}

# killed FIRST STEP ARGUMENT...: the process is killed before each STEP-th file call from number FIRST
# on; what is left incomplete must be refused by read_back. n is the first call that is not reached.
killed() {
    n=$1 step=$2 n_partly=0
    shift 2
    while :; do
        try "signal9:$n" "$@"
        [ "$code" -eq 137 ] || break
        if ! whole old && ! whole new; then
            n_partly=$((n_partly + 1))
            code=0
            read_back >read.out 2>read.err || code=$?
            if [ "$code" -eq 0 ]; then fail "RELA_FAULT=signal9:$n rela $*: accepted: $(ls -A out | tr '\n' ' ')"; fi
            [ -s read.err ] || fail "RELA_FAULT=signal9:$n rela $*: refused without a message"
        fi
        n=$((n + step))
    done
    [ "$code" -eq 0 ] || fail "RELA_FAULT=$fault rela $*: exit code $code: $(cat try.err)"
}

# both OLD NEW: runs two commands, each given as one word, to make old/ and new/.
both() {
    rm -rf old new
    for side in old new; do
        command=$1
        shift
        rm -rf out
        mkdir out
        # shellcheck disable=SC2086
        accepts $command
        mv out $side
    done
}

# calls STEP ARGUMENT...: each STEP-th file call fails, and each is the last one of a killed process.
calls() {
    step=$1
    shift
    failing "$step" "$@"
    killed 1 "$step" "$@"
    [ $n_partly -gt 0 ] || fail "rela $*: no call in between was met"
}

# last_calls ARGUMENT...: a few of the calls in which files get their names.
last_calls() {
    low=1 high=4096 # between them is the first call that is not reached
    while [ $((high - low)) -gt 1 ]; do
        n=$(((low + high) / 2))
        try "signal9:$n" "$@"
        if [ "$code" -eq 137 ]; then low=$n; else high=$n; fi
    done
    names new >names.out
    files=$(wc -l <names.out)
    killed $((high - 2 * files)) $((files / 5 + 1)) "$@"
    [ $n_partly -gt 0 ] || fail "rela $*: no call in between was met"
    for back in 3 $((files / 2)) $((files * 3 / 2)); do
        try "file:$((high - back))" "$@"
        whole old || whole new || fail "RELA_FAULT=$fault rela $*: incomplete"
    done
}

read_back() { "$RELA" convert --from safetensors out -o back.rela; }
both "convert in/model.rela --to safetensors -o out" "convert other/model.rela --to safetensors -o out"
calls 2 convert other/model.rela --to safetensors -o out

both "corpus --quiet --size 9 --valid 3 --test 3 --out out" "corpus --quiet --size 8 --valid 2 --test 2 --seed 2 --out out"
read_back() { "$RELA" corpus check --src out/train.src --tgt out/train.tgt && cat out/test.tgt.upos; }
calls 7 corpus --quiet --size 8 --valid 2 --test 2 --seed 2 --out out

filter="filter in/model.rela -q --out-src out/src --out-tgt out/tgt --scores out/scores"
read_back() { cat out/src out/tgt out/scores; }
both "$filter --src src.a --tgt tgt.a" "$filter --src src.b --tgt tgt.b"
# shellcheck disable=SC2086
calls 5 $filter --src src.b --tgt tgt.b

# Hundreds of calls, and most of the time is for figures: a few of those at the end, where the files
# get their names.
analyse="analyse in/model.rela -q -o out --limit 3 --dump out/dump.npz"
read_back() { cat out/report.html; }
both "$analyse --src src.a --tgt tgt.a" "$analyse --src src.b --tgt tgt.b"
# shellcheck disable=SC2086
last_calls $analyse --src src.b --tgt tgt.b
finish
