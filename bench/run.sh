#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD: the benchmarks that need no other software; bench/text.py, bench/bleu_speed.py,
# bench/train.py and bench/peers compare with other software.
set -eu
"$1/rela" bench
"$1/bench/bench_data" 1000000
"$1/bench/bench_load" base 32000 5
