#!/bin/sh
# SPDX-License-Identifier: MIT
# requeue.sh RUNS [SEED]: RUNS jobs of two ranks under Slurm, at the same time, that reach their time
# limit and queue themselves again until they are done. Slurm's TERM must end training with a saved run
# each time, and each run must end with the bytes of one that was never stopped. Limits are whole
# minutes, so a job spends most of its first one waiting. Needs $RELA, $RELA_SOURCE, root; works in the
# current folder. `make test-slurm` runs ten.
# shellcheck disable=SC2034,SC2086,SC2154 # lists of options are split; variables of one file are used in the other
set -eu
runs=$1
random=${2:-1}
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/slurm/one_node.sh"
why=$(slurm_missing)
[ -z "$why" ] || { echo "skipped: $why"; exit 0; }
[ -e "${RELA%/*}/librela_mpi.so" ] || { echo 'skipped: no MPI'; exit 0; }
slurm_install || { echo "skipped: the packages $slurm_packages cannot be installed"; exit 0; }
trap slurm_stop EXIT
slurm_cpus=$((2 * runs))
slurm_start "$PWD/slurm" || { fail 'Slurm does not start'; tail -n 5 slurm/*.out slurm/*.log; finish; }
export OMPI_MCA_btl_vader_single_copy_mechanism=none RELA_MPI_TIMEOUT=60

awk -f "$RELA_SOURCE/tests/e2e/random_text.awk" >text
head -n 60 text >valid
options="train --preset demo --merges 20 --width 64 --ffn 96 --dropout 0.2 --batch-tokens 512 --updates ${UPDATES:-6000} --threads 1
    --save-every 1500 --average 2 --keep 3 --report-every 500 --valid-every 1000 --valid-beam 2
    --train-src text --train-tgt text --valid-src valid --valid-tgt valid"
"$RELA" $options --quiet --out whole

cat >job <<'END'
#!/bin/sh
#SBATCH --ntasks=2 --time=1 --requeue --open-mode=append
# sh ends at a signal only when its command has ended: it is here to queue the job again
trap : TERM
echo "restart ${SLURM_RESTART_COUNT:-0}"
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || sleep "$WAIT"
code=0
srun --mpi=pmix "$RELA" $OPTIONS --out "$RUN" || code=$?
echo "ended with $code"
[ $code -eq 0 ] || scontrol requeue "$SLURM_JOB_ID"
END

n=0
while [ $n -lt "$runs" ]; do
    n=$((n + 1))
    random=$((random * 48271 % 2147483647))
    WAIT=$((35 + random / 7 % 20)) OPTIONS=$options RUN=$PWD/run$n sbatch --parsable -J run$n -o out$n job >id$n
done
n=0 n_same=0 n_restarts=0
while [ $n -lt "$runs" ]; do
    n=$((n + 1))
    n_checks=$((n_checks + 1))
    slurm_wait "$(cat id$n)" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL' 1200 || fail "job $n does not end: $(tail -n 5 out$n)"
    restarts=$(grep -c '^restart [1-9]' out$n) || true
    n_restarts=$((n_restarts + restarts))
    [ "$restarts" -gt 0 ] || fail "job $n never reached its limit"
    good=1
    grep -q '^ended with 0$' out$n || { fail "job $n: $(slurm_state "$(cat id$n)"): $(tail -n 5 out$n)"; good=0; }
    # every end but the last saved what was done; pmix itself may print more
    [ "$(grep -c 'stopped by signal 15' out$n)" -eq "$restarts" ] || { fail "job $n: not saved: $(grep -v 'rela: ' out$n)"; good=0; }
    diff -r whole/checkpoints run$n/checkpoints || { fail "job $n: other checkpoints"; good=0; }
    for name in model.rela best.rela valid.tsv; do
        cmp whole/$name run$n/$name || { fail "job $n: another $name"; good=0; }
    done
    n_same=$((n_same + good))
done
echo "$n_same of $runs jobs end with the reference bytes, after $n_restarts restarts"
finish
