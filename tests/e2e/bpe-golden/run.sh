#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands against the output of subword-nmt (tools/golden/bpe.py), on 1, 2 and 3 threads.
set -eu
golden=$RELA_SOURCE/tests/golden/bpe
text=$golden/corpus.txt

same() { # same NAME FILE: FILE equals the golden file
    cmp "$2" "$golden/$1" || { echo "bpe-golden: $1 differs"; exit 1; }
}
learn() { # learn NAME OPTION...
    name=$1
    shift
    "$RELA" bpe learn -q "$@" "$text" -o out && same "$name" out
    "$RELA" bpe learn -q "$@" <"$text" >out && same "$name" out
}
apply() { # apply NAME CODES OPTION...
    name=$1 codes=$golden/codes-$2
    shift 2
    "$RELA" bpe apply -c "$codes" "$@" "$text" -o out && same "apply-$name" out
    "$RELA" bpe apply -c "$codes" "$@" <"$text" >out && same "apply-$name" out
}

for threads in 1 2 3; do
    export OMP_NUM_THREADS=$threads
    learn codes-default
    learn codes-short -s 60
    learn codes-rare --min-frequency 1
    learn codes-frequent --min-frequency=6
    learn codes-total -s 330 --total-symbols
    "$RELA" bpe learn -q --dict-input -s 200 "$golden/vocab-pieces" >out
    same codes-dictionary out

    apply default default
    apply merges rare --merges 100
    apply separator short --separator '￭'
    apply threshold rare --vocabulary "$golden/vocab-pieces" --vocabulary-threshold 3
    apply vocabulary default --vocabulary "$golden/vocab-pieces"
    apply glossary rare --glossaries USA --glossaries '<[^>]*>' --glossaries '[0-9]+' \
        --glossaries '(New|Los)(er)?'
    apply both default --vocabulary "$golden/vocab-pieces" --vocabulary-threshold 4 \
        --glossaries USA --glossaries 'a|b' --glossaries 'http.*' --glossaries 'z*'
    apply old old
    apply oldthreshold old --vocabulary "$golden/vocab-pieces" --vocabulary-threshold 3

    "$RELA" vocab "$text" >out
    same vocab-words out
done

# Joint learning is learning from the files one after the other, compressed or not.
head -n 20 "$text" | gzip >one.gz
tail -n +21 "$text" | zstd -q >two.zst
"$RELA" bpe learn -q one.gz two.zst >out
same codes-default out

# Undoing gives back the text, but for blanks between words.
"$RELA" bpe undo "$golden/apply-default" >out
sed ':a; s/\([^ ]\)  \( *[^ ]\)/\1 \2/; ta' "$text" >want
cmp out want
printf 'a@@ b@@\nc@@\n@@ @@\n@@@ x\nno mark\n' | "$RELA" bpe undo >out
printf 'ab\nc\n\n@x\nno mark\n' | cmp - out

# Dropout: nothing with 0, single characters with 1, else the same for any number of threads.
"$RELA" bpe apply -c "$golden/codes-default" --dropout 0 "$text" >out
same apply-default out
"$RELA" bpe apply -c "$golden/codes-default" --dropout 0.3 --seed 7 -t 1 "$text" >one
"$RELA" bpe apply -c "$golden/codes-default" --dropout 0.3 --seed 7 -t 3 "$text" >three
"$RELA" bpe apply -c "$golden/codes-default" --dropout 0.3 --seed 8 "$text" >other
cmp one three
if cmp -s one other; then echo "the seed changes nothing"; exit 1; fi
"$RELA" bpe undo one >joined
cmp joined want
echo 'bread' | "$RELA" bpe apply -c "$golden/codes-default" --dropout 1 >out
echo 'b@@ r@@ e@@ a@@ d' | cmp - out

# The vocabulary of a model: special tokens first, then by frequency, then by code point.
printf 'b a c a b\n<unk> c b\n' | "$RELA" vocab -q --format tokens >out
printf '<pad>\n<unk>\n<eos>\nb\na\nc\n' | cmp - out
printf 'b a c a b\n<unk> c b\n' | "$RELA" vocab -q --format tokens --size 5 --min-frequency 2 >out
printf '<pad>\n<unk>\n<eos>\nb\na\n' | cmp - out
printf 'b a c a b\nc b d\n' | "$RELA" vocab --min-frequency 2 --size 2 >out
printf 'b 3\na 2\n' | cmp - out
