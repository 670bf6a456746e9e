# SPDX-License-Identifier: MIT
# Training on several ranks writes the bytes of training on one: with any number of threads, with
# every preset, and when it goes on with another number of ranks.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks/lib.sh"
make_text
common='train --quiet --merges 20 --width 32 --dropout 0.2 --clip 0.5 --batch-tokens 256
    --report-every 5 --save-every 10 --keep 3 --train-src text --train-tgt text'
valid='--valid-src valid --valid-tgt valid --valid-every 10 --valid-beam 2'

# Dropout, R-Drop, BPE dropout and clipping; validation is divided too.
first="--preset demo --heads 2 --ffn 48 --r-drop 2 --bpe-dropout 0.1 $valid"
ranks 1 $common $first --updates 25 --threads 1 --out one
for n in 1 2 4; do
    for threads in 1 2; do
        [ "$n$threads" -ne 11 ] || continue
        ranks $n $common $first --updates 25 --threads $threads --out "run-$n-$threads"
        same one "run-$n-$threads"
    done
done
# More ranks than divide the slots, and more than there are.
ranks 3 $common $first --updates 25 --threads 1 --out run-3
same one run-3
ranks 1 $common --preset demo --gradient-slots 2 --updates 10 --threads 2 --out slots-1
ranks 3 $common --preset demo --gradient-slots 2 --updates 10 --threads 1 --out slots-3
same slots-1 slots-3
# Groups: as many as ranks, fewer, and more; a group is another sum.
groups='--preset demo --gradient-slots 8 --gradient-groups 4 --updates 10'
ranks 1 $common $groups --threads 1 --out groups-1
for shape in '1 2' '2 1' '2 2' '3 1' '4 2' '6 1'; do
    ranks ${shape% *} $common $groups --threads ${shape#* } --out "groups-$shape"
    same groups-1 "groups-$shape"
done
ranks 1 $common --preset demo --gradient-slots 8 --updates 10 --threads 2 --out no-groups
! cmp -s no-groups/model.rela groups-1/model.rela || fail "groups change nothing"

# Rank 0 alone needs the text.
cat >elsewhere <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] || cd /
exec "$RELA" "$@"
END
chmod +x elsewhere
mpirun -n 2 ./elsewhere $common $first --updates 25 --threads 1 --out "$PWD/far"
same one far

for preset in paper base tiny align; do
    layers='--enc-layers 2 --dec-layers 2 --heads 2 --ffn 48'
    [ $preset != align ] || layers=
    ranks 1 $common --preset $preset $layers --updates 10 --threads 2 --out $preset-1
    ranks 4 $common --preset $preset $layers --updates 10 --threads 1 --out $preset-4
    same $preset-1 $preset-4
done

# Resumed: 4 ranks, 1, 2. What ended between two checkpoints goes on with more updates.
ranks 4 $common $first --threads 1 --updates 10 --out moved
ranks 1 $common $first --threads 2 --updates 17 --out moved
ranks 2 $common $first --threads 1 --updates 25 --out moved
rm one/checkpoints/000010.rela moved/checkpoints/000010.rela # the latter tells of fewer --updates
same one moved
finish
