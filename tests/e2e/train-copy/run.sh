# SPDX-License-Identifier: MIT
# Copying and reversing sentences of twenty words must be learned almost perfectly within seconds.
set -eu
make_pairs() { # SEED COUNT: writes random sentences to a.src, the same reversed to a.rev
    awk -v seed="$1" -v count="$2" 'BEGIN {
        srand(seed)
        for (i = 0; i < count; i++) {
            n = 3 + int(rand() * 5)
            line = ""; back = ""
            for (j = 0; j < n; j++) {
                w = "w" int(rand() * 20)
                line = line (j ? " " : "") w
                back = w (j ? " " : "") back
            }
            print line > "a.src"
            print back > "a.rev"
        }
    }'
}
make_pairs 1 4000
mv a.src train.src && mv a.rev train.rev
make_pairs 2 200
mv a.src valid.src && mv a.rev valid.rev

for kind in softmax rela-g; do
    for task in src rev; do
        updates=500
        [ $task = rev ] && updates=1000
        "$RELA" train --quiet --preset demo --attention $kind --merges 0 --width 64 --ffn 128 \
            --enc-layers 2 --dec-layers 2 --dropout 0 --label-smoothing 0.05 --lr 3e-3 --warmup 100 --schedule linear \
            --updates $updates --batch-tokens 512 --valid-every $updates --save-every $updates --average 1 --valid-beam 2 \
            --train-src train.src --train-tgt train.$task --valid-src valid.src --valid-tgt valid.$task \
            --out run-$kind-$task --threads 2
        score=$(awk 'END { print $5 }' run-$kind-$task/valid.tsv)
        echo "$kind $task: BLEU $score"
        awk -v s="$score" 'BEGIN { exit !(s >= 99) }'
    done
done
