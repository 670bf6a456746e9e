# SPDX-License-Identifier: MIT
# A run that is killed and stopped again and again must end with the same bytes as one that was
# never disturbed: dropout on, in the middle of epochs, inside and between saves.
set -eu
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 1500; i++) {
        n = 2 + int(rand() * 8)
        line = ""
        for (j = 0; j < n; j++)
            line = line (j ? " " : "") "w" int(rand() * 50)
        print line
    }
}' >text.src
set -- train --quiet --preset demo --attention rela-g --merges 20 --width 32 --ffn 48 --dropout 0.2 \
    --batch-tokens 256 --save-every 7 --keep 2 --average 1 --report-every 5 \
    --train-src text.src --train-tgt text.src --threads 2

# disturb KILLS OPTIONS: a run in one go and one in pieces
disturb() {
    kills=$1
    shift
    rm -rf whole pieces
    "$RELA" "$@" --updates 120 --out whole
    try=0
    while [ "$try" -lt "$kills" ]; do
        try=$((try + 1))
        "$RELA" "$@" --updates 120 --out pieces &
        pid=$!
        sleep "0.$((try * 37 % 90 + 10))"
        if [ $((try % 2)) -eq 0 ]; then kill -KILL $pid || true; else kill -TERM $pid || true; fi
        wait $pid || true
    done 2>/dev/null
    mkdir -p pieces/figures # killed while it wrote other files than checkpoints
    for name in config.yml train.jsonl figures/loss.svg checkpoints/000007.rela; do
        : >"pieces/$name.tmp-123-0"
    done
    : >pieces/mine.tmp-notes
    "$RELA" "$@" --updates 120 --out pieces
    [ -e pieces/mine.tmp-notes ] || { echo "a file of the user was removed"; exit 1; }
    rm pieces/mine.tmp-notes
    cmp whole/checkpoints/000120.rela pieces/checkpoints/000120.rela
    cmp whole/model.rela pieces/model.rela
    # The records must be the same too, but for the speed; none twice, none missing.
    cut -d, -f1-6 whole/train.jsonl >whole.records
    cut -d, -f1-6 pieces/train.jsonl >pieces.records
    cmp whole.records pieces.records
    left=$(find pieces -name '*.tmp-*')
    [ -z "$left" ] || { echo "left over: $left"; exit 1; }
    echo "resumed $kills times, same bytes"
}

disturb "${RELA_KILLS:-8}" "$@"
cp whole/checkpoints/000120.rela plain.rela
disturb "${RELA_KILLS:-4}" "$@" --bpe-dropout 0.2 # other pieces in each epoch
if cmp -s whole/checkpoints/000120.rela plain.rela; then
    echo "BPE dropout changes nothing"
    exit 1
fi
cp whole/checkpoints/000120.rela plain.rela
disturb "${RELA_KILLS:-4}" "$@" --bpe-dropout 0.2 --r-drop 3 # two draws of dropout
if cmp -s whole/checkpoints/000120.rela plain.rela; then
    echo "R-Drop changes nothing"
    exit 1
fi
set -- "$@" --bpe-dropout 0.2
# A second trainer on the same run is refused, other settings and other text too.
"$RELA" "$@" --out pieces --updates 100000 &
pid=$!
tries=300 # until it is at work, which on a busy machine may take more than a moment
while [ "$(wc -l <pieces/train.jsonl)" -le "$(wc -l <whole/train.jsonl)" ] && [ $tries -gt 0 ]; do
    sleep 0.1
    tries=$((tries - 1))
done
code=0
"$RELA" "$@" --out pieces 2>message || code=$?
kill -TERM $pid
wait $pid || [ $? -eq 143 ]
[ $code -eq 1 ] && grep -q "in use by process $pid" message
code=0
"$RELA" "$@" --out pieces --lr 0.5 2>message || code=$?
[ $code -eq 1 ] && grep -q "lr: 0.5" message
sed -i 1d text.src
code=0
"$RELA" "$@" --out pieces 2>message || code=$?
[ $code -eq 1 ] && grep -q "not the one this run was started with" message
