#!/bin/sh
# SPDX-License-Identifier: MIT
# Allocations inside libraries fail (tests/failing_malloc.c): of every run of the commands that run a model,
# the end has a documented exit code and a message, comes in time and leaves no temporary file.
# RELA_LIBRARY_CALLS: how many calls of each kind are made to fail, each alone and with all after it (default 4,
# spread over all that a command makes; `make test-library-memory` takes 150).
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
shim=$RELA_BUILD/tests/failing_malloc.so
if [ ! -e "$shim" ]; then
    echo "skipped: sanitizers have a malloc of their own"
    exit 0
fi
"$RELA_SOURCE/tests/tiny_model" "$RELA" . 4 >/dev/null
n_calls=${RELA_LIBRARY_CALLS:-4}
for side in src tgt; do
    head -n 30 corpus/test.$side >$side
done

# failing SETTING COMMAND: runs it; outputs go to out/.
failing() {
    setting=$1 command=$2
    rm -rf out
    mkdir out
    case $command in
    train)
        set -- --preset demo --width 32 --ffn 48 --merges 100 --max-length 60 --tokenise --src-lang en --tgt-lang de --batch-tokens 512 --updates 2 \
            --save-every 2 --average 1 --train-src corpus/train.src --train-tgt corpus/train.tgt --out out/run ;;
    translate) set -- model.rela -i src -o out/text ;;
    align) set -- model.rela --src src --tgt tgt -o out/links ;;
    filter) set -- model.rela --src src --tgt tgt --out-src out/a --out-tgt out/b --keep 0.5 ;;
    analyse) set -- model.rela --src src --tgt tgt --out out/report --limit 2 ;;
    esac
    code=0
    # env: only the program has the library.
    timeout -k 1 60 env RELA_FAIL="$setting" RELA_FAIL_COUNT="$PWD/count" LD_PRELOAD="$shim" \
        "$RELA" "$command" --quiet --threads 2 "$@" >said 2>err || code=$?
}

# ended: the last run did so as documented.
ended() {
    n_checks=$((n_checks + 1))
    what="RELA_FAIL=$setting rela $command"
    case $code in
    0) ;;
    1 | 3) grep -Eq '^(rela|libgomp)' err || fail "$what: exit code $code without a message: $(cat err)" ;;
    124 | 137) fail "$what: hangs: $(head -n 5 err)" ;;
    *) fail "$what: exit code $code: $(tail -n 5 err)" ;;
    esac
    find . -name '*.tmp-*' >left
    [ ! -s left ] || fail "$what: left $(tr '\n' ' ' <left)"
}

# sweep KIND CALLS: some of so many calls, evenly spread, fail alone or with all after them.
sweep() {
    kind=$1 calls=$2 i=0
    while [ $i -lt "$n_calls" ] && [ "$calls" -gt 0 ]; do
        n=$((1 + i * calls / n_calls))
        for mode in '' +; do
            failing "$kind:$n$mode" "$command"
            ended
            if [ $code -ne 0 ]; then n_failing=$((n_failing + 1)); fi
        done
        i=$((i + 1))
    done
}

for command in train translate align filter analyse; do
    rm -f count
    failing none $command
    [ $code -eq 0 ] || fail "rela $command: exit code $code: $(cat err)"
    counted=$(head -n 1 count) # malloc N mmap M
    n_failing=0
    maps=${counted##* } allocations=${counted#malloc }
    sweep malloc "${allocations%% *}"
    sweep mmap "$maps"
    [ $n_failing -gt 0 ] || fail "rela $command: nothing failed"
    echo "$command: $counted, $n_failing runs failed"
done

# Matrix products are compiled at the start, by a library that aborts; fonts are looked up by one that never ends.
failing mmap:1 align
[ $code -eq 1 ] || fail "compiling: exit code $code"
grep -qx 'rela: no memory for matrix products' err || fail "compiling: $(cat err)"
finish
