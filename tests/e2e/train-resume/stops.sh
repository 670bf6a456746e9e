#!/bin/sh
# SPDX-License-Identifier: MIT
# stops.sh RUNS [SEED]: trains RUNS times, each run stopped a few times at random by KILL, TERM, INT,
# HUP or USR1, some of them aimed at a validation or at a checkpoint that is being written. Each must
# end with the bytes of a run that was never stopped: model, best model, checkpoints, validations and
# records. Settings take turns. Needs $RELA; works in the current folder. `make test-stops` runs 100.
# shellcheck disable=SC2086 # lists of options are split
set -eu
runs=$1
random=${2:-1}

# draw N: a number below N; the generator of Park and Miller, so that a failure can be repeated.
draw() {
    random=$((random * 48271 % 2147483647))
    drawn=$((random / 7 % $1))
}

awk -f "$(dirname "$0")/../random_text.awk" >text
head -n 60 text >valid
common='train --quiet --preset demo --merges 20 --width 32 --ffn 48 --dropout 0.2 --batch-tokens 256 --updates 60 --threads 2
    --report-every 5 --valid-every 10 --valid-beam 2 --train-src text --train-tgt text --valid-src valid --valid-tgt valid'
# Stops fall between the checkpoints of most settings; the last update is no multiple of 7 or 4.
settings() {
    case $1 in
    0) echo --save-every 7 --average 3 --keep 3 ;;
    1) echo --save-every 4 --average 10 --keep 12 --bpe-dropout 0.2 ;;
    2) echo --save-every 7 --average 1 --keep 2 --bpe-dropout 0.2 --r-drop 3 ;;
    3) echo --save-every 4 --average 3 --keep 5 --r-drop 3 --loss-mean sentence --best-by loss ;;
    4) echo --save-every 7 --average 10 --keep 10 --patience 4 --best-by loss --dropout-attention 0.1 ;;
    5) echo --save-every 1 --average 3 --keep 3 --attention softmax ;;
    esac
}

number_of() { # last number of the lines of a file, from a pattern
    sed -n "s/$2/\\1/p" "$1" 2>/dev/null | tail -n 1
}
validating() {
    at=$(number_of run/train.jsonl '^{"update": \([0-9]*\),.*')
    done=$(number_of run/valid.tsv '^\([0-9]*\)	.*')
    [ $((${at:-1} % 10)) -eq 0 ] && [ "${done:-0}" != "$at" ]
}
saving() {
    for name in run/*.tmp-* run/checkpoints/*.tmp-*; do
        [ -e "$name" ] && return 0
    done
    return 1
}
recorded() {
    [ "$(cat run/train.jsonl 2>/dev/null | wc -l)" -ge "$wanted" ]
}
# aim PHASE: waits until the run is there, or has ended
aim() {
    while kill -0 $pid 2>/dev/null && ! $1; do :; done
}

# stop SIGNAL PHASE RECORDS PAUSE: starts or resumes the run, and disturbs it once when it has written so many records
stop() {
    "$RELA" $common $options --out run 2>>messages &
    pid=$!
    aim recorded
    sleep "$4"
    [ "$2" = any ] || aim "$2"
    for phase in validating saving; do
        if $phase; then eval "n_$phase=\$((n_$phase + 1))"; fi
    done
    kill -"$1" $pid 2>/dev/null && n_stops=$((n_stops + 1))
    case $1 in
    HUP | USR1) # it goes on: once more, then to the end or until it is killed
        sleep 0.1
        kill -"$1" $pid 2>/dev/null || true
        draw 2
        sleep 0.1
        [ "$drawn" -eq 0 ] || kill -KILL $pid 2>/dev/null || true
        ;;
    esac
    wait $pid || true
}

compare() {
    diff -r whole-$which/checkpoints run/checkpoints || return 1
    for name in model.rela best.rela valid.tsv; do
        cmp whole-$which/$name run/$name || return 1
    done
    cut -d, -f1-6 whole-$which/train.jsonl >whole.records # all but the speed
    cut -d, -f1-6 run/train.jsonl | cmp whole.records - || return 1
    left=$(find run -name '*.tmp-*' -o -name 'interim-*')
    [ -z "$left" ] || { echo "left over: $left"; return 1; }
}

n_same=0 n_stops=0 n_validating=0 n_saving=0 number=0
while [ $number -lt "$runs" ]; do
    which=$((number % 6))
    options=$(settings $which)
    number=$((number + 1))
    [ -d whole-$which ] || "$RELA" $common $options --out whole-$which
    rm -rf run
    story=
    draw 4
    left=$((drawn + 1))
    while [ $left -gt 0 ]; do
        left=$((left - 1))
        draw 5 && signal=$(echo KILL TERM INT HUP USR1 | cut -d ' ' -f $((drawn + 1)))
        draw 4 && phase=$(echo any any validating saving | cut -d ' ' -f $((drawn + 1)))
        draw 12 && wanted=$drawn
        draw 150 && pause=0.$(printf %03d "$drawn")
        story="$story $signal/$phase/$wanted/$pause"
        stop "$signal" "$phase" "$wanted" "$pause"
    done 2>/dev/null
    "$RELA" $common $options --out run
    if compare; then
        n_same=$((n_same + 1))
    else
        echo "run $number, settings $which ($options), stopped by$story: other bytes"
    fi
done
echo "$n_same of $runs runs end with the same bytes; $n_stops stops, $n_validating while validating, $n_saving while saving"
[ "$n_same" -eq "$runs" ]
