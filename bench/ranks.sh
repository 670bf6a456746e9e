#!/bin/sh
# SPDX-License-Identifier: MIT
# ranks.sh BUILD [PRESET...]: training by two ranks of one thread on this machine, against one rank of one and of two threads, in target
# tokens per second, and the most memory of each rank. Wants two idle cores, mpirun and minutes. Medians of
# interleaved rounds. UPDATES=N: of each run [6], the last half of which counts; ROUNDS=N [3];
# OPTIONS="--gradient-groups 2": further ones of training.
# shellcheck disable=SC2086 # lists of options are split
set -eu
build=$(cd "$1" && pwd)
shift
presets=${*:-tiny base}
updates=${UPDATES:-6}
rounds=${ROUNDS:-3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
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

# memory FILE: in MB
memory() {
    echo $(($(cat "$1") / 1024))
}
# one RUN COMMAND...: a run from the start, its speed after those of earlier rounds
one() {
    run=$1
    shift
    rm -rf "$run"
    "$@"
    sed -n 's/.*"tokens_per_second": \([0-9.]*\).*/\1/p' "$run/train.jsonl" | tail -n 1 >>"$run.speed"
}
# median FILE
median() {
    sort -n "$1" | awk '{ a[NR] = $1 } END { print (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'
}
printf '%-6s %12s %12s %12s %8s %8s %8s %8s %8s\n' preset '1 rank x 1' '1 rank x 2' '2 ranks x 1' 'over x 1' 'over x 2' 'MB of 1' 'rank 0' 'rank 1'
for preset in $presets; do
    options="--quiet --preset $preset --batch-tokens 8192 --updates $updates --report-every $((updates / 2)) --save-every 1000000
        --train-src text/train.src --train-tgt text/train.tgt ${OPTIONS:-}"
    for _ in $(seq $rounds); do
        one $preset-1 ./each $preset-1 $options --threads 1
        one $preset-m mpirun -n 2 ./each $preset-m $options --threads 1
        one $preset-2 ./each $preset-2 $options --threads 2
    done
    one=$(median $preset-1.speed) two=$(median $preset-2.speed) many=$(median $preset-m.speed)
    printf '%-6s %12.0f %12.0f %12.0f %8s %8s %8d %8d %8d\n' "$preset" "$one" "$two" "$many" \
        "$(echo "$many $one" | awk '{ printf "%.2f", $1 / $2 }')" "$(echo "$many $two" | awk '{ printf "%.2f", $1 / $2 }')" \
        "$(memory $preset-1.0)" "$(memory $preset-m.0)" "$(memory $preset-m.1)"
done
