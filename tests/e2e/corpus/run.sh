# SPDX-License-Identifier: MIT
# rela corpus: sizes, same seed same files, bad options, places that cannot be written.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# lines N FILE...: each file has N lines.
lines() {
    want=$1
    shift
    for file; do
        n_checks=$((n_checks + 1))
        [ "$(wc -l <"$file")" -eq "$want" ] || fail "$file: $(wc -l <"$file") lines, expected $want"
    done
}

for size in 0 1 1000; do
    accepts corpus --size $size --out "size-$size"
    lines $size size-$size/train.src size-$size/train.tgt size-$size/train.align size-$size/train.src.upos size-$size/train.tgt.upos
    lines 500 size-$size/valid.src size-$size/valid.tgt size-$size/valid.align
    lines 500 size-$size/test.src size-$size/test.tgt size-$size/test.align
    [ "$(find "size-$size" | wc -l)" -eq 16 ] || fail "size $size: other files than the fifteen"
done

# 100,000 pairs; the first 1,000 are those of the smaller corpus.
accepts corpus -n 100K --valid 20 --test 10 --out large --json --quiet
lines 100000 large/train.src large/train.tgt large/train.align
lines 20 large/valid.src
lines 10 large/test.align
grep -q '"train": 100000, "valid": 20, "test": 10,' lib.out || fail "no figures: $(cat lib.out)"

# The same seed gives the same bytes, on any number of threads; another seed does not.
for t in 1 3; do
    accepts corpus -n 2000 --seed 7 --threads $t --out "seed-7-$t"
done
diff -r seed-7-1 seed-7-3 || fail "threads change the corpus"
accepts corpus -n 2000 --seed 8 --out seed-8
! cmp -s seed-8/train.src seed-7-1/train.src || fail "seed 8 gives the corpus of seed 7"
accepts corpus -n 500 --seed 7 --out seed-7-short
head -n 500 seed-7-1/train.tgt | cmp - seed-7-short/train.tgt || fail "not the first 500 pairs"

# Held out is held out, on both sides.
for side in src tgt; do
    sort -u seed-7-1/train.$side >train
    for part in valid test; do
        sort seed-7-1/$part.$side | comm -12 - train >both
        [ ! -s both ] || fail "$part.$side occurs in train: $(head -n 1 both)"
    done
done

# The links count the words of the tokenised text.
accepts corpus -n 300 --tokenised --out words
paste -d '|' words/train.src words/train.tgt words/train.align | awk -F '|' '{
    m = split($1, a, " "); n = split($2, b, " "); k = split($3, link, " ")
    for (i = 1; i <= k; i++) {
        if (link[i] !~ /^[0-9]+[-?][0-9]+$/) bad++
        split(link[i], ends, /[-?]/)
        if (ends[1] >= m || ends[2] >= n) bad++
    }
} END { exit bad > 0 }' || fail "a link is malformed or out of range"
tr -d ' ' <words/train.src >squeezed
accepts corpus -n 300 --out text
tr -d ' ' <text/train.src | cmp - squeezed || fail "tokenised text differs in more than blanks"

# And those are the words that the tokeniser finds.
for side in "en src" "de tgt"; do
    n_checks=$((n_checks + 1))
    "$RELA" tokenise -q -l "${side% *}" <"text/train.${side#* }" >found || fail "tokenise $side"
    cmp found "words/train.${side#* }" || fail "the tokeniser finds other words: $side"
done

# Parts of speech: one tag per word of the tokenised text, of those of Universal Dependencies.
for side in src tgt; do
    n_checks=$((n_checks + 1))
    paste -d '|' words/train.$side words/train.$side.upos | awk -F '|' 'split($1, a, " ") != split($2, b, " ")' >odd
    [ ! -s odd ] || fail "$side: another number of tags than of words: $(sed 1q odd)"
    cmp words/train.$side.upos text/train.$side.upos || fail "--tokenised changes the tags of $side"
    tr ' ' '\n' <words/train.$side.upos | sort -u >tags
    grep -vxE 'ADJ|ADP|ADV|AUX|CCONJ|DET|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|VERB' tags >odd || true
    [ ! -s odd ] || fail "$side: tags $(tr '\n' ' ' <odd)"
done

# A known pair, that of docs/corpus.md.
accepts corpus -n 30 --seed 1 --out known
tail -n 1 known/train.tgt.upos | grep -qx 'DET ADJ NOUN AUX ADV ADJ AUX PUNCT CCONJ PRON AUX DET ADJ NOUN VERB PUNCT' ||
    fail "tags of '$(tail -n 1 known/train.tgt)': $(tail -n 1 known/train.tgt.upos)"
tail -n 1 known/train.src.upos | grep -qx 'DET ADJ NOUN AUX AUX ADV ADJ PUNCT CCONJ PRON AUX VERB ADP DET ADJ NOUN PUNCT' ||
    fail "tags of '$(tail -n 1 known/train.src)': $(tail -n 1 known/train.src.upos)"

# The other direction has the same pairs; its links are turned round.
accepts corpus -n 300 --reverse --out back
for part in train valid test; do
    for files in 'src tgt' 'tgt src' 'src.upos tgt.upos' 'tgt.upos src.upos'; do
        cmp "text/$part.${files% *}" "back/$part.${files#* }" || fail "--reverse: $part.${files% *}"
    done
    awk '{ n = split($0, link, " "); for (i = 1; i <= n; i++) { split(link[i], w, /[-?]/); print NR, w[1], w[2], link[i] ~ /[?]/ } }' "text/$part.align" |
        sort >there
    awk '{ n = split($0, link, " "); for (i = 1; i <= n; i++) { split(link[i], w, /[-?]/); print NR, w[2], w[1], link[i] ~ /[?]/ } }' "back/$part.align" |
        sort | cmp there - || fail "--reverse: links of $part"
done
awk '{ last = -1; n = split($0, link, " "); for (i = 1; i <= n; i++) { split(link[i], w, /[-?]/); if (w[1] < last) exit 1; last = w[1] } }' \
    back/train.align || fail "--reverse: links are not sorted"

# Easy sentences: one clause, so no comma and no link word; held out is held out.
accepts corpus -n 3000 --level easy --out easy
! grep -qE ',| because | who | which ' easy/train.src || fail "an easy sentence with two clauses"
cat easy/valid.src easy/test.src | sort >held
sort -u easy/train.src | comm -12 held - >both
[ ! -s both ] || fail "easy test sentences occur in train: $(head -n 1 both)"
refuses 2 "option --level" corpus --out x --level simple

# Bad options.
refuses 2 "--out must name a directory" corpus
refuses 2 "the name" corpus --out ''
refuses 2 "option --size" corpus --out x --size -1
refuses 2 "option --size" corpus --out x --size many
refuses 2 "option --valid" corpus --out x --valid 99999999
refuses 2 "unexpected argument 'y'" corpus --out x y
refuses 2 "unknown command 'corpus chek'; did you mean 'check'?" corpus chek --out x
[ ! -e x ] || fail "a refused run made its directory"

# Places that cannot be written: the old files stay, nothing is left behind.
echo old >plain
refuses 1 "plain: cannot be made: Not a directory" corpus -n 1 --out plain
refuses 1 "Not a directory" corpus -n 1 --out plain/below
mkdir full
ln -s /dev/full full/train.tgt
refuses 1 "full/train.tgt: cannot be written: No space left on device" corpus -n 20000 --out full
[ "$(ls full)" = train.tgt ] || fail "left behind: $(ls full)"
if [ "$(id -u)" -eq 0 ]; then
    echo "partly skipped: root may write anywhere"
else
    mkdir locked
    chmod 555 locked
    refuses 1 "locked/train.src: cannot be written: Permission denied" corpus -n 1 --out locked
    chmod 755 locked
fi
code=0
(ulimit -f 100 && exec "$RELA" corpus -n 100K --out limited) >lib.out 2>lib.err || code=$?
[ "$code" -eq 1 ] || fail "a file over the limit of the system: exit code $code: $(cat lib.err)"
grep -q 'cannot be written: File too large' lib.err || fail "$(cat lib.err)"
[ -z "$(ls limited)" ] || fail "left behind: $(ls limited)"
code=0
"$RELA" corpus -n 10 --out quiet >&- 2>lib.err || code=$?
[ "$code" -ne 0 ] || fail "closed standard output: exit code 0"

finish
