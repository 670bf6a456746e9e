#!/bin/sh
# SPDX-License-Identifier: MIT
# The scripts of make demo and make demo-model, and the commands of the README, run to their ends, on little text and with
# few updates.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# ends TEXT COMMAND...: succeeds, and prints the text
ends() {
    text=$1
    shift
    n_checks=$((n_checks + 1))
    "$@" >out 2>err </dev/null || fail "$*: $(tail -n 3 err)"
    grep -qF -- "$text" out || fail "$*: no '$text' in: $(tail -n 5 out)"
}
DEMO_SIZE=2000 DEMO_UPDATES=20
export DEMO_SIZE DEMO_UPDATES
ends "Open the report on its attention: run/report/report.html" "$RELA_SOURCE/demo/run.sh" "$RELA" run
for text in 'of 500 match the reference word for word' 'rela-g on the left, softmax on the right' 'rows that are empty' 'AER of links read off cross attention, first layer' \
    'the same, last layer' 'softmax   ahead' 'One training each' \
    "Talk to it: $RELA translate run/rela/model.rela" 'No prompt, because'; do
    grep -qF "$text" out || fail "no '$text' in the demo"
done
[ -s run/report/report.html ] || fail "no report"
grep -q '<b>softmax</b> (en to de): simplified English to German.*; BLEU [0-9.]* on 500 unseen sentences' run/report/report.html || fail "models of the report"
grep -q 'Cross attention of layer 2 on line ' run/report/report.html || fail "maps of another layer"
# Which one is ahead is worked out, also where it is softmax.
awk '/^  (BLEU|the same, last layer|  the same)/ { if ($(NF) == "softmax" || $(NF) == "rela-g") { a = $(NF - 2); b = $(NF - 1) } else next
    if (($NF == "rela-g") != (/BLEU/ ? a > b : a < b)) print }' out | grep . && fail "ahead: $(grep BLEU out)"
for kind in rela softmax; do # curves, not single dots
    [ "$(grep -c '^[0-9]' run/$kind/valid.tsv)" -eq 5 ] || fail "$kind: $(cat run/$kind/valid.tsv)"
done
mkdir build
ends "bytes, BLEU" "$RELA_SOURCE/demo/install-model.sh" "$RELA" build
bytes=$(wc -c <build/demo.rela) # does not depend on the length of training
[ "$bytes" -ge 2000000 ] && [ "$bytes" -le 3000000 ] || fail "a demo model of $bytes bytes"
# A larger model is refused, and nothing is left to install.
mkdir large
sed 's/--width 96/--width 128/; s/--size 200000/--size 20000/' "$RELA_SOURCE/demo/install-model.sh" >large/install-model.sh
cp "$RELA_SOURCE/demo/model.sh" large
! sh large/install-model.sh "$RELA" large >out 2>err || fail "a large model is taken"
grep -q 'bytes; a demo model may have 3000000' err && [ ! -e large/demo.rela ] || fail "a large model: $(tail -n 2 err)"
rela info build/demo.rela | grep -q '^  licence *MIT' || fail "no card"

# The commands of the README for one's own text, in a folder of their own.
sed -n '/^## Your own text/,/^## /{ /^```sh$/,/^```$/{ /```/d; p; }; }' "$RELA_SOURCE/README.md" >commands
[ "$(grep -c '^rela' commands)" -eq 8 ] || fail "README: $(grep -c '^rela' commands) commands"
sed -i 's/--size 20K/--size 2000/; s/--preset demo/--quiet --updates 20 &/; s/align --tokenise/align --quiet --updates 20 --tokenise/' commands
mkdir own bin
ln -s "$RELA" bin/rela
(cd own && PATH=$PWD/../bin:$PATH sh -eu ../commands >out 2>err) || fail "README: $(tail -n 3 own/err)"
for file in test.out train.links test.links clean.src; do
    [ -s "own/$file" ] || fail "README: $file is empty"
done
finish
