# SPDX-License-Identifier: MIT
# Commands on files: several ranks write what one process writes, and so does a job that goes on after it was
# ended. jobs.sh has what both tests of jobs share.
# shellcheck disable=SC2086,SC2046,SC2034,SC2154 # lists of options are split; variables of one file are used in the other
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks_jobs/jobs.sh"
make_jobs

# Every command, and again with more options.
for job in $jobs; do
    as_one '2 3' $job
done
as_one 2 translate --n-best 3 --json --threads 2
as_one 2 translate --sampling full --seed 5 --scores
as_one 2 score --json --word-scores
as_one 2 align --best-on gold --reverse run/model.rela --threads 2
as_one 2 align --soft --layer 1 --head 2 --json
as_one 2 filter --by null --keep 0.5
as_one 2 filter --calibrate 50 --duplicates source --json
as_one 2 analyse --gold gold --tags tags --dump out/all.npz --skip-end --compare run/other.rela --threads 2

# Text that is less than a block, none, compressed, without a line end, with carriage returns and a byte order mark.
cp in in.all
cp in.2 in.2.all
for form in short empty coded windows; do
    case $form in
    short) head -n 3 in.all >in && head -n 3 in.2.all >in.2 ;;
    empty) : >in && : >in.2 ;;
    coded) gzip -c in.all >in && cp in.2.all in.2 ;;
    windows) { printf '\357\273\277' && sed 's/$/\r/; 5s/$/\r/' in.all; } >in && printf %s "$(cat in.2.all)" >in.2 ;;
    esac
    for job in $jobs; do
        case $form:$job in empty:analyse | empty:filter | short:filter | short:analyse | coded:score | windows:analyse) ;; *) as_one 3 $job ;; esac
    done
done
mv in.all in
mv in.2.all in.2

# refused CODE MESSAGE ARGUMENT...: two ranks, one message, which has that of one process in it.
refused() {
    n_checks=$((n_checks + 1))
    want=$1 message=$2
    shift 2
    code=0
    ranks 2 "$@" >log.out 2>log </dev/null || code=$?
    [ $code -eq "$want" ] || fail "rela $*: exit code $code, expected $want"
    [ "$(grep -c '^rela' log)" -eq 1 ] && grep -qF -- "$message" log || fail "rela $*: $(cat log)"
}
refused 2 'input: standard input cannot be used: every rank reads its part of a file' translate $model
refused 2 'tgt: standard input cannot be used' score $model --src in --tgt -
refused 3 'run/config.yml' translate run/config.yml -i in
refused 2 "'rela align SRC TGT --save MODEL'" align in in.2
refused 2 '--show' align $model in in.2 --show 3
# mpirun ends rank 0, perhaps before its message, once another rank has failed: only rank 0 returns the exit code.
# The shells around the ranks return 0, or mpirun would end them before all have written what rela returned.
n_checks=$((n_checks + 1))
mpirun -n 3 sh -c 'code=0; "$@" || code=$?
    echo "$code" >"code.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"' rank "$RELA" translate run/config.yml -i in >log 2>&1 || true
[ "$(cat code.*)" = "3
0
0" ] || fail "exit codes of the ranks: $(cat code.*); $(cat log)"
# One side is shorter: the message of one process, and the lines before.
mv in.2 in.long
head -n 299 in.long >in.2
for job in score align filter analyse; do
    code=0
    run_job 1 $job -q >alone 2>alone.err || code=$?
    refused $code "$(sed -n 's/^rela [a-z]*: //p' alone.err)" $(command_of $job -q)
    cmp alone log.out || fail "$job: lines before the failure"
done
mv in.long in.2

# A record is for the same job only; what differs is named with both values.
find_calls score
# Threads read ahead, so the call by which half of it is done varies.
at=$(((first + last) / 2)) bytes=0
while [ $at -lt $last ] && [ $bytes -le 2000 ]; do
    rm -f record
    at_call signal9:$at run_job 1 score --resume record >/dev/null 2>&1 || true
    [ ! -e record ] || bytes=$(wc -c <record)
    at=$((at + 4))
done
[ $bytes -gt 2000 ] || fail "no record"
differs() { # MESSAGE ARGUMENT...
    cp record before
    refuses 1 "$@" --resume record
    cmp -s record before || fail "a record was changed: $*"
}
score="score $model --src in --tgt in.2 --read-bytes 500"
differs 'normalize is true, but false in the job that record began' $score --normalize
differs 'argument 1 is' score run/other.rela --src in --tgt in.2 --read-bytes 500
differs 'read-bytes is 600, but 500 in the job' score $model --src in --tgt in.2 --read-bytes 600
differs 'command is translate, but score in the job' translate $model -i in
sed 's/w1/w2/' in >in.changed
differs 'src is 6160 bytes' score $model --src in.changed --tgt in.2 --read-bytes 500
differs ' bytes with hash ' score $model --src in.changed --tgt in.2 --read-bytes 500
export RELA_ISA=portable
differs 'instruction set' $score
unset RELA_ISA
refuses 2 'src: standard input cannot be used: --resume reads the text again' score $model --src - --tgt in --resume record
refuses 2 '--output and --resume are the same file' $score --resume record -o record
cp in foreign
refuses 1 'foreign: not the record of a job, so it is left alone' $score --resume foreign
cmp in foreign || fail "a foreign file was changed"
mkfifo pipe
refuses 1 'pipe: not a regular file' $score --resume pipe
# With the same text under another name, to another place, on other threads and ranks it goes on.
cp in in.moved
ranks 2 score $model --src in.moved --tgt in.2 --read-bytes 500 --threads 2 --resume record -o moved 2>moved.err
grep -q 'record: results of [0-9]* lines are there: going on' moved.err || fail "$(cat moved.err)"
"$RELA" $score >alone 2>/dev/null
cmp alone moved || fail "a job that goes on elsewhere"
[ ! -e record ] || fail "a record is left"

# Ended and resumed: at file calls all over, and at any time.
seed=1
for job in translate score align filter; do
    stop_and_resume $job 2
done
stop_and_resume analyse 1
[ $n_records -gt 3 ] || fail "only $n_records jobs were ended while they had a record"
finish
