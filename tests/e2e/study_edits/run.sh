#!/bin/sh
# SPDX-License-Identifier: MIT
# After a study was run, each edit of its file runs again exactly what it must, and says why.
# shellcheck disable=SC2154 # code is set by study of study.sh
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/study.sh"
write_study s.yml
study run s.yml --dir w --jobs 2
[ "$code" -eq 0 ] || fail "exit code $code: $(cat err)"

# edit WHAT SED JOBS REASON: after the edit these jobs (a regular expression of whole names; empty: none) are planned, and
# the plan holds the reason.
edit() {
    n_checks=$((n_checks + 1))
    sed "$2" s.yml >edited.yml
    cmp -s s.yml edited.yml && fail "$1: nothing was edited"
    study plan edited.yml --dir w --format tsv
    [ "$code" -eq 0 ] || fail "$1: exit code $code: $(cat err)"
    tail -n +2 out | grep -v '	done	' | cut -f 1 >planned || true
    tail -n +2 out | cut -f 1 | grep -xE "${3:-none}" >wanted || true
    diff wanted planned >difference || fail "$1: not exactly what it must: $(cat difference)"
    grep -qE -- "$4" out || fail "$1: no reason '$4': $(cat out)"
}

scores='score/.*'
edit 'title of the report' 's/A small study/Another title/' '' ''
edit 'title of a model' 's/title: Softmax/title: Baseline/' '' ''
edit 'comments and blanks' 's/^models:/# what is compared\nmodels:  /' '' ''
edit 'order of options' 's/preset: demo, updates: 2/updates: 2, preset: demo/' '' ''
edit 'name of a model' 's/rela-g: {/other: {/; s/softmax, rela-g\]/softmax, other]/; s/models: rela-g/models: other/' '' ''
edit 'a value of set' "s/size: '60'/size: '61'/; s/lr: '0.01'/lr: '0.010'/" '.*' 'corpus/toy.*	size 60 -> 61$'
edit 'a number written in another way' "s/lr: '0.01'/lr: '0.010'/" 'choose/.*|train/.*|score/.*|analyse/.*' 'choose/softmax.*	setting lr=0.01 -> lr=0.010$'
edit 'text' 's/merges: 20/merges: 21/' 'tune/.*|choose/.*|train/.*|score/.*|analyse/.*' 'tune/softmax/1.*	merges 20 -> 21$'
edit 'an option of a model' 's/{attention: rela-g}/{attention: rela-g, dropout: 0.2}/' \
    'tune/rela-g/.*|choose/rela-g|train/toy/rela-g/1|score/toy/rela-g/.*|analyse/.*' 'tune/rela-g/1.*	dropout 0.1 -> 0.2; dropout-embed 0.1 -> 0.2$'
edit 'kind of attention' 's/{attention: rela-g}/{attention: rela-i}/' \
    'tune/rela-g/.*|choose/rela-g|train/toy/rela-g/1|score/toy/rela-g/.*|analyse/.*' 'train/toy/rela-g/1.*	attention rela-g -> rela-i; waits for choose/rela-g$'
edit 'updates of all rows' 's/updates: 2,/updates: 3,/' 'train/.*|score/.*|analyse/.*' 'train/toy/softmax/1.*	updates 2 -> 3$'
edit 'updates of tuning' 's/^  updates: 1$/  updates: 2/' 'tune/.*|choose/.*|train/.*|score/.*|analyse/.*' 'tune/softmax/1.*	updates 1 -> 2$'
edit 'a further seed' 's/seeds: \[1\]/seeds: [1, 2]/' '(train|score)/.*/2(/.*)?' 'train/toy/softmax/2.*	never run$'
edit 'translation' 's/{beam: 1}/{beam: 3}/' "$scores" 'score/toy/rela-g/1/test.*	beam 1 -> 3$'
edit 'scores' 's/\[bleu, chrf\]/[bleu]/' "$scores" 'score/toy/rela-g/1/test.*	scores bleu,chrf -> bleu$'
edit 'an analysis' 's/what: \[sparsity\]/what: [sparsity, gold]/' 'analyse/toy/rela-g/1/gold' 'analyse/toy/rela-g/1/gold.*	never run$'
edit 'its limit' 's/what: \[sparsity\]/what: [sparsity], limit: 2/' 'analyse/.*' 'analyse/toy/rela-g/1/text.*	limit 0 -> 2$'
edit 'a model less' 's/softmax, rela-g\]/softmax]/; /^  rela-g:/d; s/models: rela-g/models: softmax/' 'analyse/.*' 'analyse/toy/softmax/1/text.*	never run$'

# ---- an edit that leads to the same choice runs nothing after it ----
n_checks=$((n_checks + 1))
first=$(grep lr: w/names/choose.softmax/out/choice.yml) second=$(grep lr: w/names/choose.rela-g/out/choice.yml)
if [ "$first" = "$second" ]; then
    better=${first#lr: }
    sed "s/lr: \['\${lr}', 0.1\]/lr: [$better, 1e-7]/" s.yml >edited.yml
    study run edited.yml --dir w
    [ "$code" -eq 0 ] || fail "another grid: exit code $code: $(cat err)"
    grep -q 'train/.*: started' err && fail "the same choice, but trained again: $(cat err)"
    [ "$(grep -c 'choose/.*: started' err)" -eq 2 ] || fail "not chosen again: $(cat err)"
fi

# ---- texts of the user ----
n_checks=$((n_checks + 1))
for side in src tgt; do
    cp "w/names/corpus.toy/out/train.$side" "own.$side"
done
cat >own.yml <<'END'
study: own
data: {own: {train: [own.src, own.tgt], text: {tokenise: true, merges: 20}}}
defaults: {preset: demo, updates: 1, batch-tokens: 100, width: 8, ffn: 8, heads: 1, enc-layers: 1, dec-layers: 1}
models: {a: {attention: softmax}, b: {attention: rela-g}}
train: [{data: own}]
END
study run own.yml --dir v --jobs 2
[ "$code" -eq 0 ] || fail "own texts: exit code $code: $(cat err)"
touch own.src
study plan own.yml --dir v
[ "$(cat out)" = '0 of 2 jobs to run' ] || fail "a file that was touched: $(cat out)"
sed 1d own.src >other && mv other own.src && sed 1d own.tgt >other && mv other own.tgt
study plan own.yml --dir v
[ "$(grep -c 'input train-src changed; input train-tgt changed' out)" -eq 2 ] || fail "another text: $(cat out)"
finish
