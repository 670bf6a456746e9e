#!/bin/sh
# SPDX-License-Identifier: MIT
# --max-time: a run ends by then with a finished model and a learning rate that has fallen, also if it is stopped and
# resumed in between; there is a forecast. Without --preset the size of the text decides, and a resumed run keeps what
# was decided. Mistakes about time have one line.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --level easy --size 300 --valid 20 --test 1 --seed 5 --out c >/dev/null
text='--train-src c/train.src --train-tgt c/train.tgt'
valid='--valid-src c/valid.src --valid-tgt c/valid.tgt --valid-beam 1'
small='train --preset demo --width 16 --ffn 16 --heads 2 --enc-layers 1 --dec-layers 1 --merges 0 --batch-tokens 200 --report-every 1 --valid-every 1000'

# rates RUN: the largest learning rate, and the last one in hundredths of it
rates() {
    sed -n 's/.*"lr": \([^,]*\),.*/\1/p' "$1/train.jsonl" |
        awk '{ if ($1 > peak) peak = $1; last = $1 } END { printf "%.4f %d\n", peak, 100 * last / peak }'
}
seconds() {
    date +%s
}

# A forecast needs twenty seconds of training; its end is looked at last.
"$RELA" $small $text $valid --quiet --threads 1 --max-time 35 --out said 2>said.err &
said=$!

n_checks=$((n_checks + 3))
before=$(seconds)
"$RELA" $small $text $valid --max-time 5 --out run >out 2>err || fail "--max-time 5: $(cat err)"
took=$(($(seconds) - before))
[ $took -le 30 ] || fail "--max-time 5 took $took s"
grep -q ' the model is run/model.rela: ' run/train.log || fail "no model: $(cat run/train.log)"
rates=$(rates run) # in so short a run a pause of the machine may cut the fall; its shape is in test_time_plan
[ "${rates#* }" -le 75 ] || fail "the rate ends at ${rates#* } % of ${rates% *}"
grep -q '^max-time: 5$' run/config.yml || fail "config.yml: $(grep max-time run/config.yml)"
accepts $small $text $valid --quiet --max-time 5s --out run # already done

# Stopped after a while and resumed: the time before the stop counts.
n_checks=$((n_checks + 2))
before=$(seconds)
"$RELA" $small $text $valid --quiet --max-time 6 --out halves 2>err &
pid=$!
sleep 2
kill -TERM $pid
wait $pid || [ $? -eq 143 ] || fail "TERM: $(cat err)"
"$RELA" $small $text $valid --quiet --max-time 6 --out halves 2>err || fail "resumed: $(cat err)"
took=$(($(seconds) - before))
[ $took -le 30 ] || fail "two halves of --max-time 6 took $took s"
grep -q 'the model is' halves/train.log || fail "no model: $(cat halves/train.log)"

# Without a preset.
accepts train --quiet $text --updates 2 --width 16 --ffn 16 --heads 2 --batch-tokens 200 --out own
grep -qx 'preset: "demo"' own/config.yml || fail "preset for 300 lines: $(head -n 1 own/config.yml)"
accepts train --quiet $text --updates 3 --width 16 --ffn 16 --heads 2 --batch-tokens 200 --out own
for side in src tgt; do
    : >many.$side
    for copy in $(seq 17); do
        [ -n "$copy" ] && cat c/train.$side >>many.$side
    done
done
"$RELA" train --train-src many.src --train-tgt many.tgt --show-config >out
grep -qx 'preset: "tiny"' out && grep -qx 'max-time: 14400' out || fail "5,100 lines: $(grep 'preset\|max-time' out)"
"$RELA" train --train-src many.src --train-tgt many.tgt --max-time 10m --show-config >out
grep -qx 'preset: "demo"' out && grep -qx 'max-time: 600' out || fail "in 10 minutes: $(grep 'preset\|max-time' out)"
"$RELA" train --preset tiny --show-config >out
grep -qx 'max-time: 0' out && grep -qx 'updates: 8000' out || fail "preset tiny: $(grep 'updates\|max-time' out)"

# Mistakes.
time='is not a time like 20m, 2h, 1h30m, 90s or 90 (seconds)'
for value in '2 hours' 20x -5 1m1h ''; do
    refuses 2 "option --max-time: '$value' $time" train $text --max-time "$value" --out x
done
refuses 2 'option --max-time: 3s is too short to train in; expected 5 seconds or more' train $text --max-time 3s --out x
refuses 2 'option --max-time: 5000d is more than 1000 days' train $text --max-time 5000d --out x
refuses 2 'unknown option --time; did you mean --max-time?' train $text --time 2h --out x
refuses 2 'unknown option --max-updates; did you mean --updates?' train $text --max-updates 9 --out x
refuses 2 'encoder and decoder have their own: --enc-layers N --dec-layers N' train $text --layers 2 --out x
refuses 2 'unknown option --embed-dim; did you mean --width?' train $text --embed-dim 9 --out x
refuses 2 'this program computes on processors only' train $text --gpu 0 --out x
refuses 2 "did you mean 'translate'?" predict
[ ! -e x ] || fail "a refused run leaves a folder"

n_checks=$((n_checks + 2))
wait $said || fail "--max-time 35: $(cat said.err)"
grep -Eq ' forecast: [0-9,]+ updates, done in [0-9]+ s, at [0-9-]{10}T[0-9:]{8}Z; [0-9.]+ MB of memory, up to [0-9.]+ MB on disk$' said/train.log ||
    fail "no forecast: $(cat said/train.log)"
left=$(sed -n 's/.* forecast: .* done in \([0-9]*\) s, .*/\1/p' said/train.log | head -n 1)
[ "$left" -le 15 ] || fail "forecast of $left s after 20 of 35"
finish
