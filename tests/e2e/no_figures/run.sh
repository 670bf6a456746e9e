#!/bin/sh
# SPDX-License-Identifier: MIT
# The program without cairo: training, analysis and measurement write all they write otherwise, byte for byte,
# except figures.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
with=$RELA
without=$RELA_BUILD/tests/rela_no_figures

# run PROGRAM DIR: a model, what analyse and bench write, and the names of all files. The paths are the same for both
# programs, because models and reports repeat them.
run() {
    mkdir "$2"
    cd "$2"
    "$RELA_SOURCE/tests/tiny_model" "$1" .
    "$1" analyse -q model.rela --src corpus/test.src --tgt corpus/test.tgt --out report >/dev/null
    "$1" bench -q attention --attention rela-g --length 10 --rounds 1 --seconds 0 --preset demo --out bench >/dev/null
    find . -type f | sort >../"$2.files"
    cd ..
}
run "$with" drawn
run "$without" plain
grep -vE '\.(svg|png|pdf)$' drawn.files | diff - plain.files || fail "not the same files"
grep -q '/figures/loss\.svg$' drawn.files && grep -q '^./report/.*\.pdf$' drawn.files && grep -q '^./bench/.*\.svg$' drawn.files ||
    fail "no figures to leave out: $(cat drawn.files)"
for file in model.rela report/analysis.json report/heads.tsv; do
    cmp "drawn/$file" "plain/$file" || fail "$file differs"
done
grep -q '<p>This build draws no figures.</p>' plain/report/report.html || fail "the report does not mention it"
! grep 'draws no figures' drawn/report/report.html || fail "the report has figures"
! readelf -d "$without" | grep cairo || fail "needs cairo"
finish
