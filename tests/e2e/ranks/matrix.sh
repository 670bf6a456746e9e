#!/bin/sh
# SPDX-License-Identifier: MIT
# matrix.sh: every preset, trained by 1, 2 and 4 ranks of 1 and 2 threads, and by 4, 1 and 2 ranks in turn: checkpoints, models and
# records have the bytes of one rank of one thread. Needs $RELA and $RELA_SOURCE; works in the current folder. `make test-ranks` runs it.
# shellcheck disable=SC2086,SC2154 # lists of options are split; lib.sh sets variables
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks/lib.sh"
make_text
common='train --quiet --merges 20 --width 32 --dropout 0.2 --clip 0.5 --batch-tokens 256 --report-every 5
    --save-every 10 --keep 3 --average 3 --train-src text --train-tgt text'
n_runs=0
for preset in paper base tiny demo align; do
    sizes='--r-drop 2 --enc-layers 2 --dec-layers 2 --heads 2 --ffn 48 --valid-src valid --valid-tgt valid --valid-every 30 --valid-beam 2'
    [ $preset != align ] || sizes=
    [ $preset != tiny ] || sizes="$sizes --gradient-groups 2"
    rm -rf one run
    ranks 1 $common --preset $preset $sizes --updates 60 --threads 1 --out one
    for shape in '1 2' '2 1' '2 2' '4 1' '4 2'; do
        ranks ${shape% *} $common --preset $preset $sizes --updates 60 --threads ${shape#* } --out run
        same one run
        n_runs=$((n_runs + 1))
        rm -rf run
    done
    # What is kept is all of the last part, as the others tell of fewer --updates.
    ranks 4 $common --preset $preset $sizes --updates 10 --threads 1 --out run
    ranks 1 $common --preset $preset $sizes --updates 27 --threads 2 --out run
    ranks 2 $common --preset $preset $sizes --updates 60 --threads 1 --out run
    same one run
    n_runs=$((n_runs + 1))
done
echo "$((n_runs - n_failed)) of $n_runs runs on several ranks or threads have the bytes of one"
finish
