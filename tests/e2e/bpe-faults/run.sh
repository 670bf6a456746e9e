#!/bin/sh
# SPDX-License-Identifier: MIT
# Every allocation and file call of the subword commands fails once, and from there on.
set -eu
golden=$RELA_SOURCE/tests/golden/bpe
sweep=$RELA_SOURCE/tests/e2e/fault-sweep
text=$golden/corpus.txt
head -n 12 "$text" >small

"$sweep" -o codes "$RELA" bpe learn -q -t 2 -s 40 small -o codes
"$sweep" -c file -i small "$RELA" bpe learn -q -t 1 -s 10
"$sweep" -c mem -o out "$RELA" bpe learn -q --dict-input -s 20 "$golden/vocab-pieces" -o out
"$sweep" -o out "$RELA" bpe apply -q -t 2 -c "$golden/codes-short" \
    --vocabulary "$golden/vocab-pieces" --vocabulary-threshold 3 --glossaries USA small -o out
"$sweep" -c file -i small "$RELA" bpe apply -q -t 1 -c "$golden/codes-short"
"$sweep" -o out.gz "$RELA" bpe undo -q "$golden/apply-default" -o out.gz
"$sweep" -o out "$RELA" vocab -q -t 2 small -o out
"$sweep" -c mem -i small "$RELA" vocab -q -t 1 --format tokens
