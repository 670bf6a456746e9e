#!/bin/sh
# SPDX-License-Identifier: MIT
# rela analyse: everything it promises is written, the same for any number of threads; several models
# side by side; bad text, gold, tags and options with exit code and message.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

awk 'BEGIN {
    srand(4)
    for (i = 0; i < 300; i++) {
        n = 3 + int(rand() * 5)
        line = ""; gold = ""; tags = ""
        for (j = 0; j < n; j++) {
            w = int(rand() * 20)
            line = line (j ? " " : "") "w" w
            gold = gold (j ? " " : "") j "-" j
            tags = tags (j ? " " : "") (w % 2 ? "ODD" : "EVEN")
        }
        print line > "text"
        print gold > "all.gold"
        print tags > "all.tags"
    }
}'
head -n 70 text >a
for kind in rela-g softmax; do
    "$RELA" train --quiet --preset demo --attention $kind --merges 4 --width 32 --ffn 64 --heads 4 \
        --enc-layers 1 --dec-layers 2 --updates 40 --batch-tokens 256 --save-every 40 --average 1 --valid-every 40 \
        --train-src text --train-tgt text --valid-src a --valid-tgt a --valid-beam 0 --out $kind --threads 2
done
head -n 50 all.gold >gold
head -n 70 all.tags >tags

"$RELA" analyse rela-g/model.rela --src a --tgt a --gold gold --tags tags --out one --dump one.npz -q \
    --threads 1 >table
for line in sparsity 'null rate' 'null rate, permuted' 'head diversity' 'AER of layers'; do
    grep -q "$line" table || fail "no $line in $(cat table)"
done
for file in analysis.json heads.tsv layers.tsv models.tsv pairs.tsv tags.tsv report.html; do
    [ -s one/$file ] || fail "no $file"
done
for stem in sparsity null-rate aer aer-means diversity null-heads-1 tags-1 maps-1 maps-permuted-1; do
    for ending in svg png pdf; do
        [ -s one/$stem.$ending ] || fail "no figure $stem.$ending"
    done
    grep -q "<svg" one/$stem.svg || fail "$stem.svg is no drawing"
    grep -q "</text>" one/$stem.svg && ! grep -q glyph one/$stem.svg || fail "text of $stem.svg is not text"
done
[ "$(grep -c '<figure>' one/report.html)" -eq 9 ] || fail "$(grep -c '<figure>' one/report.html) figures in the report"
# Figures of several panels are there twice: a phone gets their panels one below the other.
# drawings CLASS DIR: how many of them are in the report
drawings() { grep -c "^<div class=\"drawing $1\" id=\"d[0-9]*\"[^>]*><svg" "$2/report.html" || true; }
# Every drawing has a text for those who cannot see it.
[ "$(grep -c '^<div class="drawing [a-z]*" id="d[0-9]*" role="img" aria-label="[^"]\{60,\}"><svg' one/report.html)" -eq "$(grep -c '<svg' one/report.html)" ] ||
    fail "drawings without a text"
[ "$(drawings broad one)" -eq 7 ] && [ "$(drawings narrow one)" -eq 7 ] && [ "$(drawings only one)" -eq 2 ] || fail "wide figures"
[ "$(grep -o ' id="[^"]*"' one/report.html | sort | uniq -d | wc -l)" -eq 0 ] || fail "ids that occur twice"
for stem in sparsity maps-1; do
    width=$(sed -n 's/^<svg .* width="\([0-9]*\).*/\1/p' one/$stem-narrow.svg)
    [ "$width" -gt 100 ] && [ "$width" -le 360 ] || fail "$stem-narrow.svg is $width wide"
done
# What was analysed, without folders.
grep -q '<title>Attention of rela-g on a</title>' one/report.html || fail "title: $(grep '<title>' one/report.html)"
grep -q "^<p>Text: a, a (70 lines); gold links: gold; tags: tags. rela $(rela --version | cut -d ' ' -f 2)\.</p>$" one/report.html ||
    fail "what was analysed: $(grep '^<p>Text' one/report.html)"
grep -q 'src=\|href="http' one/report.html && fail "the report needs other files"
[ "$(head -c 2 one.npz)" = PK ] || fail "the dump is no archive"
awk -F '\t' 'NR > 1 && ($5 < 0 || $5 > 1 || $7 < 0 || $7 > 1 || NF != 11)' one/heads.tsv | grep . && fail "heads.tsv"
[ "$(wc -l <one/heads.tsv)" -eq 21 ] || fail "$(wc -l <one/heads.tsv) lines in heads.tsv"
awk -F '\t' 'NF != 20' one/layers.tsv | grep . && fail "layers.tsv"
# Programs count from 0, people from 1.
[ "$(cut -f 3,4 one/heads.tsv | tail -n 8 | tr '\t\n' '- ')" = "0-0 0-1 0-2 0-3 1-0 1-1 1-2 1-3 " ] || fail "numbers in heads.tsv"
[ "$(cut -f 3 one/layers.tsv | tail -n 2 | tr '\n' ' ')" = "0 1 " ] || fail "numbers in layers.tsv"
[ "$(cut -f 2,3 one/tags.tsv | sed 1d | sort -u | tr '\t\n' '- ')" = "0-0 0-1 0-2 0-3 1-0 1-1 1-2 1-3 " ] || fail "numbers in tags.tsv"
[ "$(grep -c '"layer": 0' one/analysis.json)" -eq 5 ] && ! grep -q '"layer": 2' one/analysis.json || fail "layers of analysis.json"
grep -q 'layer 2' one/report.html && ! grep -q 'layer 0\|head 0' one/report.html || fail "layers of the report"
cut -f 4 one/tags.tsv | sort -u | tr '\n' ' ' | grep -qx '(start) EVEN ODD after ' || fail "tags.tsv: $(head -n 3 one/tags.tsv)"

# Maps show words, in which pieces are merged, or pieces; gold links are outlined.
# texts FILE: the texts of a figure, one per line. caption STEM DIR: what stands below a figure.
texts() { sed -n 's/^<text [^>]*>\(.*\)<\/text>$/\1/p' "$1"; }
caption() { awk -v title="<h2>$1</h2>" 'index($0, title) { on = 1 } on && /<figcaption>/ { sub(/.*<figcaption>/, ""); print; on = 0 }' "$2/report.html"; }
outlines() { grep -c "stroke-width:1.4" "$1" || true; }
line=$(texts one/maps-1.svg | sed -n 's/.* on line //p')
words=$(sed -n "${line}p" a | wc -w)
texts one/maps-1.svg >shown
grep -q '@@' shown && fail "pieces instead of words: $(cat shown)"
for word in $(sed -n "${line}p" a); do # in rows and columns of the 4 heads
    [ "$(grep -cx "$word" shown)" -ge 8 ] || fail "$word is not in the maps: $(cat shown)"
done
[ "$(grep -cx '&lt;eos&gt;' shown)" -eq 8 ] || fail "the end is not in the maps: $(cat shown)"
[ "$(outlines one/maps-1.svg)" -eq $((4 * words)) ] || fail "$(outlines one/maps-1.svg) gold links; expected $((4 * words))"
[ "$(outlines one/maps-permuted-1.svg)" -eq 0 ] || fail "gold links on another target"
"$RELA" analyse rela-g/model.rela --src a --tgt a --gold gold --out pieces --pieces -q >/dev/null
texts pieces/maps-1.svg | grep -q 'w@@' || fail "no pieces: $(texts pieces/maps-1.svg)"
[ "$(outlines pieces/maps-1.svg)" -eq $((4 * words)) ] || fail "gold links between pieces"
caption 'Attention of each head: rela-g' pieces | grep -q 'an outline spans all pieces of both words' || fail "caption of pieces"
cmp one/heads.tsv pieces/heads.tsv || fail "--pieces changes measures"

# The sentences stand above their maps as they are, and what the model is and how good in the report's list.
sentence=$(sed -n "${line}p" a)
[ "$(grep -cF "<b>source</b> <span>$sentence</span><br><b>target</b> <span>$sentence</span>" one/report.html)" -eq 1 ] ||
    fail "the sentence is not in the report: $(grep 'class="pair"' one/report.html)"
[ "$(grep -c 'class="pair"' one/report.html)" -eq 2 ] || fail "$(grep -c 'class="pair"' one/report.html) pairs of sentences"
cp rela-g/model.rela described.rela
"$RELA" info described.rela --set 'description=words <to> themselves' --set 'test score=BLEU 12.3 on 9 lines' \
    --set 'source language=fr' --set 'target language=de' >/dev/null
"$RELA" analyse described.rela --src a --tgt a --out described.out -q -n 20 >/dev/null
grep -q '<span lang="fr">.*<span lang="de">' described.out/report.html || fail "languages: $(grep 'class="pair"' described.out/report.html)"
grep -q '<b>rela-g</b>: log-likelihood -[0-9.]* on the validation text, after update 40\.<br>' one/report.html ||
    fail "score of a model without a description: $(grep '<li>' one/report.html)"
grep -qF '<b>described</b> (fr to de): words &lt;to&gt; themselves; BLEU 12.3 on 9 lines' described.out/report.html ||
    fail "what the model is: $(grep '<li>' described.out/report.html)"
# Null rows are grey, gold links orange (rgb 0.84, 0.37, 0).
grey=$(grep -c 'stroke:rgb(68%,68%,68%)' one/maps-1.svg || true)
if grep -q 'empty$' shown && ! texts one/maps-1.svg | grep -q ': 0 of'; then [ "$grey" -gt 0 ] || fail "colour of null rows"; fi
[ "$(grep 'stroke-width:1.4' one/maps-1.svg | grep -vc 'stroke:rgb(84%,37%,0%)' || true)" -eq 0 ] || fail "colour of gold links"
# Alignment errors by layer, as in layers.tsv.
want=$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $2 == "cross" { printf "<td>%s</td>", $at["aer_layer"] }' one/layers.tsv)
grep -qF "<tr><td>rela-g, mean of heads</td>$want</tr>" one/report.html || fail "errors by layer: $want, report: $(grep 'mean of heads' one/report.html)"

# Captions say what the tables say.
rates=$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $2 == "cross" { x = 100 * $at["null_rate"]
    low = n++ && low < x ? low : x; high = high > x ? high : x } END { printf "from %.1f %% .* to %.1f %% ", low, high }' one/heads.tsv)
caption 'Null rate of each head: rela-g' one | grep -q "$rates" || fail "caption of null-heads: $(caption 'Null rate of each head: rela-g' one), not $rates"
rows=$((4 * (words + 1)))
caption 'Attention of each head: rela-g' one >below
grep -q "No row has null attention\|have null attention: [0-9]* of $rows (" below || fail "caption: $(cat below)"
grep -q "^Cross attention of layer [12] on line $line, " below || fail "caption: $(cat below)"
! grep -q 'an outline spans' below || fail "caption of words: $(cat below)"
grep -q ' Darker is more, .*(square root); only zero is white\. [0-9.]* % of the weights shown are exactly zero' below || fail "caption: $(cat below)"
# Titles count the rows of the sentence, which add up to the caption; --skip-end leaves the last one out of both.
empty_rows() { texts "$1/maps-1.svg" | sed -n 's/^head [1-4]: \([0-9]*\) of \([0-9]*\) rows* empty$/\1 \2/p' | awk '{ n += $1; all += $2 } END { print n " of " all }'; }
case $(empty_rows one) in
    "0 of $rows") grep -q 'No row has' below ;;
    *" of $rows") grep -q ": $(empty_rows one) (" below ;;
    *) false ;;
esac || fail "titles: $(texts one/maps-1.svg | grep head), caption: $(cat below)"
"$RELA" analyse rela-g/model.rela --src a --tgt a --skip-end --out without -q >/dev/null
case $(empty_rows without) in *" of $((4 * words))") ;; *) fail "titles with --skip-end: $(texts without/maps-1.svg | grep head)" ;; esac
caption 'Attention of each head: rela-g' without | grep -q '&lt;eos&gt; is not counted' || fail "caption with --skip-end"
grep -q 'is left out of null' without/report.html || fail "--skip-end is not named"
caption 'Null rate by part of speech: rela-g' one | grep -q '(layer.head).*(start) is .*highest after .* and lowest after ' || fail "caption of tags"
texts one/tags-1.svg | tr '\n' ' ' | grep -q '(%) after a word with this tag ' || fail "title of tags: $(texts one/tags-1.svg)"
# The lowest error of the caption is one of the curves, so of a head or layer of the table.
low=$(awk -F '\t' 'FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next } $2 == "cross" { for (i = 3; i <= NF; i++)
    if (name[i] ~ /^aer/ && $i != "") low = n++ && low < $i ? low : $i } END { printf "%.1f", low }' one/heads.tsv one/layers.tsv)
caption 'Alignment error' one | grep -q "The lowest is $low %: rela-g, layer [12], \(head [1-4]\|mean of its heads\), \(normal\|shifted\)\." ||
    fail "lowest error: $low, caption: $(caption 'Alignment error' one)"
texts one/aer.svg | grep -qx 'rela-g, mean of heads' || fail "legend: $(texts one/aer.svg)"
# Head diversity: what was done to weights that do not sum to one.
grep -q '<td>0.25</td>' one/report.html && grep -q 'softmax of w<sup>temperature' one/report.html || fail "temperatures"

# A row per pair: what filtering scores pairs by, and what the means of heads.tsv are made of.
[ "$(sed 1q one/pairs.tsv | tr '\t' ' ')" = 'model place line null_rate null_rate_permuted null_rate_0 null_rate_1 null_rate_permuted_0 null_rate_permuted_1' ] ||
    fail "columns of pairs.tsv: $(sed 1q one/pairs.tsv)"
"$RELA" filter rela-g/model.rela --src a --tgt a --by null --dry-run --duplicates keep --keep-copies --max-overlap 1 --scores scores -q >/dev/null
cut -f 1,4 scores | sed 1d >by_filter
cut -f 3,4 one/pairs.tsv | sed 1d >by_analysis
cmp by_filter by_analysis || fail "null rates of pairs: $(paste by_filter by_analysis | awk '$2 != $4' | sed 3q)"
awk -F '\t' 'NR > 1 { d = 2 * $4 - $6 - $7; e = 2 * $5 - $8 - $9; if (d * d > 1e-11 || e * e > 1e-11) print }' one/pairs.tsv | grep . &&
    fail "means over layers in pairs.tsv"
for layer in 0 1; do # the macro average of heads.tsv is the mean over pairs
    awk -F '\t' -v layer=$layer 'FNR == 1 { next } FILENAME ~ /heads/ { if ($2 == "cross" && $3 == layer) { sum += $8; heads++ }; next }
        { pairs += $(6 + layer); n++ } END { d = sum / heads - pairs / n; exit d * d > 1e-11 }' one/heads.tsv one/pairs.tsv ||
        fail "mean of pairs.tsv, layer $layer"
done
for folder in / "$PWD"; do
    grep -qF "$folder" one/*.tsv one/analysis.json && fail "$folder in tables: $(grep -lF "$folder" one/*.tsv one/analysis.json)"
done

# Threads change no byte; the seed only what is permuted.
"$RELA" analyse rela-g/model.rela --src a --tgt a --gold gold --tags tags --out two --dump two.npz -q \
    --threads 3 >/dev/null
for file in analysis.json heads.tsv layers.tsv models.tsv pairs.tsv tags.tsv report.html maps-1.png; do
    cmp one/$file two/$file || fail "$file depends on the threads"
done
cmp one.npz two.npz || fail "the dump depends on the threads"
"$RELA" analyse rela-g/model.rela --src a --tgt a --out three -q --seed 7 --json >json
cmp json three/analysis.json || fail "--json prints something else"
grep -q '"seed": 7' json || fail "the seed is not told"
[ ! -e three/aer.svg ] && [ ! -e three/tags.tsv ] || fail "figures without data"

# The figures of a validation are those of an analysis: the same on a text of up to 4,096 tokens, and close to them on a
# longer one, even if it is sorted by length. Columns of valid.tsv: enc, dec, cross, null rate of cross.
# validated RUN: sparsity and null rate of its validation. analysed DIR: the same of an analysis.
validated() { tail -n 1 "$1/valid.tsv" | cut -f 7-10 | tr '\t' '\n'; }
analysed() { awk -F '\t' 'NR > 1 { print $5; null = $7 } END { print null }' "$1/models.tsv"; }
# apart RUN DIR: the largest difference
apart() { { validated "$1" && analysed "$2"; } | awk '{ x[NR] = $1 } END { for (i = 1; i <= 4; i++) { d = x[i] - x[i + 4]
    most = d > most ? d : -d > most ? -d : most }; print NR == 8 ? most : 9 }'; }
awk -v d="$(apart rela-g one)" 'BEGIN { exit d > 0.0001 }' || fail "validated: $(validated rela-g | xargs), analysed: $(analysed one | xargs)"
cat text text text text text | awk '{ print NF, $0 }' | sort -n | cut -d ' ' -f 2- >sorted
"$RELA" train --quiet --preset demo --merges 4 --width 32 --ffn 64 --heads 4 --enc-layers 1 --dec-layers 2 --updates 40 \
    --batch-tokens 256 --save-every 40 --average 1 --valid-every 40 --train-src text --train-tgt text --valid-src sorted --valid-tgt sorted \
    --valid-beam 0 --out long --threads 2
"$RELA" analyse long/model.rela --src sorted --tgt sorted --out long.out -q >/dev/null
awk -v d="$(apart long long.out)" 'BEGIN { exit d > 0.01 }' || fail "validated: $(validated long | xargs), analysed: $(analysed long.out | xargs)"

# Side by side. Softmax has neither zeros nor null rows.
"$RELA" analyse rela-g/model.rela --compare softmax/model.rela --src a --tgt a --gold gold --out both -q >table
grep -q '^rela-g (70 pairs)' table && grep -q '^softmax (70 pairs)' table || fail "names: $(cat table)"
awk -F '\t' '$1 == "softmax" && ($5 + $6 + $7 != 0)' both/models.tsv | grep . && fail "softmax has zeros"
awk -F '\t' '$1 == "rela-g" && $2 == "cross" && $5 < 0.01' both/models.tsv | grep . && fail "rela-g has no zeros"
# AUC: an interval, and blank without null rows, where there is nothing to tell texts apart by.
awk -F '\t' '$1 == "softmax" && $13 $18 $19 != ""' both/models.tsv | grep . && fail "AUC of softmax"
awk -F '\t' '$1 == "rela-g" && $2 == "cross" { bad = !($18 < $13 && $13 < $19); exit } END { exit bad }' both/models.tsv ||
    fail "AUC of rela-g: $(cat both/models.tsv)"
grep -q '"auc_text_permuted": null' both/analysis.json || fail "AUC of softmax in analysis.json"
[ "$(grep -c 'AUC text, permuted' table)" -eq 1 ] || fail "AUC of softmax: $(cat table)"
chance=$(awk -F '\t' '$13 != "" && $18 <= 0.5 && $19 >= 0.5 { n++ } END { print n + 0 }' both/models.tsv)
[ "$(grep -c 'no better than chance' table || true)" -eq "$chance" ] || fail "chance: $(cat table)"
[ "$(grep -c ': no better than chance)</td>' both/report.html || true)" -eq "$chance" ] || fail "chance in the report"
[ -s both/maps-2.svg ] && [ -s both/maps-permuted-2.pdf ] || fail "no figures of the second model"
[ -s both/null-heads-1.svg ] && [ ! -e both/null-heads-2.svg ] || fail "null rates of the heads of softmax"
texts both/maps-2.svg | grep -q 'null\|empty' && fail "null rows of softmax: $(texts both/maps-2.svg)"
caption 'Attention of each head: rela-g' both | grep -q 'null attention' || fail "caption of rela-g"
caption 'Attention of each head: softmax' both >below
grep -q '^Cross attention of layer' below && ! grep -q 'null\|Hatched' below || fail "caption of softmax: $(cat below)"
grep -q 'No weight shown is exactly zero' below || fail "caption of softmax: $(cat below)"
# All models show the same line and layer, whichever comes first.
"$RELA" analyse softmax/model.rela rela-g/model.rela --src a --tgt a --out swapped -q >/dev/null
for dir in both swapped; do
    for name in rela-g softmax; do
        caption "Attention of each head: $name" $dir | sed 's/, head by head.*//'
        caption "Attention on a wrong target: $name" $dir | sed 's/ on the source.*//; s/$/ on line/'
    done
done | sed 's/ on line.*//' | sort -u >places
[ "$(wc -l <places)" -eq 1 ] || fail "models show different layers: $(cat places)"
caption 'Null rate' both | grep -q 'softmax 0.0 %, permuted 0.0 %' || fail "caption: $(caption 'Null rate' both)"
"$RELA" analyse rela-g/model.rela softmax/model.rela --names A --names '<b>' --src a --tgt a --out named -q -n 20 >table
grep -q '^<b> (20 pairs)' table || fail "given names: $(cat table)"
grep -q '<b><b>' named/report.html && fail "names are not escaped"

# Models whose names would be the same have longer ones.
mkdir -p other/rela-g
cp rela-g/model.rela other/rela-g
cp rela-g/model.rela rela-g/best.rela
# names MODEL...: the names of the models, joined by ","
names() { rela analyse "$@" --src a --tgt a --out named -q -n 4 | sed -n 's/ (4 pairs).*//p' | paste -sd , -; }
[ "$(names rela-g/model.rela rela-g/best.rela)" = rela-g/model,rela-g/best ] || fail "names of two models of a run"
[ "$(names rela-g/model.rela other/rela-g/model.rela softmax/model.rela)" = rela-g/model.rela,other/rela-g/model.rela,softmax ] ||
    fail "names of models of two folders: $(names rela-g/model.rela other/rela-g/model.rela softmax/model.rela)"
[ "$(names rela-g/best.rela rela-g/best.rela)" = 'rela-g/best.rela,rela-g/best.rela (2)' ] || fail "names of the same model twice"

# A long sentence: as few maps on a line as keep the page narrow; what is still too wide scrolls.
for n in 40 80; do awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) printf "w "; print "w" }'; done >lines
"$RELA" analyse rela-g/model.rela --src lines --tgt lines --example 1 --out long1 -q >/dev/null
"$RELA" analyse rela-g/model.rela --src lines --tgt lines --example 2 --out long2 -q >/dev/null
for svg in one/*.svg long1/*.svg; do
    width=$(sed -n 's/^<svg .* width="\([0-9]*\).*/\1/p' "$svg")
    [ "$width" -le 810 ] || fail "$svg is $width wide"
done
grep -q '^#d[0-9]* svg{max-width:none}' long1/report.html && fail "a map of 40 words scrolls on a wide page"
[ "$(grep -c '^#d[0-9]* svg{max-width:none}' long2/report.html)" -eq 2 ] || fail "a map of 80 words does not scroll"

"$RELA" analyse softmax/model.rela --src a --tgt a --tags tags --out soft -q >/dev/null
grep -q '<th>temperature\|<sup>' soft/report.html && fail "temperatures of softmax"
[ ! -e softmax/figures/sparsity.svg ] && [ -s softmax/figures/loss.png ] && [ -s rela-g/figures/sparsity.svg ] ||
    fail "curves of training: $(ls softmax/figures rela-g/figures)"
[ ! -e soft/null-rate.svg ] && [ ! -e soft/tags-1.svg ] && [ -s soft/tags.tsv ] || fail "figures of null rates of softmax"
caption 'Attention on a wrong target: softmax' soft >below
grep -q '^Cross attention of layer' below && ! grep -q null below || fail "caption of softmax: $(cat below)"

# Text that fonts and XML cannot show: control characters, bytes that are not UTF-8, long words.
printf 'w1 w2 a\001b \377\376 %060d <b>&amp; w3 w4 w5\n' 7 >strange
"$RELA" analyse rela-g/model.rela --src strange --tgt strange --example 1 --out strange.out -q >/dev/null || fail "strange words"
texts strange.out/maps-1.svg | grep -q '^0*…$' || fail "a long word: $(texts strange.out/maps-1.svg)"
iconv -f UTF-8 -t UTF-8 strange.out/report.html >report.utf8 || fail "the report is not UTF-8"
LC_ALL=C tr -d '\t\n\040-\377' <report.utf8 | grep -q . && fail "control characters in the report"

# Odd text: one word, empty and long lines, tags that do not fit.
{ echo w1; echo; echo "w1 w2"; awk 'BEGIN { for (i = 0; i < 3000; i++) printf "w1 "; print "" }'; } >odd
{ echo ODD; echo; echo ODD; echo ODD; } >odd.tags
"$RELA" analyse rela-g/model.rela --src odd --tgt odd --tags odd.tags --out odd.out >table 2>note || fail "odd text: $(cat note)"
grep -q '(2 pairs)' table || fail "odd text: $(cat table)"
grep -q 'line 4: longer than' note && grep -q '1 line with another number of tags' note || fail "note: $(cat note)"

model=rela-g/model.rela
: >empty
echo >blank
printf '0-0\n0-99\n' >bad.gold
refuses 3 "empty: no lines" analyse $model --src empty --tgt empty --out x
refuses 3 "blank: no pair could be scored" analyse $model --src blank --tgt blank --out x
refuses 3 "a has 70 lines but text has 300" analyse $model --src a --tgt text --out x
refuses 3 "a has 70 lines but all.gold has 300" analyse $model --src a --tgt a --gold all.gold --out x
refuses 3 "a has 70 lines but gold has 50" analyse $model --src a --tgt a --tags gold --out x
refuses 3 "bad.gold: line 2: " analyse $model --src a --tgt a --gold bad.gold --out x
refuses 2 "no line 71" analyse $model --src a --tgt a --example 71 --out x
refuses 2 "no layer 3" analyse $model --src a --tgt a --layer 3 --out x
refuses 2 "--src, --tgt and --out are needed" analyse $model --src a --tgt a
refuses 2 "1 name for 2 models" analyse $model $model --names A --src a --tgt a --out x
refuses 1 "a: cannot be made" analyse $model --src a --tgt a --out a/x
finish
