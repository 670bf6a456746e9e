# SPDX-License-Identifier: MIT
# Functions of the cases with ranks: . "$RELA_SOURCE/tests/e2e/ranks/lib.sh", after lib.sh.
# Any number of ranks on any machine, as any user; what is not of Open MPI is ignored by others.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none

if ! command -v mpirun >/dev/null || [ ! -e "${RELA%/*}/librela_mpi.so" ]; then
    echo "skipped: no MPI"
    exit 0
fi
if ldd "$RELA" | grep -qE 'lib(a|t)san'; then # MPI itself leaks, and its threads are not seen through
    echo "skipped: sanitizers"
    exit 0
fi

# ranks N ARGUMENT...: the program as N ranks; as one process for 1.
ranks() {
    number=$1
    shift
    if [ "$number" -eq 1 ]; then
        "$RELA" "$@"
    else
        mpirun -n "$number" "$RELA" "$@"
    fi
}

# Sentences of words w0 .. w49, for training and for validation.
make_text() {
    awk -f "$RELA_SOURCE/tests/e2e/random_text.awk" >text
    head -n 40 text >valid
}

# same RUN RUN: all that a run leaves, but for the speed and the threads.
same() {
    n_checks=$((n_checks + 1))
    diff -r "$1/checkpoints" "$2/checkpoints" || fail "checkpoints of $1 and $2"
    for name in model.rela best.rela valid.tsv; do
        [ ! -e "$1/$name" ] || cmp "$1/$name" "$2/$name" || fail "$name of $1 and $2"
    done
    for run in "$1" "$2"; do cut -d, -f1-6 "$run/train.jsonl" >"$run.records"; done
    cmp "$1.records" "$2.records" || fail "records of $1 and $2"
}
