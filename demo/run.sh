#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh RELA [DIR]: a corpus, a small model with rectified linear attention and one with softmax, translations, attention,
# word alignment, a report, and a prompt. No network, no Python. DEMO_UPDATES and DEMO_SIZE make it shorter, for tests.
set -eu
rela=$1
dir=${2:-demo-run}
demo=$(dirname "$0")
updates=${DEMO_UPDATES:-700}
start=$(date +%s)
say() { printf '\n== %s\n\n' "$*"; }
# show TEXT N FILE: line N of a file behind a label
show() { printf '  %-10s %s\n' "$1" "$(sed -n "$2p" "$3")"; }
# map MODEL LAYER HEAD: the attention of the sentence in $dir/one, without the legend; all lines of one width
map() {
    "$rela" align --quiet "$1" --src "$dir/one.src" --tgt "$dir/one.tgt" --layer "$2" --head "$3" --show 1 |
        sed -e '/^$/,$d' -e '/∅/!s/$/ /'
}

rm -rf "$dir"
mkdir -p "$dir"
say "1. A corpus from a grammar, with gold word alignments: rela corpus --level easy"
"$rela" corpus --quiet --level easy --size "${DEMO_SIZE:-50000}" --out "$dir/corpus" | sed 's/^/  /'

say "2. A model with rectified linear attention: rela train --attention rela-g (options in demo/model.sh)"
"$demo/model.sh" "$rela" "$dir/corpus" "$dir/rela" "$updates" --attention rela-g

say "3. The same with softmax, to compare: rela train --attention softmax"
"$demo/model.sh" "$rela" "$dir/corpus" "$dir/softmax" "$updates" --attention softmax --quiet

say "4. The 500 sentences of the test part, which neither has seen: rela translate $dir/rela/model.rela"
for kind in rela softmax; do
    "$rela" translate --quiet "$dir/$kind/model.rela" <"$dir/corpus/test.src" >"$dir/$kind.out"
done
echo "  The first six of them:"
echo
for line in 1 2 3 4 5 6; do
    show source $line "$dir/corpus/test.src"
    show rela $line "$dir/rela.out"
    show reference $line "$dir/corpus/test.tgt"
    echo
done
for kind in rela softmax; do
    same=$(paste -d '|' "$dir/$kind.out" "$dir/corpus/test.tgt" | awk -F '|' '$1 == $2 { n++ } END { print n + 0 }')
    printf '  %-8s BLEU %s; %d of 500 are the reference, word for word\n' "$kind" \
        "$("$rela" bleu "$dir/corpus/test.tgt" <"$dir/$kind.out" | awk '{ print $3 }')" "$same"
done

say "5. What the decoder looks at: rela analyse, rela align --show"
"$rela" analyse --quiet "$dir/rela/model.rela" "$dir/softmax/model.rela" --names rela-g --names softmax \
    --src "$dir/corpus/valid.src" --tgt "$dir/corpus/valid.tgt" --gold "$dir/corpus/valid.align" --layer 2 --out "$dir/report" >/dev/null
echo "The old teacher has bought the small house." >"$dir/one.src"
"$rela" translate --quiet "$dir/rela/model.rela" <"$dir/one.src" >"$dir/one.tgt"
printf '  %s\n  %s\n' "$(cat "$dir/one.src")" "$(cat "$dir/one.tgt")"
for head in 1 2 3 4; do
    map "$dir/rela/model.rela" 2 $head >"$dir/left"
    map "$dir/softmax/model.rela" 2 $head >"$dir/right"
    printf '\nLayer 2, head %s: rela-g on the left, softmax on the right\n' $head
    paste -d '|' "$dir/left" "$dir/right" | sed 's/|/    /'
done
printf '\nA blank is a weight of exactly zero, a dot one above it, darker is more; a row of dashes (∅) attends to nothing at all.\n'
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["place"] == "cross" { n[$at["model"]]++; zero[$at["model"]] += $at["sparsity"]; none[$at["model"]] += $at["null_rate"] }
    END { for (i = split("rela-g softmax", k, " "); i > 0; i--) printf "  %-8s %4.1f %% of the cross attention weights are zero, %4.1f %% of the rows are empty\n",
        k[3 - i], 100 * zero[k[3 - i]] / n[k[3 - i]], 100 * none[k[3 - i]] / n[k[3 - i]] }' "$dir/report/heads.tsv"

say "6. Word alignment, learned from the text in both directions: rela align --tokenise train.src train.tgt"
"$rela" align --quiet --tokenise "$dir/corpus/train.src" "$dir/corpus/train.tgt" --save "$dir/aligner.rela" \
    ${DEMO_UPDATES:+--updates "$DEMO_UPDATES"} -o "$dir/train.links"
"$rela" align --quiet "$dir/aligner.rela" "$dir/corpus/test.src" "$dir/corpus/test.tgt" >"$dir/test.links"
show source 1 "$dir/corpus/test.src"
show target 1 "$dir/corpus/test.tgt"
show links 1 "$dir/test.links"
printf '\n  Against the gold links of the test part: '
"$rela" aer "$dir/corpus/test.align" -i "$dir/test.links"

say "Done in $(($(date +%s) - start)) seconds"
echo "The model is $dir/rela/model.rela; 'rela info' shows its card. Its curves are in $dir/rela/figures."
echo "Open the report on its attention: $dir/report/report.html"
printf '\nTalk to it: rela translate %s\n' "$dir/rela/model.rela"
for line in 'The old man sees a child.' 'Our teacher has bought the small house.' 'Yesterday I saw the dog in the garden.'; do
    printf '  > %s\n    %s\n' "$line" "$(printf '%s\n' "$line" | "$rela" translate --quiet "$dir/rela/model.rela")"
done
if [ -t 0 ] && [ -t 1 ]; then
    printf '\nYour turn, in sentences like these; Ctrl-D ends it. It knows %s words, such as:\n' \
        "$(tr -s ' .?' '\n' <"$dir/corpus/train.src" | sort -u | wc -l)"
    tr -s ' .?' '\n' <"$dir/corpus/train.src" | sort | uniq -c | sort -rn | awk 'NR <= 120 && $2 != "" { printf "%s ", $2 } END { print "" }' | fold -sw 100
    "$rela" translate --unk replace "$dir/rela/model.rela" || true
fi
