#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD: the benchmarks that need no other software; `python3 bench/peers`, bench/text.py and
# bench/bleu_speed.py compare with other software.
set -eu
"$1/rela" bench
"$1/bench/bench_data" 1000000
"$1/bench/bench_load" base 32000 5
