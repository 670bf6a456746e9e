#!/bin/sh
# SPDX-License-Identifier: MIT
# install-model.sh RELA BUILD: trains the demo model longer than `make demo` does, tests it, writes the score
# into its card, and leaves it where `make install` finds it: BUILD/demo.rela.
set -eu
rela=$1 build=$2
run=$build/demo-model
rm -rf "$run"
mkdir -p "$run"
"$rela" corpus --quiet --level easy --size 200000 --out "$run/corpus" >/dev/null
"$(dirname "$0")/model.sh" "$rela" "$run/corpus" "$run/run" "${DEMO_UPDATES:-2000}"
"$rela" translate --quiet "$run/run/model.rela" <"$run/corpus/test.src" >"$run/test.out"
bleu=$("$rela" bleu "$run/corpus/test.tgt" <"$run/test.out" | awk '{ print $3 }')
"$rela" info "$run/run/model.rela" --set "test score=BLEU $bleu on 500 sentences of the same grammar, not in the training text" >/dev/null
cp "$run/run/model.rela" "$build/demo.rela"
rm -rf "$run"
echo "$build/demo.rela: $("$rela" info "$build/demo.rela" | sed -n 's/^ *test score *//p')"
