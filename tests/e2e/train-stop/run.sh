# SPDX-License-Identifier: MIT
# A training run stops at once wherever it is, and goes on as if it had not: at file calls while it
# learns BPE and reads text, within updates, within validations. What is refused, or stopped before the
# first update, leaves nothing. A run that has not ended is a model.
# shellcheck disable=SC2046,SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
awk -f "$RELA_SOURCE/tests/e2e/random_text.awk" >text
head -n 30 text >valid
head -n 5 text >short
mkdir tmp
export TMPDIR="$PWD/tmp"
options='train --preset demo --merges 20 --width 32 --ffn 48 --dropout 0.2 --batch-tokens 256 --updates 20 --threads 2 --save-every 8
    --report-every 5 --train-src text --train-tgt text'
valid='--valid-src valid --valid-tgt valid --valid-every 5 --valid-beam 2'
"$RELA" $options $valid --quiet --out whole

# stopped FAULT: starts or resumes the run; its exit code is in $code
stopped() {
    code=0
    n_checks=$((n_checks + 1))
    RELA_FAULT=$1 "$RELA" $options $valid --out a/run 2>err || code=$?
}
same() {
    n_checks=$((n_checks + 1))
    diff -r whole/checkpoints a/run/checkpoints || fail "$1: other checkpoints"
    for name in model.rela best.rela valid.tsv; do
        cmp whole/$name a/run/$name || fail "$1: another $name"
    done
    for run in whole a/run; do cut -d, -f1-6 $run/train.jsonl >records.$(basename $run); done
    cmp records.whole records.run || fail "$1: other records"
    left=$(find a tmp -name '*.tmp-*' -o -name 'interim-*')
    [ -z "$left" ] || fail "$1: left $left"
}

# while it learns BPE and reads text
for n in 30 50 62 70; do
    stopped signal15:$n
    if [ $code -eq 143 ] && ! [ -e a/run/interim-000001.rela ]; then
        grep -q 'stopped by signal 15 before the first update; nothing was saved$' err || fail "file call $n: $(cat err)"
        [ ! -e a ] || fail "file call $n: left $(find a)"
    fi
    rm -rf a
done
# within an update, of two rounds of slots
for n in 1 2 7 16; do
    stopped signal15@gradients:$n
    [ $code -eq 143 ] || fail "gradients $n: exit code $code: $(cat err)"
    if [ $n -gt 2 ]; then
        tail -n 1 err | grep -q 'go on with: rela train --config a/run/config.yml; use what there is with: rela translate a/run$' ||
            fail "gradients $n: $(tail -n 1 err)"
        last=$(((n + 1) / 2 - 1))
        [ -e a/run/interim-00000$last.rela ] || fail "gradients $n: $(ls a/run)"
        "$RELA" translate a/run <short >out 2>err || fail "gradients $n: $(cat err)"
        [ "$(wc -l <out)" -eq 5 ] || fail "gradients $n: $(wc -l <out) translations"
        name=$([ $last -gt 5 ] && echo best || echo interim-00000$last)
        grep -q "the model of a/run is a/run/$name.rela$" err || fail "gradients $n: $(cat err)"
    fi
    "$RELA" train --config a/run/config.yml --quiet 2>err || "$RELA" $options $valid --quiet --out a/run
    same "gradients $n"
    rm -rf a
done
# within a validation, once while it is repeated
for n in 1 3; do
    stopped signal15@validation:$n
    [ $code -eq 143 ] || fail "validation $n: exit code $code: $(cat err)"
    stopped signal15@validation:1
    [ $code -eq 143 ] || fail "validation $n, again: exit code $code: $(cat err)"
    "$RELA" $options $valid --quiet --out a/run
    same "validation $n"
    rm -rf a
done

# two of them within milliseconds are one
stopped signal15@gradients:12
cp -r a/run once
rm -rf a
code=0
"$RELA" $(echo "$options" | sed 's/--updates 20/--updates 100000/') $valid --out a/run 2>err &
pid=$!
while kill -0 $pid && ! [ -e a/run/checkpoints/000008.rela ]; do sleep 0.1; done
kill -TERM $pid && kill -TERM $pid 2>/dev/null
wait $pid || code=$?
[ $code -eq 143 ] || fail "two signals: exit code $code"
grep -q 'go on with' err || fail "two signals: $(cat err)"
"$RELA" $options $valid --quiet --out once
rm -rf a
mkdir a
mv once a/run
same 'two signals'
rm -rf a

# refused: nothing is left, and what was there stays
printf '\377\n' >broken
refuses 3 'expected as many lines in both' train --preset demo --train-src text --train-tgt short --quiet --out a/b/run
[ ! -e a ] || fail "refused: left $(find a)"
refuses 1 'missing: No such file' train --preset demo --train-src text --train-tgt text --codes missing --quiet --out a/b/run
[ ! -e a ] || fail "refused: left $(find a)"
mkdir a
echo notes >a/notes
refuses 3 'broken' train --preset demo --train-src text --train-tgt text --codes broken --quiet --out a
[ "$(ls -A a)" = notes ] || fail "refused: $(ls -A a)"
[ -z "$(ls -A tmp)" ] || fail "left $(ls -A tmp)"
finish
