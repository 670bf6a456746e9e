#!/bin/sh
# SPDX-License-Identifier: MIT
# The same study through the built-in runner, make -j2, xargs -P2 and, where tests/e2e/slurm/one_node.sh can run it, a
# one-node Slurm: the same keys, manifests and results. STUDY_SEEDS: how many seeds (`make test-study`: 40, 200 jobs).
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/study.sh"
seeds=1
i=2
while [ "$i" -le "${STUDY_SEEDS:-1}" ]; do
    seeds="$seeds, $i"
    i=$((i + 1))
done
write_study whole.yml
# Without tuning: 5 jobs per seed and model pair: two trainings, three scores less.
sed "s/seeds: \[1\]/seeds: [$seeds]/; s/models: \[softmax, rela-g\]/models: [softmax]/; s/, 0.1\]/]/" whole.yml >s.yml

study run s.yml --dir built-in --jobs 2
[ "$code" -eq 0 ] || fail "built-in: exit code $code: $(cat err)"
echo "$(find built-in/results -name manifest.tsv | wc -l) jobs"

# check ENGINE
check() {
    n_checks=$((n_checks + 1))
    [ "$code" -eq 0 ] || fail "$1: exit code $code: $(tail -n 20 log)"
    same_results built-in/results "$1/results"
    diff -r -x claim.lock -x log -x time.tsv -x spent -x state built-in/jobs "$1/jobs" >difference || fail "$1: $(head -n 5 difference)"
}

study plan s.yml --dir make --format make
mv out study.mk
code=0
make -j2 -f study.mk >log 2>&1 || code=$?
check make
# Existence decides, so nothing is made again.
study plan s.yml --dir make --format make
mv out study.mk
find make/results -name manifest.tsv -exec touch -d '2001-01-01' {} +
make -f study.mk >log 2>&1 || fail "make again: $(cat log)"
grep -q started log && fail "make has run a job again: $(cat log)"

study plan s.yml --dir xargs --format xargs
mv out list
code=0
xargs -n 1 -P 2 "$RELA" study run s.yml --dir xargs --job <list >log 2>&1 || code=$?
check xargs

study plan s.yml --dir slurm --format slurm
mv out study.slurm
sh -n study.slurm || fail "the script for Slurm is no shell script"
# Its daemons take seconds to start, so `make test` leaves this out.
one_node=${STUDY_ONE_NODE:-$RELA_SOURCE/tests/e2e/slurm/one_node.sh}
if [ -z "${STUDY_SLURM:-}" ] || [ ! -f "$one_node" ]; then
    echo "partly skipped: a study by Slurm is part of 'make test-study'"
    finish
    exit
fi
. "$one_node"
reason=$(slurm_missing)
[ -n "$reason" ] || slurm_install || reason='its packages cannot be installed'
if [ -n "$reason" ]; then
    echo "partly skipped: no Slurm: $reason"
    finish
    exit
fi
trap slurm_stop EXIT INT TERM
slurm_start "$PWD/daemons" || fail "Slurm does not start: $(cat daemons/*.out)"
code=0
AT_ONCE=2 sh study.slurm --output=slurm-%A-%a.log >log 2>&1 || code=$?
slurm_is_empty() {
    [ -z "$(squeue -h)" ]
}
slurm_until 600 slurm_is_empty || fail "jobs are left: $(squeue) $(cat slurm-*.log | tail -n 20)"
cat slurm-*.log >>log
"$RELA" study run s.yml --dir slurm >>log 2>&1 || code=$?
"$RELA" study run s.yml --dir slurm >again 2>&1 || fail "after Slurm: $(cat again)"
! grep -q started again || fail "not all jobs were run by Slurm"
check slurm
finish
