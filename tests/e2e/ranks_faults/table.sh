#!/bin/sh
# SPDX-License-Identifier: MIT
# table.sh: 72 runs of three ranks, in each of which one rank gets KILL, STOP or TERM in a phase of an update: all processes end within
# 30 seconds, the newest checkpoint can be loaded, and the resumed run has the bytes of one that was never disturbed. Needs $RELA and
# $RELA_SOURCE; works in the current folder. `make test-ranks` runs it.
# shellcheck disable=SC2086,SC2154 # lists of options are split; lib.sh sets variables
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks/lib.sh"
make_text
export RELA_MPI_TIMEOUT=3
most=30 # seconds until all have ended
slowest=0
common='train --quiet --preset demo --merges 20 --width 32 --heads 2 --ffn 48 --dropout 0.2 --r-drop 2 --clip 0.5 --batch-tokens 128
    --updates 40 --save-every 10 --keep 2 --average 2 --report-every 5 --valid-src valid --valid-tgt valid --valid-every 10 --valid-beam 1
    --train-src text --train-tgt text --threads 1'

cat >each <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
echo $$ >"pid.$rank"
[ "$rank" != "$FAULTY" ] || export RELA_FAULT="$FAULT"
exec "$RELA" "$@"
END
chmod +x each

# alive: whether a process of the run is still there.
alive() {
    for process in $job $(cat pid.* 2>/dev/null); do
        ! kill -0 "$process" 2>/dev/null || return 0
    done
    return 1
}

# disturb SIGNAL PHASE RANK TIME: a run in which the rank gets the signal when it reaches the phase for the n-th time.
disturb() {
    rm -rf run pid.*
    export FAULTY="$3" FAULT="signal$1@$2:$4"
    mpirun -n 3 ./each $common --out run >log 2>&1 &
    job=$!
    tenths=0
    sleep 0.2
    while alive && [ $tenths -lt $((most * 10)) ]; do
        sleep 0.1
        tenths=$((tenths + 1))
    done
    [ $tenths -le $slowest ] || slowest=$tenths
    if alive; then
        echo "not ended after $most seconds"
        kill -KILL $job $(cat pid.*) 2>/dev/null || true
        wait $job || true
        return 1
    fi
    code=0
    wait $job || code=$?
    [ $code -ne 0 ] || { echo "exit code 0: the signal did not arrive"; return 1; }
}

# goes_on RANKS: the newest checkpoint can be loaded, and the run ends as if nothing had happened.
goes_on() {
    last=$(ls run/checkpoints/*.rela run/interim-*.rela 2>/dev/null | tail -n 1)
    [ -z "$last" ] || "$RELA" info "$last" >/dev/null || return 1
    before=$n_failed
    ranks "$1" $common --out run || return 1
    same whole run
    [ "$n_failed" -eq "$before" ] || return 1
    left=$(find run -name '*.tmp-*' -o -name 'interim-*')
    [ -z "$left" ] || { echo "left over: $left"; return 1; }
}

# moments PHASE: when, for each of the four runs; validations and checkpoints are rarer than updates.
moments() {
    case $1 in
    gradients | exchange) echo 5 23 47 71 ;;
    optimiser) echo 2 11 20 33 ;;
    validation) echo 1 2 3 4 ;;
    save | commit) echo 1 2 3 2 ;; # the fourth is the last, after which a signal comes too late
    esac
}

ranks 1 $common --out whole
n_runs=0 n_good=0
for signal in 9:KILL 19:STOP 15:TERM; do
    for phase in gradients exchange optimiser validation save commit; do
        for time in $(moments $phase); do
            rank=$((n_runs % 3)) # ranks and times take turns
            n_runs=$((n_runs + 1))
            if disturb "${signal%:*}" "$phase" $rank "$time" && goes_on $((n_runs / 3 % 3 + 1)); then
                n_good=$((n_good + 1))
            else
                fail "${signal#*:} at rank $rank, $phase $time: $(cat log)"
            fi
        done
    done
done
echo "$n_good of $n_runs disturbed runs end within $most seconds (the slowest after $((slowest / 10)).$((slowest % 10))) and resume to the same bytes"
[ "$n_good" -eq "$n_runs" ]
