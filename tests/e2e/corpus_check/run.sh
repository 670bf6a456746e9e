# SPDX-License-Identifier: MIT
# rela corpus check: the table of the rules, files of all kinds, files that do not fit together.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# row NAME NUMBER: the table that was printed last has this row.
row() {
    n_checks=$((n_checks + 1))
    grep -Eq "^ *$1 +$2( |\$)" lib.out || fail "expected '$1 $2' in: $(cat lib.out)"
}

# One bad pair of each kind among good ones.
{
    printf '\357\273\277first good line\r\n'
    printf 'second one\n\n'
    printf 'bad \377 byte\n'
    printf 'same here\n'
    printf 'a b c d e f g h i j\n'
    printf 'with \000 inside\n'
    head -c 70000 /dev/zero | tr '\000' x
    printf '\na b c d e f\nlast without an end'
} >a
printf 'eins\nzwei drei\nvier\nfuenf\nsame here\nsechs\nsieben\nacht\nneun zehn\nelf' >b
accepts corpus check --src a --tgt b --max-tokens 8 --max-ratio 4 --drop-identical
row 'pairs read' 10
row 'kept' 5
row 'dropped' 5
row 'an empty side' 1
row 'invalid UTF-8' 1
row 'both sides identical' 1
row 'too many tokens' 1
row 'a line over the byte limit' 1
row 'byte order marks removed' 1
row 'CR before LF removed' 1
row 'pairs with NUL kept' 1
grep -q 'invalid UTF-8 .* line 4$' lib.out || fail "no line number: $(cat lib.out)"
accepts corpus check --src a --tgt b --max-tokens 3 --cut --max-ratio 2.5
row 'kept' 3
row 'lengths too different' 4
row 'pairs cut' 1

# The same pairs in every form give the same figures.
accepts corpus -n 3000 --out corpus
accepts corpus check --src corpus/train.src --tgt corpus/train.tgt --json
cp lib.out want
gzip -k corpus/train.src
zstd -q corpus/train.tgt 2>/dev/null || cp corpus/train.tgt corpus/train.tgt.zst
accepts corpus check --src corpus/train.src.gz --tgt corpus/train.tgt.zst --json
cmp lib.out want || fail "compressed files: $(cat lib.out)"
paste corpus/train.src corpus/train.tgt >corpus/train.tsv
accepts corpus check --tsv corpus/train.tsv --json
cmp lib.out want || fail "two columns: $(cat lib.out)"
for t in 1 3; do
    accepts corpus check --src corpus/train.src --tgt corpus/train.tgt --json --threads $t --memory 0
    cmp lib.out want || fail "$t threads, scratch file: $(cat lib.out)"
done
"$RELA" corpus check --src - --tgt corpus/train.tgt --json <corpus/train.src >lib.out 2>lib.err ||
    fail "standard input: $(cat lib.err)"
cmp lib.out want || fail "standard input: $(cat lib.out)"

# Files that do not fit together, or are not what they seem.
head -n 2999 corpus/train.tgt >short
refuses 3 "corpus/train.src has 3000 lines and short has 2999; expected as many lines in both" \
    corpus check --src corpus/train.src --tgt short
refuses 3 "short has 2999 lines and corpus/train.src has 3000" \
    corpus check --src short --tgt corpus/train.src
head -c 20000 corpus/train.src.gz >cut.gz
refuses 3 "cut.gz: compressed data is cut off" corpus check --src cut.gz --tgt corpus/train.tgt
refuses 1 "missing: No such file or directory" corpus check --src missing --tgt b
refuses 1 "Is a directory" corpus check --src . --tgt b
refuses 2 "no text: name the two files" corpus check
refuses 2 "no text: name the two files" corpus check --src a
refuses 2 "no text: name the two files" corpus check --src a --tgt b --tsv c
refuses 2 "standard input can be read only once" corpus check --src - --tgt -
refuses 2 "--max-ratio is 0.5; expected 0 or at least 1" corpus check --src a --tgt b --max-ratio 0.5
refuses 2 "option --max-tokens" corpus check --src a --tgt b --max-tokens 0
refuses 1 "scratch file in nowhere: No such file or directory" \
    corpus check --src corpus/train.src --tgt corpus/train.tgt --memory 0 --scratch nowhere

# Nothing at all.
: >empty
accepts corpus check --src empty --tgt empty
row 'pairs read' 0

# The corpora that come with the project, if they are there.
multi=$RELA_DATA/multi30k/tok/train.lc.norm.tok
if [ -f "$multi.en.gz" ]; then
    accepts corpus check --src "$multi.en.gz" --tgt "$multi.de.gz"
    row 'kept' 29,000
    grep -Eq 'padding would be [0-9]\.[0-9]+ %' lib.out || fail "padding over 10 %: $(cat lib.out)"
else
    echo "partly skipped: no data: multi30k in $RELA_DATA"
fi

finish
