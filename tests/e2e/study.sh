# SPDX-License-Identifier: MIT
# A small study, for the cases study*: . "$RELA_SOURCE/tests/e2e/study.sh"

# write_study FILE: a corpus, two models tuned with two settings each, trainings, scores, an analysis: 14 jobs.
write_study() {
    cat >"$1" <<'END'
study: small
set: {size: '60', lr: '0.01'}
data:
  toy:
    corpus: {level: easy, size: '${size}', valid: 4, test: 4}
    text: {tokenise: true, merges: 20}
defaults: {preset: demo, updates: 2, batch-tokens: 100, width: 8, ffn: 8, heads: 1, enc-layers: 1,
  dec-layers: 1, valid-every: 1, save-every: 1, valid-beam: 0, best-by: loss, report-every: 1}
models:
  softmax: {attention: softmax, title: Softmax}
  rela-g: {attention: rela-g}
tuning:
  data: toy
  models: [softmax, rela-g]
  grid: {lr: ['${lr}', 0.1]}
  updates: 1
train:
  - {stage: first, data: toy, seeds: [1]}
translate: {beam: 1}
scores: [bleu, chrf]
analyses:
  - {data: toy, models: rela-g, what: [sparsity]}
report: {title: A small study}
END
}

# study COMMAND ARGUMENT...: exit code in $code, output in out, messages in err.
# shellcheck disable=SC2034 # code is read by those that use this file
study() {
    code=0
    "$RELA" study "$@" >out 2>err </dev/null || code=$?
}

# same_results DIR DIR: all but timings and the times of the ledger.
same_results() {
    diff -r -x time.tsv -x ledger.tsv "$1" "$2" >difference || fail "$1 and $2 differ: $(head -n 5 difference)"
    cut -f 2- "$1/ledger.tsv" | sort >ledger.1
    cut -f 2- "$2/ledger.tsv" | sort >ledger.2
    cmp ledger.1 ledger.2 || fail "the ledgers of $1 and $2 differ"
}
