#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh RELA [DIR]: the built-in corpus, its subwords and statistics, and a small model trained on it
# with rectified linear attention. No network, no Python; under two minutes on two cores.
set -eu
rela=$1
dir=${2:-demo-run}
say() { printf '\n== %s\n' "$*"; }

rm -rf "$dir"
mkdir -p "$dir"
say "A corpus from a grammar: simplified English and German, with gold word alignments"
"$rela" corpus --size 20000 --out "$dir/corpus"
printf '\n'
for line in 1 2 3; do
    printf '  %s\n  %s\n  links: %s\n\n' "$(sed -n ${line}p "$dir/corpus/test.src")" \
        "$(sed -n ${line}p "$dir/corpus/test.tgt")" "$(sed -n ${line}p "$dir/corpus/test.align")"
done

say "Tokens and subwords"
for side in src:en tgt:de; do
    "$rela" tokenise --quiet --no-escape -l "${side#*:}" "$dir/corpus/train.${side%:*}" >"$dir/train.tok.${side%:*}"
done
"$rela" bpe learn --quiet -s 600 "$dir/train.tok.src" "$dir/train.tok.tgt" >"$dir/codes"
"$rela" bpe apply --quiet -c "$dir/codes" "$dir/train.tok.src" >"$dir/train.bpe.src"
"$rela" bpe apply --quiet -c "$dir/codes" "$dir/train.tok.tgt" >"$dir/train.bpe.tgt"
sed -n '1,3s/^/  /p' "$dir/train.bpe.tgt"
"$rela" corpus check --quiet --src "$dir/train.bpe.src" --tgt "$dir/train.bpe.tgt"

say "Training: rela train --preset demo --attention rela-g"
"$rela" train --preset demo --attention rela-g --tokenise --updates 500 --valid-every 100 --report-every 100 \
    --train-src "$dir/corpus/train.src" --train-tgt "$dir/corpus/train.tgt" \
    --valid-src "$dir/corpus/valid.src" --valid-tgt "$dir/corpus/valid.tgt" --out "$dir/run"

say "Translating sentences it has never seen: rela translate $dir/run/model.rela"
head -n 6 "$dir/corpus/test.src" | "$rela" translate --quiet --alignment hard "$dir/run/model.rela" >"$dir/first"
for line in 1 2 3 4 5 6; do
    printf '  source     %s\n' "$(sed -n ${line}p "$dir/corpus/test.src")"
    printf '  rela       %s\n' "$(sed -n "${line}s/ ||| .*//p" "$dir/first")"
    printf '  reference  %s\n' "$(sed -n ${line}p "$dir/corpus/test.tgt")"
    printf '  attention  %s\n\n' "$(sed -n "${line}s/.* ||| //p" "$dir/first")"
done
"$rela" translate --quiet "$dir/run/model.rela" <"$dir/corpus/test.src" >"$dir/test.out"
"$rela" bleu "$dir/corpus/test.tgt" <"$dir/test.out"
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "null_cross") c = i; else if ($i == "sparsity_cross") s = i }
    END { printf "Cross attention: %.1f %% of the weights are exactly zero, %.1f %% of the queries attend to nothing\n", 100 * $s, 100 * $c }' \
    "$dir/run/valid.tsv"

say "What its attention does: rela analyse, against the gold alignments"
"$rela" analyse --quiet "$dir/run/model.rela" --names rela-g --src "$dir/corpus/test.src" --tgt "$dir/corpus/test.tgt" \
    --gold "$dir/corpus/test.align" --out "$dir/report"
best=$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["place"] == "cross" && (least == "" || $at["aer"] < least) { least = $at["aer"]; layer = $at["layer"]; head = $at["head"] }
    END { print layer, head }' "$dir/report/heads.tsv")
printf '\nThe head that comes closest to word alignment (layer %s, head %s), on a sentence of the test set:\n\n' ${best% *} ${best#* }
"$rela" align --quiet "$dir/run/model.rela" --src "$dir/corpus/test.src" --tgt "$dir/corpus/test.tgt" \
    --layer ${best% *} --head ${best#* } --show 3

say "Talk to it: rela translate $dir/run/model.rela"
for line in 'The old farmer sees a child.' 'Our teacher has bought the small house.' 'They give the dog some bread.'; do
    printf '  > %s\n    %s\n' "$line" "$(printf '%s\n' "$line" | "$rela" translate --quiet "$dir/run/model.rela")"
done
if [ -t 0 ] && [ -t 1 ]; then
    printf '\nYour turn, in simple English; an empty line ends it.\n'
    while printf '  > ' && read -r line && [ -n "$line" ]; do
        printf '    %s\n' "$(printf '%s\n' "$line" | "$rela" translate --quiet "$dir/run/model.rela")"
    done
fi

say "Done"
echo "The model is $dir/run/model.rela, its curves are in $dir/run/figures."
echo "Open the report on its attention: $dir/report/report.html"
