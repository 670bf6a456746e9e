#!/bin/sh
# SPDX-License-Identifier: MIT
# install-model.sh RELA BUILD: trains a model like that of `make demo`, narrower and longer, tests it, writes the score into its
# card, and leaves it where `make install` finds it: BUILD/demo.rela. A model that is too large, or that translates its test
# text badly, is an error. DEMO_UPDATES makes it shorter, for tests, and lets every translation pass.
set -eu
rela=$1 build=$2
run=$build/demo-model
most=3000000 # bytes: what a release may carry
least=90     # BLEU
rm -rf "$run"
mkdir -p "$run"
"$rela" corpus --quiet --level easy --size 200000 --out "$run/corpus" >/dev/null
# The width was chosen by BLEU on the validation set: with 96 it is as good as with 128, in two thirds of the bytes.
"$(dirname "$0")/model.sh" "$rela" "$run/corpus" "$run/run" "${DEMO_UPDATES:-4000}" --width 96
"$rela" translate --quiet "$run/run/model.rela" <"$run/corpus/test.src" >"$run/test.out"
bleu=$("$rela" bleu "$run/corpus/test.tgt" <"$run/test.out" | awk '{ print $3 }')
"$rela" info "$run/run/model.rela" --set "test score=BLEU $bleu on 500 sentences of the same grammar, not in the training text" >/dev/null
bytes=$(wc -c <"$run/run/model.rela")
if [ "$bytes" -gt $most ]; then
    echo "$run/run/model.rela has $bytes bytes; a demo model may have $most" >&2
    exit 1
fi
if [ -z "${DEMO_UPDATES:-}" ] && ! awk -v bleu="$bleu" -v least=$least 'BEGIN { exit bleu < least }'; then
    echo "$run/run/model.rela has BLEU $bleu on $run/corpus/test.src; a demo model needs $least" >&2
    exit 1
fi
cp "$run/run/model.rela" "$build/demo.rela"
rm -rf "$run"
echo "$build/demo.rela: $bytes bytes, $("$rela" info "$build/demo.rela" | sed -n 's/^ *test score *//p')"
