#!/bin/sh
# SPDX-License-Identifier: MIT
# align, filter and analyse with failing allocations and file calls: an exit code and a message, and
# no part of an output under its name.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
sweep=$RELA_SOURCE/tests/e2e/fault-sweep

awk 'BEGIN { for (i = 0; i < 40; i++) print "w" i % 7, "w" i % 5, "w" i % 3 }' >text
"$RELA" train --quiet --preset demo --merges 0 --width 8 --ffn 8 --heads 2 --enc-layers 1 --dec-layers 1 --updates 2 \
    --batch-tokens 64 --save-every 2 --average 1 --train-src text --train-tgt text --out run --threads 1
model=run/model.rela
head -n 2 text >two
printf '0-0\n1-1\n' >gold
head -n 24 text >some
sh "$sweep" -o links -s 7 "$RELA" align $model --src two --tgt two --best-on gold -q --threads 1 -o links 2>note ||
    fail "align: $(cat note)"
sh "$sweep" -o a -s 25 "$RELA" filter $model --src some --tgt some --out-src a --out-tgt b --keep 0.5 --keep-copies -q \
    --duplicates keep --threads 1 2>note || fail "filter: $(cat note)"

# Figures take their time: only some of the calls.
"$RELA" analyse $model --src two --tgt two --gold gold --out whole -q --threads 1 >want
for fault in mem:1 mem:20 mem:90+ mem:300 mem:700+ file:2 file:9 file:30+ file:70 file:110+ file:180; do
    rm -rf out
    code=0
    RELA_FAULT=$fault "$RELA" analyse $model --src two --tgt two --gold gold --out out -q --threads 1 --dump out.npz >got 2>err || code=$?
    n_checks=$((n_checks + 1))
    [ $code -eq 0 ] || { [ $code -eq 1 ] && grep -q '^rela' err; } || fail "analyse: $fault: exit $code: $(cat err)"
    [ ! -e out/report.html ] || cmp -s out/report.html whole/report.html || fail "analyse: $fault: part of a report"
done
[ "$(find . -name '*tmp*' | wc -l)" -eq 0 ] || fail "a temporary file is left"
finish
