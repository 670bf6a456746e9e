#!/bin/sh
# SPDX-License-Identifier: MIT
# Words and lines of megabytes: training drops them and learns nothing from them, what 'bpe learn' and 'vocab' write is
# read again, and readers of codes and vocabularies refuse an endless line after a few megabytes.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
peak=$RELA_BUILD/tests/peak
limit=32768 # KiB over an idle program
if ldd "$RELA" | grep -q 'lib[at]san'; then limit=; fi
"$RELA" corpus -q --size 400 --seed 3 --out corpus >/dev/null

letters() { # BYTES: one word
    head -c "$1" /dev/zero | tr '\0' x && echo
}

# ---- training ----
train() { # NAME: from NAME.src and NAME.tgt to NAME
    n_checks=$((n_checks + 1)) code=0
    "$RELA" train -q --preset demo --width 8 --ffn 8 --heads 2 --enc-layers 1 --dec-layers 1 --merges 2000 --updates 2 \
        --batch-tokens 256 --save-every 2 --average 1 --threads 2 --train-src "$1.src" --train-tgt "$1.tgt" --out "$1" \
        2>err || code=$?
    [ $code -eq 0 ] || fail "training on $1: exit code $code: $(cat err)"
}
head -n 99 corpus/train.src >plain.src
head -n 99 corpus/train.tgt >plain.tgt
# A line of 4 MB, one of 70 KB, and an empty one in their place: what is learned must be the same.
for bytes in 4000000 70000 0; do
    { cat plain.src && letters $bytes; } >line$bytes.src
    { cat plain.tgt && head -n 1 plain.tgt; } >line$bytes.tgt
    train line$bytes
    "$RELA" convert line$bytes/model.rela --to safetensors -o line$bytes.out 2>err || fail "$(cat err)"
    for part in bpe.codes vocab.src vocab.tgt; do
        [ -s line$bytes.out/$part ] && { [ $bytes -eq 0 ] || mv line$bytes.out/$part $part.$bytes; }
    done
done
for part in bpe.codes vocab.src vocab.tgt; do
    for bytes in 4000000 70000; do
        cmp -s $part.$bytes line0.out/$part || fail "$part: learned from a line of $bytes bytes, which is dropped"
    done
done

# ---- what is written is read ----
{ cat plain.src && letters 3000000 && letters 3000000; } >words
accepts bpe learn -q -s 200 words -o codes
accepts bpe learn -q -s 200 plain.src -o codes-plain
cmp -s codes codes-plain || fail "a word over the limit is learned from"
accepts bpe apply -q -c codes words
{ cat plain.src && letters 1000000 && letters 1000000; } >words
accepts bpe learn -q -s 200 words -o codes
[ "$(awk '{ if (length > n) n = length } END { print n }' codes)" -gt 200000 ] || fail "a word below the limit is not learned from"
accepts bpe apply -q -c codes words
accepts vocab -q words -o counts
accepts bpe apply -q -c codes --vocabulary counts words
accepts bpe learn -q --dict-input counts -s 200 -o codes-counts
cmp -s codes codes-counts || fail "other codes from counts"

# ---- endless lines ----
"$peak" idle.kib "$RELA" bpe apply -q -c codes-plain plain.src >/dev/null
early() { # MESSAGE ARGUMENT...: exit code 3 at once, in little memory
    message=$1
    shift
    n_checks=$((n_checks + 1)) code=0
    timeout 60 "$peak" peak.kib "$RELA" "$@" >lib.out 2>err </dev/null || code=$?
    [ $code -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "$message" err || fail "rela $*: exit code $code: $(cat err)"
    [ -z "$limit" ] || [ $(($(cat peak.kib) - $(cat idle.kib))) -lt $limit ] || fail "rela $*: $(cat peak.kib) KiB"
}
for file in /dev/zero /dev/urandom; do
    case $file in
    */zero) what='line 1: longer than' ;;
    *) what='line [0-9]*: ' ;;
    esac
    early "$file: $what" bpe apply -q -c $file plain.src
    early "$file: $what" bpe apply -q -c codes --vocabulary $file plain.src
    early "$file: $what" bpe learn -q --dict-input $file
    early "$file: $what" train -q --preset demo --codes $file --train-src plain.src --train-tgt plain.tgt --out t
    early "$file: $what" train -q --preset demo --codes codes --vocab-src $file --train-src plain.src --train-tgt plain.tgt --out t
    for form in marian fairseq opennmt joeynmt; do
        early "$file: $what" convert --vocab $form $file -o t.vocab
    done
done
finish
