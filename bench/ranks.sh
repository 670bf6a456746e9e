#!/bin/sh
# SPDX-License-Identifier: MIT
# ranks.sh BUILD [PRESET...]: training by two ranks of one thread on this machine, against one rank of one and of two threads, in target
# tokens per second, and the most memory of each rank. Wants two idle cores, mpirun and minutes. UPDATES=N: of each run [6].
# shellcheck disable=SC2086 # lists of options are split
set -eu
build=$(cd "$1" && pwd)
shift
presets=${*:-tiny base}
updates=${UPDATES:-6}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cat >each <<'END'
#!/bin/sh
exec "$PEAK" "$1.${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" "$RELA" train --out "$@"
END
chmod +x each
export PEAK="$build/tests/peak" RELA="$build/rela"
"$RELA" corpus --quiet --level hard --size 30K --out text >/dev/null

# speed RUN: of the last half of the updates, the first being slower
speed() {
    sed -n 's/.*"tokens_per_second": \([0-9.]*\).*/\1/p' "$1/train.jsonl" | tail -n 1
}
# memory FILE: in MB
memory() {
    echo $(($(cat "$1") / 1024))
}
printf '%-6s %12s %12s %12s %8s %8s %8s %8s %8s\n' preset '1 rank x 1' '1 rank x 2' '2 ranks x 1' 'over x 1' 'over x 2' 'MB of 1' 'rank 0' 'rank 1'
for preset in $presets; do
    tokens='--batch-tokens 8192'
    options="--quiet --preset $preset $tokens --updates $updates --report-every $((updates / 2)) --save-every 1000000
        --train-src text/train.src --train-tgt text/train.tgt"
    ./each $preset-1 $options --threads 1
    ./each $preset-2 $options --threads 2
    mpirun -n 2 ./each $preset-m $options --threads 1
    one=$(speed $preset-1) two=$(speed $preset-2) many=$(speed $preset-m)
    printf '%-6s %12.0f %12.0f %12.0f %8s %8s %8d %8d %8d\n' "$preset" "$one" "$two" "$many" \
        "$(echo "$many $one" | awk '{ printf "%.2f", $1 / $2 }')" "$(echo "$many $two" | awk '{ printf "%.2f", $1 / $2 }')" \
        "$(memory $preset-1.0)" "$(memory $preset-m.0)" "$(memory $preset-m.1)"
done
