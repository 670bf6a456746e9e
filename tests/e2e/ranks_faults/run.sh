# SPDX-License-Identifier: MIT
# Ranks that die, hang, run out of memory or disk, are asked to stop, or are not like the others:
# all end soon with a message that names the rank, and the run goes on as if nothing had happened.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks/lib.sh"
make_text
export RELA_MPI_TIMEOUT=3
most=30 # seconds until all have ended
common='train --quiet --preset demo --merges 20 --width 32 --heads 2 --ffn 48 --dropout 0.2 --batch-tokens 128
    --save-every 40 --keep 2 --average 1 --report-every 40 --valid-src valid --valid-tgt valid --valid-every 80 --valid-beam 1
    --train-src text --train-tgt text --threads 1'
host=$(hostname)

# Rank $FAULTY runs with what is in the variables $FAULT (settings of the environment) and $EXTRA (options).
cat >each <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
echo $$ >"pid.$rank"
if [ "$rank" = "$FAULTY" ]; then
    exec env $FAULT "$RELA" "$@" $EXTRA
fi
exec "$RELA" "$@"
END
chmod +x each
export FAULTY=none FAULT='' EXTRA=''

# ended PID: waits for it; the exit code is in $code, and it must not take long.
ended() {
    n_checks=$((n_checks + 1))
    left=$((most * 10))
    while kill -0 "$1" 2>/dev/null && [ $left -gt 0 ]; do
        sleep 0.1
        left=$((left - 1))
    done
    if [ $left -eq 0 ]; then
        fail "not ended after $most seconds: $(cat log)"
        kill -KILL "$1" $(cat pid.*)
    fi
    code=0
    wait "$1" || code=$?
}

# state: changes when a checkpoint is there that was not.
state() {
    ls run/checkpoints 2>/dev/null | tail -n 1
}

# survived SIGNAL RANK: a run of 3 ranks, of which one got the signal, has ended as it should.
survived() {
    ended $job
    [ $code -ne 0 ] || fail "$*: exit code 0"
    case $1 in
    STOP) grep -qE "no sign of life from rank $2 on $host|on $host: another rank has not started" log || fail "$*: $(cat log)" ;;
    KILL) grep -qE "rank $2 with PID|BAD TERMINATION" log || fail "$*: $(cat log)" ;;
    TERM) ls run/interim-* >/dev/null 2>&1 || fail "$*: nothing was saved: $(cat log)" ;;
    esac
    last=$(ls run/checkpoints/*.rela run/interim-*.rela 2>/dev/null | tail -n 1)
    [ -z "$last" ] || "$RELA" info "$last" >/dev/null || fail "$*: $last cannot be loaded"
}

# attack SIGNAL RANK PHASE: while ranks start, or after a checkpoint.
attack() {
    rm -f pid.*
    before=$(state)
    mpirun -n 3 ./each $common --updates 400 --out run >log 2>&1 &
    job=$!
    while kill -0 $job 2>/dev/null; do
        case $3 in
        start) [ ! -e pid.2 ] || break ;;
        training) [ "$(state)" = "$before" ] || break ;;
        esac
        sleep 0.01
    done
    kill "-$1" "$(cat "pid.$2")" 2>/dev/null || fail "$*: the run had ended"
    survived "$@"
}

# attack_file SIGNAL NAME CALL: to rank 0, at this file call: it reads text, writes logs or saves.
attack_file() {
    FAULTY=0 FAULT="RELA_FAULT=signal$1:$3"
    mpirun -n 3 ./each $common --updates 400 --out run >log 2>&1 &
    job=$!
    survived "$2" 0 "file call $3"
    FAULTY=none FAULT=
}

ranks 1 $common --updates 400 --out whole
attack KILL 1 start
attack KILL 2 training
attack STOP 0 training
attack TERM 1 training
attack STOP 2 start
for call in 40 90 140; do
    attack_file 9 KILL $call
done
attack_file 19 STOP 120
ranks 2 $common --updates 400 --out run
same whole run

# refused MESSAGE [LINES]: a run of two ranks, with the fault of one, ends with this message.
refused() {
    rm -rf other
    mpirun -n 2 ./each $common --updates 200 --out other >log 2>&1 &
    ended $!
    [ $code -ne 0 ] || fail "$1: exit code 0"
    grep -q "$1" log || fail "expected '$1', got: $(cat log)"
    [ "$(grep -c '^rela' log)" -eq "${2:-1}" ] || fail "$1: not ${2:-one} line: $(cat log)"
}
FAULTY=1
EXTRA='--lr 0.5'
refused "^rela train: rank 1 on $host: lr is 0.5, but .* on rank 0 ($host)"
EXTRA='' FAULT='RELA_ISA=portable'
[ "$("$RELA_BUILD/tests/levels" usable | wc -l)" -eq 1 ] ||
    refused "rank 1 on $host: instruction set (RELA_ISA limits it) is portable, but"
FAULT='RELA_FAULT=mem:600+'
refused "rank 1 on $host: .*memory"
FAULTY=0 FAULT='RELA_FAULT=file:100+'
refused 'No space\|Input/output\|Too many open files' # whichever call is number 100
FAULT='RELA_MPI_TIMEOUT=soon'
refused "RELA_MPI_TIMEOUT is 'soon'"
FAULTY=none FAULT=
RELA_MPI_MODULE=/nowhere.so
export RELA_MPI_MODULE
refused 'the module for MPI cannot be loaded' 2
finish
