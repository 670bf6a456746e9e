#!/bin/sh
# SPDX-License-Identifier: MIT
# rela view: the page is one file; in a browser its numbers are those of rela analyse --dump, text of sentences stays text, and
# the states of the address can be seen; attention of other programs; bad input with exit code and message.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

awk 'BEGIN {
    srand(4)
    for (i = 0; i < 200; i++) {
        n = 3 + int(rand() * 5)
        line = ""; gold = ""
        for (j = 0; j < n; j++) {
            line = line (j ? " " : "") "w" int(rand() * 20)
            gold = gold (j ? " " : "") j "-" j
        }
        print line > "text"
        print gold > "all.gold"
    }
}'
for kind in rela-g softmax; do
    "$RELA" train --quiet --preset demo --attention $kind --merges 4 --width 32 --ffn 64 --heads 4 \
        --enc-layers 1 --dec-layers 2 --updates 30 --batch-tokens 256 --save-every 30 --average 1 --valid-every 30 \
        --train-src text --train-tgt text --valid-src text --valid-tgt text --valid-beam 0 --out $kind --threads 2
done
evil='<script>alert(1)</script> </script> <!-- & " \u003c'
head -n 48 text >a
echo "w1 $evil w2" >>a
echo "w3 w4" >>a
head -n 50 all.gold >gold
{ head -n 49 a; echo "w3 w5 w4"; } >b

accepts view rela-g/model.rela --src a --tgt b --gold gold -o one.html --threads 1
"$RELA" view -q rela-g/model.rela --src a --tgt b --gold gold -o four.html --threads 4
cmp one.html four.html || fail "the page depends on the number of threads"
grep -q 'src=\|href="http\|@import\|url(' one.html && fail "the page needs other files"
[ "$(grep -c '<script' one.html)" -eq 2 ] || fail "$(grep -c '<script' one.html) script elements"
grep -q "default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]*='; style-src-elem 'sha256-[A-Za-z0-9+/]*='" one.html ||
    fail "content security policy: $(grep Content-Security one.html)"
"$RELA" view -q rela-g/model.rela softmax/model.rela --src a --tgt b --worth -n 3 -o two.html
"$RELA" view -q rela-g/model.rela --src a --tgt b --export document -n 2 -o two.json
[ "$(grep -c '^{"line":' two.json)" -eq 2 ] || fail "a document of 2 sentences: $(cat two.json)"

# N-best lists: entries of a sentence side by side.
"$RELA" translate -q rela-g/model.rela --n-best 4 --beam 4 <a >a.best
"$RELA" view -q rela-g/model.rela --src a --n-best a.best --export document -n 3 -o best.json
[ "$(grep -c '^ {"model":0,"label":"target [1-4]","score":-' best.json)" -ge 6 ] || fail "entries: $(cut -c 1-60 best.json)"

# Other programs. The dump has the same weights, but no probabilities.
"$RELA" analyse -q rela-g/model.rela --src a --tgt b --out analysis --dump dump.npz >/dev/null
"$RELA" view -q dump.npz --export document -n 0 -o dump.json
[ "$(grep -c '^{"line":' dump.json)" -eq 50 ] || fail "$(grep -c '^{"line":' dump.json) sentences of the dump"
printf 'x y ||| 0.5,0.25,0.25 0,0.75,0.25 0,0,1\n' >soft
printf 'a b\n' >soft.src
"$RELA" view -q soft --src soft.src --export document -o soft.json
grep -q '"pieces":\["a","b","<eos>"\],"words":\[0,1\]},{"pieces":\["x","y","<eos>"\]' soft.json || fail "Marian: $(cat soft.json)"
printf 'x y ||| 0.5,0.25,0.25 0,0.75,0.25\n' >cut # a translation that reached the limit has no end
"$RELA" view -q cut --src soft.src --export document -o cut.json
grep -q '{"pieces":\["x","y"\],"words":\[0,1\]}' cut.json || fail "Marian without an end: $(cat cut.json)"
golden=$RELA_SOURCE/tests/golden/inseq.json
"$RELA" view -q "$golden" --export document -o inseq.json.out
grep -q '"key":"encoder","label":"encoder","queries":0,"keys":0,"layers":2,"heads":2' inseq.json.out || fail "inseq: $(head -n 8 inseq.json.out)"

# To inseq and back: the same weights.
"$RELA" view -q rela-g/model.rela --src a --tgt b --export inseq -n 0 -o to.inseq
[ "$(grep -c MultiDimensionalFeatureAttributionSequenceOutput to.inseq)" -eq 50 ] || fail "sequences for inseq"
"$RELA" view -q to.inseq --export document -n 0 -o back.json
# stack FILE N: the rows of the Nth stack, line by line.
stack() { sed -n 's/.*"attention":\[//p' "$1" | tr -d ']}' | cut -d , -f "$2"; }
stack dump.json 1 >encoder
stack back.json 3 | cmp - encoder || fail "encoder through inseq"
stack dump.json 2 >decoder
stack back.json 2 | cmp - decoder || fail "decoder through inseq"
stack dump.json 3 >cross
stack back.json 1 | cmp - cross || fail "cross attention through inseq"

# Mistakes.
refuses 2 'inseq takes one model with one source' view rela-g/model.rela softmax/model.rela --src a --tgt b --export inseq -o x.html
head -c 2000 dump.npz >short.npz
printf 'x ||| 0.5,x\n' >bad
printf '{"sequence_attributions": [{"source_attributions": [[1]]}]}\n' >bad.json
head -n 5 b >five
refuses 2 '--output is needed' view rela-g/model.rela --src a --tgt b
refuses 2 '--src and --tgt (or --n-best) are needed' view rela-g/model.rela --src a -o x.html
refuses 2 'exclude each other' view rela-g/model.rela --src a --tgt b --n-best a.best -o x.html
refuses 3 'a has 50 lines but five has 5' view rela-g/model.rela --src a --tgt five -o x.html
refuses 3 'five: line 1: no entry of an n-best list' view rela-g/model.rela --src a --n-best five -o x.html
refuses 3 'short.npz: ' view short.npz -o x.html
refuses 3 'bad: line 1: no weights' view bad -o x.html
refuses 3 'bad.json: sequence 1: source_attributions is no safetensors text' view bad.json -o x.html
refuses 2 'a is no model' view a --worth -o x.html
[ ! -e x.html ] || fail "a page was written after a mistake"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    finish
    echo "partly skipped: no Chromium"
    exit
fi

# dom PAGE HASH: the page as the browser has it; scripts run, without a network.
dom() {
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --window-size=1280,900 \
        --virtual-time-budget=5000 --dump-dom "file://$PWD/$1#$2" 2>browser.log
}
# plain FILE: the text of the element <pre>.
plain() { awk '/<pre id="report">/ { sub(/.*<pre id="report">/, ""); on = 1 } /<\/pre>/ { on = 0 } on' "$1"; }
# near A B: the same keys, and weights that differ by half a unit in the last place of a half, which has 11 bits: 2^-12 of the
# next power of two, 2^-25 where numbers are tiniest.
near() {
    [ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ] || fail "$(wc -l <"$1") weights in $1, $(wc -l <"$2") in $2"
    paste -d ' ' "$1" "$2" | awk '
        function abs(x) { return x < 0 ? -x : x }
        $1 != $8 || $2 != $9 || $3 != $10 || $4 != $11 || $5 != $12 || $6 != $13 || $7 == 0 || $14 == 0 ||
            abs($7 - $14) > abs($7) * 0.00048829 + 0.0000000299 { print "weight " NR ": " $0; n++ }
        END { exit n > 0 }' >differences || fail "weights of $1 and $2 differ: $(head -n 3 differences)"
}

# Every weight: the browser's numbers against the document made from the dump, and the number of rows against the archive.
dom one.html tsv >tsv.dom
plain tsv.dom >one.tsv
"$RELA" view -q dump.npz -n 0 -o dump.html
dom dump.html tsv >tsv.dom
plain tsv.dom >dump.tsv
cut -f 1-7 one.tsv >one.keys
cut -f 1-7 dump.tsv | cmp - one.keys || fail "rows on the pages of the model and of its dump"
rows=$(grep -c '	' one.tsv)
[ "$rows" -gt 3000 ] || fail "$rows rows on the page"
# The same weights from the archive itself: stored arrays, little endian.
at() { grep -abo "$1.npy" dump.npz | head -n 1 | cut -d : -f 1; }
# array NAME FORM: numbers of an array, one per line; its header has 128 bytes at most, padded to 64.
array() {
    start=$(($(at "$1") + ${#1} + 4 + 20))
    size=$(tail -c +$((start - 15)) dump.npz | head -c 8 | od -An -tu8 | tr -d ' ')
    header=$(($(tail -c +$((start + 9)) dump.npz | head -c 2 | od -An -tu2 | tr -d ' ') + 10))
    tail -c +$((start + 1 + header)) dump.npz | head -c $((size - header)) | od -An -v -w"$3" "$2"
}
array rows -td4 24 >rows
array indptr -td8 8 >ends
array indices -td4 4 >indices
array weights -tf4 4 >numbers
paste indices numbers >pairs
# Lines of pair, place, layer, head, query, key and weight, in the order of these.
tail -n +2 ends | paste -d ' ' rows - | awk '
    { for (; at < $7; at++) { getline w <"pairs"; split(w, p, " "); print $1, $2, $3, $4, $5, p[1], p[2] } }' |
    sort -n -k 1,1 -k 2,2 -k 3,3 -k 4,4 -k 5,5 -k 6,6 >archive
# weights FILE: the same of the numbers on a page.
weights() {
    awk -F '\t' 'BEGIN { place["encoder"] = 0; place["decoder"] = 1; place["cross"] = 2 }
        NR > 1 { n = split($8, w, " "); for (i = 1; i <= n; i++) { split(w[i], p, ":"); print $1 - 1, place[$3], $4, $5, $6, p[1], p[2] } }' "$1" |
        sort -n -k 1,1 -k 2,2 -k 3,3 -k 4,4 -k 5,5 -k 6,6
}
weights one.tsv >page
weights dump.tsv >page.dump
near archive page
cmp page page.dump || fail "weights on the pages of the model and of its dump"

# Text of the sentences is text: no element came from it.
dom one.html 's=49&h=2.1&w=q1' >evil.dom
grep -q '<script' evil.dom && fail "script elements: $(grep -o '<script.*' evil.dom)"
grep -q '&lt;script&gt;alert(1)&lt;/script&gt;' evil.dom || fail "the text of sentence 49"
grep -q 'class="failure"' evil.dom && fail "$(grep -o 'class="failure".*' evil.dom)"
grep -q 'CONSOLE' browser.log && fail "$(grep CONSOLE browser.log)"
# What the address says is shown; two models; what a word is worth; all sentences.
grep -q 'aria-pressed="true"[^>]*aria-label="layer 2, head 1' evil.dom || fail "head 2.1 is not chosen"
dom two.html 's=2&h=1.1&b=2&a=encoder' >two.dom
[ "$(grep -o '<figcaption>[^<]*encoder, layer 1, head 1' two.dom | wc -l)" -eq 2 ] || fail "two models: $(grep -o '<figcaption>[^<]*' two.dom)"
grep -q 'without one source word' two.dom || fail "worth"
dom one.html 'v=corpus' >corpus.dom
grep -q '<body class="corpus">' corpus.dom || fail "all sentences"
dom one.html svg >svg.dom
grep -q '&lt;svg xmlns' svg.dom || fail "SVG"

# The translate box of a running server, which gives the page.
"$RELA" serve softmax/model.rela --port 0 2>serve.log &
server=$!
trap 'kill $server' EXIT
for _ in $(seq 50); do
    ! grep -q 'listening on' serve.log || break
    sleep 0.2
done
address=$(sed -n 's/.*listening on \(http[^ ]*\).*/\1/p' serve.log)
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --window-size=1280,900 \
    --virtual-time-budget=8000 --dump-dom "$address/#t=w1%20w2" >served.dom 2>browser.log
translation=$(echo 'w1 w2' | "$RELA" translate -q softmax/model.rela)
grep -q "<p id=\"translation\"[^>]*>$translation</p>" served.dom || fail "translate box: $(grep -o '<p id="translation".*' served.dom | head -c 300)"
[ "$(grep -o 'class="cell"' served.dom | wc -l)" -eq 8 ] || fail "$(grep -o 'class="cell"' served.dom | wc -l) heads of the translation"
# A warning of the server is a sentence on its page.
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --window-size=1280,900 \
    --virtual-time-budget=8000 --dump-dom "$address/#t=w1%20w1%20w1%20w1%20w1%20w1%20w1%20w1%20w1%20w1%20w1%20w1" >warned.dom 2>browser.log
grep -q 'class="warning"[^>]*>The translation may be wrong: ' warned.dom ||
    fail "no warning: $(grep -o '<p id="translation".*' warned.dom | head -c 300)"
finish
