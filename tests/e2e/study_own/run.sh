# SPDX-License-Identifier: MIT
# The study of studies/README.md runs as it stands, but for the length of its trainings, and its report has a verdict.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

awk '/^```yaml$/ { on = 1; next } /^```$/ { on = 0 } on' "$RELA_SOURCE/studies/README.md" >whole.yml
[ "$(wc -l <whole.yml)" -eq 10 ] || fail "the study of the README has not ten lines"
sed 's/updates: 4000, cool-down: 1000/updates: 8, cool-down: 2, valid-beam: 1, valid-every: 2/; s/updates: 1000/updates: 4/
    s/cool-down: 250/cool-down: 1/; s/seeds: \[1, 2, 3\]/seeds: [1, 2]/' whole.yml >own.yml

"$RELA" corpus --level easy --size 200 --valid 20 --test 30 --out toy -q >/dev/null
for set in train valid test; do
    cp toy/$set.src $set.en
    cp toy/$set.tgt $set.de
done
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on && /own.yml/' "$RELA_SOURCE/studies/README.md" |
    sed "s|^rela |\"$RELA\" |" >commands.sh
[ "$(wc -l <commands.sh)" -eq 2 ] || fail "the README has other commands"
sh -eu commands.sh >out 2>err || fail "$(tail -n 3 err)"

report=$(tail -n 1 out)
[ -f "$report" ] || fail "no report: $report"
grep -q 'class="answer"' "$report" || fail "no answer"
grep -q 'Each kind with its own tuned settings; 2 seeds of each' "$report" || fail "the answer: $(grep 'seeds of each' "$report")"
grep -q 'rela-g' "$report" || fail "no models"
# Two models, two seeds: the interval is over both, and the claim has one of the three verdicts.
table=${report%.html}.tsv
grep -q "^own	rela-g	bleu	" "$table" || fail "no score in $table"
grep -Eq "^claim-1	.*	(holds|does not hold|cannot be told at this scale)	" "$table" || fail "no verdict: $(grep ^claim "$table")"
finish
