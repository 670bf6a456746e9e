#!/bin/sh
# SPDX-License-Identifier: MIT
# A study is run once, its results are checked, a flipped bit is found, a lost model is made again, a job that fails stops
# only what needs it.
# shellcheck disable=SC2154 # code is set by study of study.sh
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/study.sh"
write_study s.yml

study plan s.yml --dir w
[ "$(grep -c 'never run' out)" -eq 14 ] || fail "not 14 jobs are planned: $(cat out)"
grep -q 'train/toy/rela-g/1 .*never run; waits for choose/rela-g' out || fail "no reason: $(cat out)"
grep -q '^14 of 14 jobs to run: .* of one core, up to .* of memory per job, .* of disk (forecast from ' out || fail "no forecast: $(tail -n 1 out)"
[ ! -e w ] || fail "a plan has made a folder"

# ---- one job, with what it needs ----
study run s.yml --dir w --job tune/softmax/1
[ "$code" -eq 0 ] || fail "one job: exit code $code: $(cat err)"
study status s.yml --dir w
grep -q '^14 jobs: 2 done, ' out || fail "not two jobs are done: $(cat out)"
study run s.yml --dir w --next
[ "$code" -eq 0 ] || fail "the next job: exit code $code: $(cat err)"

# ---- all, once ----
study run s.yml --dir w --jobs 2
[ "$code" -eq 0 ] || fail "exit code $code: $(cat err)"
tail -n 1 err | grep -q '14 of 14 jobs are done' || fail "not all are done: $(cat err)"
study run s.yml --dir w
[ "$code" -eq 0 ] || fail "again: exit code $code"
grep -q started err && fail "a job was run twice: $(cat err)"
study run s.yml --dir w --next
[ "$code" -eq 1 ] || fail "--next without a job left: exit code $code, expected 1"
study plan s.yml --dir w
[ "$(cat out)" = '0 of 14 jobs to run' ] || fail "plan of a study that is done: $(cat out)"
study status s.yml --dir w --format tsv
[ "$(grep -c '	done	' out)" -eq 14 ] || fail "TSV: $(cat out)"
[ "$(find w/results -name manifest.tsv | wc -l)" -eq 14 ] || fail "not 14 manifests"
[ "$(wc -l <w/results/ledger.tsv)" -eq 3 ] || fail "the ledger has not two readings of test text: $(cat w/results/ledger.tsv)"
find w -name 'claim' -o -name work -o -name '*.tmp*' | grep . && fail "left behind (above)"
grep -rl "$PWD" w/results && fail "results know where they are (above)"
[ -f w/names/train.toy.rela-g.1/out/model.rela ] || fail "no model under its name"
study why s.yml --dir w score/toy/rela-g/1/test
grep -q '^score/toy/rela-g/1/test: done' out || fail "why: $(cat out)"
grep -q '^  rela translate in/model --input in/src --output out/hyp --beam 1' out || fail "why shows no command: $(cat out)"

# ---- a flipped bit ----
study verify s.yml --dir w
[ "$code" -eq 0 ] || fail "verify: exit code $code: $(cat out err)"
# flip FILE: the lowest bit of its first byte
flip() {
    first=$(od -An -tu1 -N1 "$1" | tr -d ' ')
    printf "\\$(printf '%03o' $((first ^ 1)))" | dd of="$1" bs=1 conv=notrunc 2>/dev/null
}
model=w/names/train.toy.rela-g.1/out/model.rela
for file in "$model" "$(ls w/results/*/stats.tsv.gz | head -n 1)" "$(ls w/results/*/inputs.tsv | head -n 1)"; do
    n_checks=$((n_checks + 1))
    flip "$file"
    study verify s.yml --dir w
    [ "$code" -eq 3 ] || fail "$file: a flipped bit: exit code $code"
    [ "$(grep -cE ": (its hash is|is not what)" out)" -eq 1 ] || fail "$file: $(cat out)"
    flip "$file"
done

# ---- a model that is needed and gone is made again, with the same bytes ----
cp "$model" model
folder=$(readlink -f w/names/train.toy.rela-g.1)
rm -r "$folder/out"
study verify s.yml --dir w
grep -q '1 big outputs are not here' out || fail "verify does not count what is not here: $(cat out)"
sed 's/{beam: 1}/{beam: 2}/' s.yml >beam.yml
study run beam.yml --dir w --job score/toy/rela-g/1/valid
[ "$code" -eq 0 ] || fail "made again: exit code $code: $(cat err)"
grep -q 'train/toy/rela-g/1: made again, as score/toy/rela-g/1/valid needs its output' err || fail "not made again: $(cat err)"
cmp model "$folder/out/model.rela" || fail "the model that was made again is another one"

# ---- results without the folder of jobs ----
cp -r w/results r
study plan s.yml --dir fresh --results r
[ "$(cat out)" = '0 of 14 jobs to run' ] || fail "plan with results alone: $(cat out)"

# ---- adopt: keep results although a word of the options has changed ----
sed 's/merges: 20/merges: 21/' s.yml >merges.yml
study plan merges.yml --dir w
grep -q 'tune/softmax/1 .* merges 20 -> 21' out || fail "no reason: $(cat out)"
study adopt merges.yml --dir w all
[ "$code" -eq 0 ] || fail "adopt: exit code $code: $(cat err)"
study plan merges.yml --dir w
[ "$(cat out)" = '0 of 14 jobs to run' ] || fail "after adopting: $(cat out)"
study verify merges.yml --dir w
[ "$code" -eq 0 ] || fail "verify of adopted results: $(cat out err)"

# ---- a job that fails ----
sed 's/attention: rela-g}/attention: rela-g, max-length: 2}/; s/models: \[softmax, rela-g\]/models: [softmax]/' s.yml >fails.yml
study run fails.yml --dir w
[ "$code" -eq 1 ] || fail "a job fails: exit code $code, expected 1: $(cat err)"
grep -q 'train/toy/rela-g/1: failed (exit code' err || fail "it is not named: $(cat err)"
grep -q 'were not run, as what they need has failed' err || fail "nothing about those that need it: $(cat err)"
study status fails.yml --dir w
grep -q '^train/toy/rela-g/1  *failed  *failed (exit code' out || fail "status: $(cat out)"
grep -q '^    rela train: ' out || fail "status shows no log: $(cat out)"
grep -q '^score/toy/rela-g/1/test .* needs train/toy/rela-g/1, which failed' out || fail "status of what needs it: $(cat out)"
grep -q '^[0-9]* jobs: [0-9]* done, 3 blocked, 1 failed$' out || fail "counts: $(tail -n 1 out)"
finish
