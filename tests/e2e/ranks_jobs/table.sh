# SPDX-License-Identifier: MIT
# table.sh STOPS [SEED]: jobs of all five commands are ended at random moments, STOPS times in all: one process, a rank or
# mpirun, by KILL or TERM, and go on by any number of ranks. Each must write what a job writes that was never ended. Needs
# $RELA and $RELA_SOURCE; works in the current folder. `make test-jobs` ends 40.
# shellcheck disable=SC2086,SC2046,SC2034,SC2154 # lists of options are split; variables of one file are used in the other
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks_jobs/jobs.sh"
stops=$1
seed=${2:-1}
make_jobs
for file in in in.2; do # enough for a second or two
    for copy in 1 2 3 4 5 6 7 8 9 10; do sed "s/w$copy\$/w${copy}0/" $file; done >longer
    mv longer $file
done

# end_job SIGNAL RANKS JOB PAUSE: starts a job, or goes on with it, and ends it after so many milliseconds
end_job() {
    mkdir -p out
    if [ "$2" -eq 1 ]; then
        "$RELA" $(command_of $3 -q --resume record) >/dev/null 2>&1 &
    else
        mpirun -n "$2" "$RELA" $(command_of $3 -q --resume record) >/dev/null 2>&1 &
    fi
    pid=$!
    sleep "$(printf '%d.%03d' $(($4 / 1000)) $(($4 % 1000)))"
    draw 3
    target=$pid
    if [ "$2" -gt 1 ] && [ "$drawn" -gt 0 ]; then # a rank
        target=$(pgrep -P $pid | sed -n "${drawn}p")
    fi
    if kill -"$1" ${target:-$pid} 2>/dev/null; then n_ended=$((n_ended + 1)); fi
    wait $pid || true
}

n_ended=0 n_same=0 n_jobs=0 n_going_on=0
while [ $n_ended -lt "$stops" ]; do
    for job in $jobs; do
        n_jobs=$((n_jobs + 1))
        [ -d whole-$job ] || { start=$(date +%s%N) && writes 1 whole-$job $job -q && eval "took_$job=$((($(date +%s%N) - start) / 1000000))"; }
        eval "took=\$took_$job"
        rm -rf out record
        story=
        draw 3
        left=$((drawn + 1))
        while [ $left -gt 0 ]; do
            left=$((left - 1))
            draw 2 && signal=$([ "$drawn" -eq 0 ] && echo KILL || echo TERM)
            draw 3 && n=$((drawn + 1))
            draw $((took + 300)) && pause=$drawn
            [ $n -eq 1 ] || pause=$((pause + 300)) # mpirun starts slowly
            story="$story $n ranks by $signal after $pause ms;"
            end_job $signal $n $job $pause
        done
        [ ! -e record ] || n_going_on=$((n_going_on + 1))
        find . -name '*.tmp-*' -exec rm {} +
        draw 3 && n=$((drawn + 1))
        n_checks=$((n_checks + 1))
        writes $n resumed $job '-q --resume record'
        grep -v 'are there: going on' resumed/messages >quiet || true
        mv quiet resumed/messages
        if diff -r whole-$job resumed >difference && [ ! -e record ]; then
            n_same=$((n_same + 1))
        else
            fail "$job ended:$story resumed by $n ranks: $(head -c 1000 difference)"
        fi
    done
done
echo "$n_same of $n_jobs jobs write the same bytes; ended $n_ended times, $n_going_on went on from a record"
finish
