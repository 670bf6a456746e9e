#!/bin/sh
# SPDX-License-Identifier: MIT
# rela bench: every part runs and writes the tables and figures it promises; zeros are those of the
# scores; bad options with exit code and message. Times are not looked at.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
few='--preset demo --rounds 2 --seconds 0 --threads 1 -q -a rela-g'

# tables DIR NAME...: exactly these tables are in the directory, each with rows as long as its head.
tables() {
    dir=$1
    shift
    n_checks=$((n_checks + 1))
    [ "$(cd "$dir" && ls ./*.tsv | sed 's|./||; s|.tsv||' | tr '\n' ' ')" = "$* " ] || fail "$dir: $(ls "$dir")"
    for name in "$@"; do
        awk -F '\t' 'NR == 1 { n = NF } NF != n { exit 1 } END { exit NR < 2 }' "$dir/$name.tsv" || fail "$dir/$name.tsv"
        grep -q "^ \"$name\": \[" "$dir/bench.json" || fail "$dir/bench.json: no $name"
    done
}

# column FILE NAME: the values of a column.
column() {
    awk -F '\t' -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i } NR > 1 { print $k }' "$1"
}

"$RELA" bench attention $few --length 20 --length 300 --out attention >text
tables attention attention peak table4 weights zeros
head -n 1 attention/attention.tsv | tr '\t' ' ' | grep -qx 'kind length scores zeros sentences heads forward_ns forward_ns_low forward_ns_high forward_share back_ns back_ns_low back_ns_high back_share forward_speed back_speed speed' ||
    fail "columns: $(head -n 1 attention/attention.tsv)"
[ "$(column attention/attention.tsv kind | tr '\n' ' ')" = 'softmax rela-g rela-g softmax rela-g rela-g ' ] || fail "kinds"
# Of softmax no weight is zero; of rela-g one half, and nine out of ten with shifted scores.
[ "$(column attention/attention.tsv zeros | awk '{ printf "%d ", $1 / 10 + 0.5 }')" = '0 5 9 0 5 9 ' ] ||
    fail "zeros: $(column attention/attention.tsv zeros | tr '\n' ' ')"
awk -F '\t' 'NR == 2 && ($2 != 4720 || $3 != 27220)' attention/table4.tsv | grep . && fail "operations"
for line in '^peak: ' '^attention: ' '^weights: ' '^table4: ' '^multiply-adds ' '^medians of 2 rounds'; do
    grep -q "$line" text || fail "no $line in $(cat text)"
done
awk -F '\t' 'NR > 1 && !($3 > 0 && $4 <= $3 && $3 <= $5)' attention/peak.tsv | grep . && fail "peak"

"$RELA" bench train $few --out train --json >json
tables train gradients peak table2 train
cmp json train/bench.json || fail "--json prints something else"
[ "$(column train/table2.tsv train_paper | tr '\n' ' ')" = '1 0.93 ' ] || fail "table 2: $(cat train/table2.tsv)"
[ "$(column train/table2.tsv decode | tr -d '\n')" = '' ] || fail "decoding was not measured"
[ "$(column train/table2.tsv params_million_paper | tr '\n' ' ')" = '72.31 72.34 ' ] || fail "table 2: $(cat train/table2.tsv)"
# Rectified attention has a gain and a gate of d values more in each of its three places.
column train/table2.tsv params_million | awk '{ n[NR] = 1e6 * $1 } END { d = n[2] - n[1]; exit !(n[1] > 1e5 && d > 0 && d % 2 < 1e-3) }' ||
    fail "parameters: $(cat train/table2.tsv)"
[ ! -e train/lengths.svg ] && [ ! -e train/attention.svg ] || fail "figures without data"

# A trained model: its sizes, and its kind with its weights.
"$RELA_SOURCE/tests/tiny_model" "$RELA" small
"$RELA" bench train --rounds 1 --seconds 0 --threads 1 -q --model small/model.rela --out trained >text
[ "$(column trained/train.tsv kind | head -n 2 | tr '\n' ' ')" = 'softmax rela-g ' ] || fail "kinds of a model"
column trained/train.tsv zeros | awk 'NR == 1 && $1 != 0 || NR == 2 && !($1 > 10 && $1 < 100) { exit 1 }' || fail "zeros of a model"
grep -q '"preset": "model"' trained/bench.json || fail "preset of a model"

"$RELA" bench translate $few --out translate >text
tables translate lengths peak products table2 translate
[ "$(cut -f 2,4,5 translate/translate.tsv | sed 1d | sort | uniq -c | tr -s ' \t\n' ' ')" = \
    "$(for form in fp32 fp32+list int8 int8+list; do printf ' 2 %s 1 1 2 %s 1 4 2 %s 32 1 2 %s 32 4' $form $form $form $form; done) " ] ||
    fail "cases: $(cat translate/translate.tsv)"
awk -F '\t' 'NR > 1 && ($2 ~ /list/ ? !($3 > 50 && $3 < 1000) : $3 != 2000)' translate/translate.tsv | grep . && fail "shortlists"
[ "$(column translate/lengths.tsv group | sort -n | tail -n 1)" = 10 ] || fail "groups"
column translate/lengths.tsv length | head -n 10 | sort -cn || fail "groups are not sorted by length"
for ending in svg png pdf; do
    [ -s translate/lengths.$ending ] && [ -s attention/attention.$ending ] || fail "no .$ending"
done
grep -q "<svg" translate/lengths.svg || fail "lengths.svg is no drawing"

# The whole is what readers of JSON expect.
python3 -c 'import json, sys
for name in sys.argv[1:]:
    with open(name) as f:
        assert json.load(f)["tables"]["peak"][0]["value"] > 0' attention/bench.json train/bench.json translate/bench.json ||
    fail "not JSON"

# The comparison with other software starts, at least: it needs their packages.
PYTHONDONTWRITEBYTECODE=1 python3 "$RELA_SOURCE/bench/peers" --help >text || fail "bench/peers --help"
grep -q '^    translate ' text || fail "bench/peers: no parts"

# Forecasts: faster with faster links, and nothing is lost on one machine.
"$RELA" bench scale --preset demo --rounds 1 --seconds 0 --threads 1 -q --out scale >text
tables scale peak scale scale_parts
n_checks=$((n_checks + 1))
awk -F '\t' 'NR > 1 && !($6 > 0 && $6 >= share[$2] && ($2 > 1 || $6 == 1)) { print } NR > 1 { share[$2] = $6 }' scale/scale.tsv |
    grep . && fail "forecast"
[ "$(column scale/scale.tsv nodes | head -n 9 | tr '\n' ' ')" = '1 2 4 8 16 32 64 128 256 ' ] || fail "nodes: $(cat scale/scale.tsv)"
[ "$(column scale/scale.tsv link_gbps | uniq | tr '\n' ' ')" = '1 10 100 ' ] || fail "links: $(cat scale/scale.tsv)"
for ending in svg png pdf; do
    [ -s scale/scale.$ending ] || fail "no scale.$ending"
done
refuses 2 "--link 'x'; expected a number of Gb/s" bench scale --link x
refuses 2 "a link of 0 Gb/s; expected 0.001..100000" bench scale --link 0
refuses 2 "cannot measure 'speed'; expected train, translate, attention, all or scale" bench speed
refuses 2 "unexpected argument 'train'" bench train train
refuses 2 "unknown kind of attention 'bogus'" bench -a bogus
refuses 2 "--length '0'; expected a number 1..65536" bench --length 0
refuses 2 "--length 'x'; expected a number 1..65536" bench --length x
refuses 2 "option --rounds: 0 is out of range; expected 1..99" bench --rounds 0
refuses 2 "option --preset: 'big' is not one of demo|tiny|base|paper" bench --preset big
refuses 2 "option --seconds: -1 is out of range" bench --seconds=-1
: >file
refuses 3 "file: " bench train --model file
refuses 1 "file: cannot be made" bench $few --out file/x
finish
