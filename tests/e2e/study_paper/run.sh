# SPDX-License-Identifier: MIT
# studies/paper.yml at scale minutes, with trainings of a few updates: every table and figure is filled, every claim is
# judged, the report is self-contained and the same bytes again, also from the small results alone.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# What the study says of itself; relative paths are those of the source.
ln -s "$RELA_SOURCE/studies" studies
short="--set size=300 --set lines=48 --set updates=12 --set warmup=4 --set cool=4 --set tuning=4 --set tuning-cool=1
    --set every=6 --set save=2 --set seconds=0.001 --set samples=100"
study() {
    command=$1
    shift
    # shellcheck disable=SC2086 # several words
    "$RELA" study "$command" studies/paper.yml --scale minutes $short "$@"
}
study run --dir work --jobs 2 >run.log 2>&1 || fail "$(tail -n 5 run.log)"

study report --dir work --out first >out || fail "no report"
[ "$(cat out)" = first/report.html ] || fail "path: $(cat out)"
grep -q 'Not run' first/report.html && fail "a figure is missing"
if cut -f 12 first/report.tsv | grep -q 'not run\|failed'; then
    fail "not filled: $(grep 'not run\|failed' first/report.tsv | head -n 3)"
fi
claims=$(grep -c '^  - {claim:' studies/paper.yml)
[ "$(grep -c '^claim-' first/report.tsv)" -eq "$claims" ] || fail "not $claims claims"
for id in table-1 table-2 table-3 table-4 table-5 table-6 figure-2 figure-3 figure-4 figure-5 figure-6 figures-7-to-9 \
    parts-of-speech ranking; do
    grep -q "<section id=\"$id\">" first/report.html || fail "no $id"
done

# One file: nothing is loaded from elsewhere.
grep -Eq '(src|href)="[^#]' first/report.html && fail "the report needs other files"
grep -q 'url(' first/report.html && fail "the styles need other files"

# The same bytes again, and from the results alone, without the work folder.
study report --dir work --out second >/dev/null
cmp first/report.html second/report.html && cmp first/report.tsv second/report.tsv && cmp first/report.json second/report.json ||
    fail "another report from the same results"
study report --dir nowhere --results work/results --out third --no-timings --without-text >/dev/null
study report --dir work --out fourth --no-timings --without-text >/dev/null
cmp third/report.html fourth/report.html || fail "the work folder changes the report"
grep -q 'train-speed\|id="table-2"' third/report.html && fail "timings are left"
finish
