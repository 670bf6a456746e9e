#!/bin/sh
# SPDX-License-Identifier: MIT
# Attention of models with several sources: columns of validation, analysis by place, links of each source,
# and what refuses such models.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# The second source is the first, the third the target, each with every third line empty.
"$RELA" corpus --quiet --size 400 --valid 40 --test 40 --seed 3 --out toy >/dev/null
for part in train valid test; do
    awk 'NR % 3 == 0 { print ""; next } { print }' toy/$part.src >toy/$part.src2
    awk 'NR % 3 == 1 { print ""; next } { print }' toy/$part.tgt >toy/$part.src3
done
small='--quiet --preset tiny --tokenise --src-lang en --tgt-lang de --merges 200 --width 32 --ffn 48 --heads 4 --enc-layers 1 --dec-layers 2
 --batch-tokens 400 --updates 40 --valid-every 20 --save-every 20 --average 1 --valid-beam 1 --threads 1 --max-length 64'
text='--train-src toy/train.src --train-tgt toy/train.tgt --valid-src toy/valid.src --valid-tgt toy/valid.tgt'
back='--train-src toy/train.tgt --train-tgt toy/train.src --valid-src toy/valid.tgt --valid-tgt toy/valid.src'
second='--src-lang-2 en --train-src-2 toy/train.src2 --valid-src-2 toy/valid.src2'
third='--src-lang-3 de --train-src-3 toy/train.src3 --valid-src-3 toy/valid.src3'
"$RELA" train $small $back --out one
"$RELA" train $small $text $second --out two
"$RELA" train $small $text $second $third --cross serial --attention-cross softmax --out three

# column RUN NAME: of the last row of valid.tsv
column() {
    awk -F '\t' -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        END { print at ? $at : "none" }' "$1/valid.tsv"
}
fixed='update loss nll perplexity bleu best'
heads() {
    head -n 1 "$1/valid.tsv" | tr '\t' ' '
}
[ "$(heads one)" = "$fixed sparsity_enc sparsity_dec sparsity_cross null_cross" ] || fail "one source: $(heads one)"
[ "$(heads two)" = "$fixed sparsity_enc0 sparsity_enc1 sparsity_dec sparsity_cross0 sparsity_cross1 null_cross0 null_cross1" ] ||
    fail "two sources: $(heads two)"
[ "$(awk -F '\t' 'NF != 16' three/valid.tsv | wc -l)" -eq 0 ] || fail "three sources: $(cat three/valid.tsv)"
# A third of the lines has no second source, so at least so many queries are null.
[ "$(column two null_cross1 | awk '{ print ($1 >= 0.25 && $1 < 1) }')" -eq 1 ] || fail "null_cross1: $(column two null_cross1)"
grep -q 'cross attention [0-9.]*/[0-9.]* % zeros, [0-9.]*/[0-9.]* % null' two/train.log || fail "log: $(grep validation two/train.log)"
grep -q '<svg' two/figures/sparsity.svg || fail "no figure of zeros"

# Links of each source. Words of the second are those of the first where it is not empty.
texts='--src toy/test.src --src-2 toy/test.src2 --tgt toy/test.tgt'
"$RELA" align -q two/model.rela $texts >first
"$RELA" align -q two/model.rela $texts --source 2 >second
rela align -q two/model.rela $texts --source 2 --threads 3 | cmp - second || fail "links depend on the threads"
cmp -s first second && fail "both sources have the same links"
awk 'NR % 3 == 0 && NF { print "line " NR }' second | grep . && fail "links of an empty source"
awk 'NR % 3 == 0 && NF { n++ } END { exit !n }' first || fail "no links where another source is empty"
awk 'NR % 3 != 0 && NF { n++ } END { exit !n }' second || fail "no links of the second source"
sed 's/ .*//' toy/test.src >short
"$RELA" align -q two/model.rela --src toy/test.src --src-2 short --tgt toy/test.tgt --source 2 --threshold 0.01 >links
tr ' ' '\n' <links | grep -v '^0-\|^$' && fail "links beyond the one word of the second source"
grep -q '^0-' links || fail "no links to the one word of the second source"
rela align -q two/model.rela $texts --source 2 --soft | awk 'NR % 3 == 0 && NF { exit 1 }
    { for (i = 1; i <= NF; i++) { split($i, a, ":"); if (!(a[2] > 0)) exit 1 } }' || fail "soft links"
"$RELA" align -q two/model.rela $texts --source 2 --show 3 >picture
grep -q ' - ∅$' picture && grep -q '^links: $' picture || fail "picture of an empty source: $(cat picture)"
rela align -q two/model.rela $texts --source 2 --show 2 | grep -q 'attends to nothing' || fail "no picture"
awk 'NR % 3 == 0 { print ""; next } { print }' toy/test.align >gold2
for source in 1 2; do
    gold=toy/test.align
    [ $source = 1 ] || gold=gold2
    "$RELA" align -q two/model.rela $texts --source $source --best-on $gold --json -o links >report
    grep -q "\"source\": $((source - 1)), \"dev_pairs\": 40, \"dev_aer\": " report || fail "report: $(cat report)"
done
"$RELA" align -q three/model.rela $texts --src-3 toy/test.src3 --source 3 >third
awk 'NR % 3 == 1 && NF' third | grep . && fail "links of an empty third source"
[ "$(wc -l <third)" -eq 40 ] || fail "$(wc -l <third) lines"
# A reverse model has the chosen source as its target: no links where that is empty.
"$RELA" align -q two/model.rela $texts --source 2 --reverse one/model.rela --symmetrise union >links
awk 'NR % 3 == 0 && NF' links | grep . && fail "links of an empty source with a reverse model"
rela align -q two/model.rela $texts --source 1 --reverse one/model.rela --symmetrise union |
    awk 'NR % 3 == 0 && NF { n++ } END { exit !n }' || fail "no links with a reverse model"

# Analysis by place: null rates of each source, alignment errors of the chosen one.
"$RELA" analyse -q two/model.rela $texts --gold toy/test.align --out a1 --dump a1.npz --threads 1 >table
grep -q '^two (40 pairs)  *encoder 1 encoder 2   decoder   cross 1   cross 2$' table || fail "table: $(cat table)"
grep -q '^  pairs, source empty  *0  *13$' table || fail "empty sources: $(cat table)"
for place in 'encoder 0' 'encoder 1' decoder 'cross 0' 'cross 1'; do
    [ "$(grep -c "\"$place\": " a1/analysis.json)" -eq 2 ] || fail "no $place in analysis.json"
done
tr -d ' \n' <a1/analysis.json | grep -q '"sources":2,"source":0,.*"source_empty":\[0,13\]' || fail "$(head -n 20 a1/analysis.json)"
# figure FILE PLACE COLUMN: of models.tsv
figure() {
    awk -F '\t' -v place="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        $2 == place { print at && $at != "" ? $at : "none" }' "$1"
}
awk -v x="$(figure a1/models.tsv 'cross 0' null_rate)" -v y="$(figure a1/models.tsv 'cross 1' null_rate)" \
    'BEGIN { exit !(y >= 0.25 && y < 1 && x < y) }' || fail "null rates: $(cat a1/models.tsv)"
for column in AoL AoH_shifted; do
    [ "$(figure a1/models.tsv 'cross 0' $column)" != none ] || fail "no $column of the first source"
    [ "$(figure a1/models.tsv 'cross 1' $column)" = none ] || fail "$column of the second source"
done
for place in 'cross 0' 'cross 1'; do
    [ "$(figure a1/models.tsv "$place" auc_text_permuted)" != none ] || fail "no AUC of $place"
done
for stem in sparsity null-rate aer aer-means diversity null-sources-1 null-heads-1 maps-1 maps-permuted-1; do
    [ -s a1/$stem.svg ] && [ -s a1/$stem.png ] && [ -s a1/$stem.pdf ] || fail "no figure $stem"
done
[ "$(grep -c '<figure>' a1/report.html)" -eq 9 ] || fail "$(grep -c '<figure>' a1/report.html) figures in the report"
grep -q 'highest for source 2 ([0-9.]* %) and lowest for source 1 .* Source 2 is empty in 13 of 40 pairs' a1/report.html ||
    fail "caption: $(grep -o 'Null rate of the cross attention[^<]*' a1/report.html)"
grep -aq 'places.npy' a1.npz && grep -aq 'cross 1' a1.npz || fail "the dump does not name places"
"$RELA" analyse -q two/model.rela $texts --gold toy/test.align --out a2 --dump a2.npz --threads 3 >/dev/null
for file in analysis.json heads.tsv layers.tsv models.tsv report.html null-sources-1.png; do
    cmp a1/$file a2/$file || fail "$file depends on the threads"
done
cmp a1.npz a2.npz || fail "the dump depends on the threads"
"$RELA" analyse -q two/model.rela $texts --source 2 --gold gold2 --out second.out >/dev/null
[ "$(figure second.out/models.tsv 'cross 0' AoL)" = none ] && [ "$(figure second.out/models.tsv 'cross 1' AoL)" != none ] ||
    fail "alignment errors of the second source: $(cat second.out/models.tsv)"
[ "$(figure second.out/models.tsv 'cross 1' null_rate)" = "$(figure a1/models.tsv 'cross 1' null_rate)" ] ||
    fail "null rates depend on --source"
# An example whose source is empty cannot be drawn.
"$RELA" analyse -q two/model.rela $texts --source 2 --example 3 --out none.out >/dev/null
[ ! -e none.out/maps-1.svg ] && [ -s none.out/null-sources-1.svg ] || fail "drew the attention to an empty source"
# With softmax queries are null where their source is empty and nowhere else.
"$RELA" analyse -q three/model.rela $texts --src-3 toy/test.src3 --out a3 >/dev/null
[ "$(wc -l <a3/heads.tsv)" -eq 45 ] || fail "$(wc -l <a3/heads.tsv) lines in heads.tsv"
awk -F '\t' '$2 == "cross 0" && $7 != 0 || $2 == "cross 1" && !($7 > 0.2 && $7 < 0.5) { bad = 1 }
    $2 ~ /^cross/ { if (seen[$2] && seen[$2] != $7) bad = 1; seen[$2] = $7; sparse += $5 }
    END { exit bad || sparse != 0 || seen["cross 1"] == seen["cross 2"] }' a3/heads.tsv || fail "softmax: $(cat a3/heads.tsv)"

many='two/model.rela: the model has 2 sources;'
refuses 2 "$many filtering needs a model with one" filter two/model.rela --src toy/test.src --tgt toy/test.tgt --dry-run
refuses 2 "$many a shortlist needs a model with one" shortlist two/model.rela --src toy/test.src --tgt toy/test.tgt --out list
refuses 2 "$many a shortlist needs a model with one" shortlist two/model.rela --src toy/test.src --tgt toy/test.tgt --links toy/test.align --out list
[ ! -e list ] || fail "a shortlist of a model with several sources"
two="$many there is"
refuses 2 "$two no text of source 2" analyse two/model.rela --src toy/test.src --tgt toy/test.tgt --out x
refuses 2 "two/model.rela: no source 3; the model has 2" analyse two/model.rela $texts --source 3 --out x
refuses 2 "one/model.rela: the model has 1 source; there is a text of source 2" analyse two/model.rela one/model.rela $texts --out x
refuses 2 "$two no text of source 2" align two/model.rela --src toy/test.src --tgt toy/test.tgt
refuses 2 "$two a text of source 3" align two/model.rela $texts --src-3 toy/test.src3
refuses 2 "one/model.rela: the model has 1 source; there is a text of source 2" align one/model.rela $texts
refuses 2 "$two no text of source 2" align two/model.rela --src toy/test.src --src-3 toy/test.src2 --tgt toy/test.tgt
refuses 2 "two/model.rela: no source 3; the model has 2" align two/model.rela $texts --source 3
refuses 2 "--source: 5 is out of range; expected 1..4" align two/model.rela $texts --source 5
refuses 2 "--reverse with several sources needs --source" align two/model.rela $texts --reverse one/model.rela
refuses 2 "two/model.rela: a reverse model with 2 sources; expected 1" align two/model.rela $texts --reverse two/model.rela --source 1
refuses 2 "so it cannot be standard input" align two/model.rela --src toy/test.src --src-2 - --tgt toy/test.tgt --best-on gold2
refuses 2 "--output is the input --src-2" align two/model.rela $texts --output toy/test.src2
head -n 39 toy/test.src2 >fewer
refuses 3 "fewer" align -q two/model.rela --src toy/test.src --src-2 fewer --tgt toy/test.tgt -o links
refuses 3 "toy/test.src has 40 lines but fewer has 39" analyse two/model.rela --src toy/test.src --src-2 fewer --tgt toy/test.tgt --out x
echo 1-0 >beyond
refuses 3 "beyond: line 1: " align -q two/model.rela --src toy/test.src --src-2 short --tgt toy/test.tgt --source 2 --best-on beyond
finish
