#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD: the benchmarks that need no other software, one JSON line per case; bench/text.py,
# bench/bleu_speed.py and bench/peers compare with other software.
set -eu
bench=$1/bench
for kind in softmax rela-g; do
    "$bench/bench_step" tiny $kind 1
    "$bench/bench_step" tiny $kind 2
    "$bench/bench_step" base $kind 2 4096 25 0 2
done
"$bench/bench_weights" 2
"$bench/bench_data" 1000000
"$bench/bench_load" base 32000 5
