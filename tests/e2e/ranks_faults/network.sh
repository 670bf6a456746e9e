#!/bin/sh
# SPDX-License-Identifier: MIT
# network.sh: two machines (namespaces) train; the link between them goes down, or the disk of the run is full. All ranks end within
# 30 seconds with a message that says so, and the resumed run has the bytes of one that was never disturbed. Needs $RELA, $RELA_SOURCE
# and root; works in the current folder. `make test-ranks` runs it.
# shellcheck disable=SC2086,SC2154 # lists of options are split; lib.sh sets variables
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks_faults/machines.sh"
trap 'remove_machines; umount disk 2>/dev/null || :' EXIT
make_machines >why || { echo "skipped: $(cat why)"; exit 0; }
make_text
export RELA_MPI_TIMEOUT=5
most=30
common='train --quiet --preset demo --merges 20 --width 32 --heads 2 --ffn 48 --dropout 0.2 --batch-tokens 128 --updates 400
    --save-every 40 --keep 3 --average 2 --report-every 40 --train-src text --train-tgt text --threads 1'
cat >each <<'END'
#!/bin/sh
echo $$ >"pid.$OMPI_COMM_WORLD_RANK"
exec "$RELA" "$@"
END
chmod +x each

# begin OUT: a run on both machines that has saved a checkpoint
begin() {
    rm -f pid.*
    on_machines ./each $common --out "$1" >log 2>&1 &
    job=$!
    for _ in $(seq 300); do
        [ -z "$(ls "$1/checkpoints" 2>/dev/null)" ] || return 0
        sleep 0.1
    done
    fail "no checkpoint: $(cat log)"
}

# all_end WHAT
all_end() {
    n_checks=$((n_checks + 1))
    for tenths in $(seq $((most * 10))); do
        left=
        for process in $(cat pid.*); do
            ! kill -0 "$process" 2>/dev/null || left="$left $process"
        done
        [ -n "$left" ] || break
        sleep 0.1
    done
    echo "$1: all ranks have ended after $((tenths / 10)).$((tenths % 10)) seconds"
    [ -z "$left" ] || fail "$1: not ended after $most seconds: $(cat log)"
    kill -KILL $left $job 2>/dev/null || :
    wait $job 2>/dev/null && fail "$1: exit code 0" || :
}

# goes_on OUT: on one machine
goes_on() {
    "$RELA" info "$(ls "$1"/checkpoints/*.rela | tail -n 1)" >/dev/null || fail "the newest checkpoint of $1"
    "$RELA" $common --out "$1"
    same whole "$1"
}

"$RELA" $common --out whole
on_machines "$RELA" $common --out undisturbed
same whole undisturbed

begin stall
ip -n $MACHINES-1 link set link-1 down
all_end "link down"
grep -q "no sign of life from rank [01] on machine-[12]" log || fail "link down: $(cat log)"
ip -n $MACHINES-1 link set link-1 up
goes_on stall

mkdir disk
mount -t tmpfs -o size=64m none disk
begin disk/run
head -c 64M /dev/zero >disk/filler 2>/dev/null || :
all_end "full disk"
grep -qi "no space left" log || fail "full disk: $(cat log)"
rm disk/filler
goes_on disk/run
finish
