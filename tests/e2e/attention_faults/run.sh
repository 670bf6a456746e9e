#!/bin/sh
# SPDX-License-Identifier: MIT
# align, shortlist, filter and analyse with failing allocations and file calls: an exit code and a message, and
# no part of an output under its name. Calls are picked in growing steps; each run takes its time.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

awk 'BEGIN { for (i = 0; i < 40; i++) print "w" i % 7, "w" i % 5, "w" i % 3 }' >text
"$RELA" train --quiet --preset demo --merges 0 --width 8 --ffn 8 --heads 2 --enc-layers 1 --dec-layers 1 --updates 2 \
    --batch-tokens 64 --save-every 2 --average 1 --train-src text --train-tgt text --out run --threads 1
model=run/model.rela
head -n 2 text >two
printf '0-0\n1-1\n' >gold
head -n 24 text >some

# sweep GROWTH OUTPUT ARGUMENT...: the output is that of an undisturbed run, or is not there.
sweep() {
    growth=$1 output=$2
    shift 2
    "$RELA" "$@" >/dev/null
    cp "$output" want
    for mode in mem: mem:+ file: file:+; do
        n=1 good=0 failures=0
        # The first calls look for models by name and at the kind of a file: without them the file is simply opened.
        while [ $good -lt 2 ] || [ $n -lt 10 ]; do
            fault=${mode%+}$n${mode#*:}
            code=0
            rm -f "$output"
            RELA_FAULT=$fault "$RELA" "$@" >/dev/null 2>err || code=$?
            n_checks=$((n_checks + 1))
            if [ $code -eq 0 ]; then
                cmp -s "$output" want || fail "$fault $*: success with another output"
                good=$((good + 1))
            else
                [ $code -eq 1 ] && grep -q '^rela' err || fail "$fault $*: exit $code: $(cat err)"
                [ ! -e "$output" ] || cmp -s "$output" want || fail "$fault $*: part of an output"
                good=0 failures=$((failures + 1))
            fi
            n=$((n + 1 + n * growth / 10))
        done
        [ $failures -gt 2 ] || fail "$mode $*: only $failures failures"
    done
}
sweep 4 links align $model --src two --tgt two --best-on gold -q --threads 1 -o links
sweep 4 list shortlist -q -t 1 $model --src two --tgt two -o list
sweep 4 a filter $model --src some --tgt some --out-src a --out-tgt b --keep 0.5 --keep-copies -q --duplicates keep --threads 1
sweep 15 out/report.html analyse $model --src two --tgt two --gold gold --dump out.npz --out out -q --threads 1
[ "$(find . -name '*tmp*' | wc -l)" -eq 0 ] || fail "a temporary file is left"
finish
