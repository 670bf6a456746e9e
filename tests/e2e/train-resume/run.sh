# SPDX-License-Identifier: MIT
# A run that is stopped again and again must end with the same bytes as one that was never
# disturbed, and nothing may disturb it: other trainers, settings or text.
set -eu
sh "$RELA_SOURCE/tests/e2e/train-resume/stops.sh" "${RELA_KILLS:-3}"
set -- train --quiet --preset demo --attention rela-g --merges 20 --width 32 --ffn 48 --dropout 0.2 \
    --batch-tokens 256 --keep 3 --average 3 --report-every 5 --train-src text --train-tgt text --threads 2

# expect_same RUN RUN: but for the speed, and the settings in models of runs that were longer
expect_same() {
    diff -r "$1/checkpoints" "$2/checkpoints"
    cmp "$1/model.rela" "$2/model.rela"
    for run in "$1" "$2"; do cut -d, -f1-6 "$run/train.jsonl" >"$run.records"; done
    cmp "$1.records" "$2.records"
}

# What a signal saves is no part of the result: there is one regular checkpoint, that of the end.
"$RELA" "$@" --updates 200 --save-every 1000 --out once
for signal in USR1 TERM INT HUP; do
    lines=$(cat stopped/train.jsonl 2>/dev/null | wc -l)
    before=$(echo stopped/interim-*)
    "$RELA" "$@" --updates 200 --save-every 1000 --out stopped &
    pid=$!
    while kill -0 $pid && [ "$(cat stopped/train.jsonl | wc -l)" -le "$lines" ]; do sleep 0.01; done 2>/dev/null
    kill -$signal $pid
    while kill -0 $pid && [ "$(echo stopped/interim-*)" = "$before" ]; do sleep 0.01; done 2>/dev/null
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    [ "$(echo stopped/interim-*)" != "$before" ] || { echo "$signal saves nothing"; exit 1; }
done
"$RELA" "$@" --updates 200 --save-every 1000 --out stopped
expect_same once stopped
set -- "$@" --save-every 7

# Ended between two checkpoints, then made longer, twice; files of a process that was killed while
# it wrote are in the way.
"$RELA" "$@" --updates 40 --out whole
"$RELA" "$@" --updates 25 --out longer
[ -e longer/checkpoints/000025.rela ]
"$RELA" "$@" --updates 26 --out longer
mkdir -p longer/figures
for name in config.yml train.jsonl figures/loss.svg interim-000030.rela checkpoints/000007.rela; do
    : >"longer/$name.tmp-123-0"
done
: >longer/mine.tmp-notes
"$RELA" "$@" --updates 40 --out longer
[ -e longer/mine.tmp-notes ] || { echo "a file of the user was removed"; exit 1; }
left=$(find longer -name '*.tmp-*' ! -name mine.tmp-notes -o -name 'interim-*')
[ -z "$left" ] || { echo "left over: $left"; exit 1; }
expect_same whole longer

# Both kinds of dropout change something.
"$RELA" "$@" --updates 10 --out plain
"$RELA" "$@" --updates 10 --bpe-dropout 0.2 --out bpe
"$RELA" "$@" --updates 10 --bpe-dropout 0.2 --r-drop 3 --out rdrop
for pair in 'plain bpe' 'bpe rdrop'; do
    if cmp -s "${pair% *}/model.rela" "${pair#* }/model.rela"; then
        echo "$pair: the same model"
        exit 1
    fi
done

# A second trainer on the same run is refused, other settings and other text too.
"$RELA" "$@" --out longer --updates 100000 &
pid=$!
tries=300 # until it is at work, which on a busy machine may take more than a moment
while [ "$(wc -l <longer/train.jsonl)" -le "$(wc -l <whole/train.jsonl)" ] && [ $tries -gt 0 ]; do
    sleep 0.1
    tries=$((tries - 1))
done
code=0
"$RELA" "$@" --out longer 2>message || code=$?
kill -TERM $pid
wait $pid || [ $? -eq 143 ]
[ $code -eq 1 ] && grep -q "in use by process $pid" message
code=0
"$RELA" "$@" --out longer --lr 0.5 2>message || code=$?
[ $code -eq 1 ] && grep -q "now 0.5" message
sed -i 1d text
code=0
"$RELA" "$@" --out longer 2>message || code=$?
[ $code -eq 1 ] && grep -q "not the one this run was started with" message
