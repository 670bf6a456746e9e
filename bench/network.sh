#!/bin/sh
# SPDX-License-Identifier: MIT
# network.sh BUILD [GBPS...]: training by two ranks of one thread each in two network namespaces, over a link of each speed in Gb/s
# [1 0.1], beside the forecast of `rela bench scale` for two such machines. Wants root, iproute2, Open MPI and two idle cores.
# PRESET=NAME [tiny]; TOKENS=N: of a slot [2048]; UPDATES=N: of each run, the last half of which counts [8]; ROUNDS=N [3].
# shellcheck disable=SC2086 # lists of options are split
set -eu
build=$(cd "$1" && pwd)
shift
speeds=${*:-1 0.1}
preset=${PRESET:-tiny} tokens=${TOKENS:-2048} updates=${UPDATES:-8} rounds=${ROUNDS:-3}
export RELA="$build/rela"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tests/e2e/ranks_faults/machines.sh"
scratch=$(mktemp -d)
trap 'remove_machines; rm -rf "$scratch"' EXIT
cd "$scratch"
make_machines
# speed RUN, median FILE
speed() {
    sed -n 's/.*"tokens_per_second": \([0-9.]*\).*/\1/p' "$1/train.jsonl" | tail -n 1
}
median() {
    sort -n "$1" | awk '{ a[NR] = $1 } END { print (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'
}

"$RELA" corpus --quiet --level hard --size 30K --out text >/dev/null
options="--quiet --preset $preset --batch-tokens $((2 * tokens)) --gradient-slots 2 --gradient-groups 2 --threads 1 --updates $updates
    --report-every $((updates / 2)) --save-every 1000000 --train-src text/train.src --train-tgt text/train.tgt"
"$RELA" train $options --out one
links=
for gbps in $speeds; do
    links="$links --link $gbps"
done
length=$(awk '{ n += NF } END { printf "%d", n / NR * 1.3 + 1 }' text/train.tgt) # words are some 1.3 subwords here
printf '%8s %12s %12s %20s\n' Gb/s measured forecast 'measured / forecast'
for _ in $(seq $rounds); do
    "$RELA" bench scale --quiet --model one/model.rela --attention rela-g --threads 1 --slot-tokens $tokens --train-length $length $links \
        --rounds 3 --seconds 0.5 --out bench >/dev/null
    for gbps in $speeds; do
        awk -F '\t' -v link=$gbps '$1 == link && $2 == 2 { print $5 }' bench/scale.tsv >>forecast.$gbps
        shape_link $gbps
        rm -rf run
        on_machines "$RELA" train $options --out run
        speed run >>measured.$gbps
    done
done
for gbps in $speeds; do
    measured=$(median measured.$gbps) forecast=$(median forecast.$gbps)
    printf '%8s %12.0f %12.0f %20s\n' $gbps $measured $forecast "$(echo "$measured $forecast" | awk '{ printf "%.2f", $1 / $2 }')"
done
