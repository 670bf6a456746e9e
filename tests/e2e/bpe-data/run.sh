#!/bin/sh
# SPDX-License-Identifier: MIT
# Codes, segmentations and vocabularies of whole corpora have the check sums of what subword-nmt
# makes of them (tools/golden/bpe.py --data), on any number of threads.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
needs_corpora multi30k europarl-deen

make_all() { # make_all NAME MERGES THREADS FILE FILE
    "$RELA" bpe learn -q -t "$3" -s "$2" "$4" "$5" -o "$1.codes"
    i=0
    for text in "$4" "$5"; do
        "$RELA" bpe apply -q -t "$3" -c "$1.codes" "$text" -o "$1.bpe$i"
        "$RELA" vocab -q -t "$3" "$1.bpe$i" -o "$1.vocab$i"
        "$RELA" bpe apply -q -t "$3" -c "$1.codes" --vocabulary "$1.vocab$i" \
            --vocabulary-threshold 50 "$text" >"$1.checked$i"
        i=$((i + 1))
    done
    grep "  $1\\." "$RELA_SOURCE/tests/e2e/bpe-data/sums" | sha256sum -c --quiet
}

for threads in 1 2 3; do
    make_all multi30k 10000 $threads "$RELA_DATA/multi30k/train.en.gz" "$RELA_DATA/multi30k/train.de.gz"
done
make_all europarl 32000 2 "$RELA_DATA/europarl-deen/train.de.gz" "$RELA_DATA/europarl-deen/train.en.gz"
gzip -dc "$RELA_DATA/europarl-deen/train.de.gz" >text
"$RELA" bpe undo europarl.bpe0 >joined
cmp joined text
