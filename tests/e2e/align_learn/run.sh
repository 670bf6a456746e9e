#!/bin/sh
# SPDX-License-Identifier: MIT
# rela align without a model: learns both directions, links the text, keeps what it learned in one file, cleans up.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

mkdir tmp
TMPDIR=$PWD/tmp
export TMPDIR
"$RELA" corpus --quiet --size 3000 --test 300 --out toy >/dev/null
# below AER LINKS GOLD
below() {
    n_checks=$((n_checks + 1))
    "$RELA" aer "$3" -i "$2" --samples 0 >aer
    awk -v most="$1" '{ exit !($2 < most) }' aer || fail "$2: $(cat aer); expected below $1"
}

"$RELA" align --quiet --tokenise --src-lang en --tgt-lang de --updates 160 --save both.rela toy/train.src toy/train.tgt >train.links
[ "$(wc -l <train.links)" -eq 3000 ] || fail "$(wc -l <train.links) lines of links"
below 14 train.links toy/train.align
"$RELA" align --quiet both.rela toy/test.src toy/test.tgt >test.links
below 14 test.links toy/test.align
rela align --quiet both.rela toy/test.src toy/test.tgt --symmetrise intersect | cmp - test.links ||
    fail "the default is not intersect, which has the lowest error"
rela align --quiet both.rela --src toy/test.src --tgt toy/test.tgt --threads 3 | cmp - test.links ||
    fail "texts as options, or threads, change the links"
rela align --quiet both.rela toy/test.src toy/test.tgt --show 2 | grep -q 'links:' || fail "no picture"
[ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"

# Small text; any number of threads.
head -n 200 toy/train.src >a
head -n 200 toy/train.tgt >b
for t in 1 3; do
    accepts align --quiet --updates 8 --threads $t --save "small-$t" a b -o "links-$t"
done
cmp small-1 small-3 || fail "threads change what is learned"
cmp links-1 links-3 || fail "threads change the links"

# A signal ends it without links and without remains.
code=0
"$RELA" align --quiet --updates 100000 a b -o stopped >/dev/null 2>stopped.err &
sleep 2
kill -TERM $!
wait $! || code=$?
[ "$code" -eq 143 ] || fail "exit code $code after SIGTERM: $(cat stopped.err)"
[ ! -e stopped ] || fail "links of a stopped run"
[ -z "$(ls tmp)" ] || fail "left behind after a signal: $(ls tmp)"

"$RELA" train --quiet --preset demo --merges 20 --width 32 --ffn 32 --heads 2 --enc-layers 1 --dec-layers 1 --updates 2 \
    --batch-tokens 300 --train-src a --train-tgt b --out run
cp run/model.rela single.rela

# Both directions are combined: the way is not without effect.
accepts align both.rela a b --symmetrise union -o links
accepts align --quiet --updates 8 a b --layer 1 --head 1 -o links
"$RELA" align single.rela a b --symmetrise union >/dev/null 2>err
grep -q 'warning: --symmetrise has no effect without --reverse' err || fail "one direction: $(cat err)"

# Both models have a card.
accepts info both.rela
[ "$(grep -c '^model [12] of a pair$' lib.out)" -eq 2 ] && [ "$(grep -c '^  dec_layers ' lib.out)" -eq 2 ] ||
    fail "info of a pair: $(head -n 5 lib.out)"
accepts info both.rela --set licence=CC0-1.0
[ "$(grep -c '^  licence  *CC0-1.0$' lib.out)" -eq 2 ] || fail "--set: $(grep licence lib.out)"
accepts info --json both.rela
grep -q '^{"file": "both.rela", "format": "rela pair", "parts": \[{"file".*"licence": "CC0-1.0".*}, {"file".*"licence": "CC0-1.0".*}\]}$' lib.out ||
    fail "info --json of a pair: $(cut -c 1-200 lib.out)"
rela align --quiet both.rela toy/test.src toy/test.tgt | cmp - test.links || fail "a card changes the links"
[ -z "$(ls tmp)" ] || fail "left behind by info: $(ls tmp)"
refuses 2 "is not KEY=VALUE" info both.rela --set licence

# What would fail after minutes of learning fails before.
: >empty
refuses 2 "no layer or head 2; a learned model has 1 of each" align a b --layer 2
refuses 2 "no layer or head 3; a learned model has 1 of each" align a b --layer 1 --head 3
refuses 2 "a: no line 999; it has 200" align a b --show 999
refuses 1 "missing: No such file" align a b --best-on missing
refuses 3 "empty: no lines" align a b --best-on empty
refuses 3 "toy/train.align has 3000 lines but a has 200" align a b --best-on toy/train.align
refuses 1 "missing/pair: cannot be written" align a b --save missing/pair
refuses 2 "pair.gz: models cannot be compressed" align a b --save pair.gz
refuses 1 "toy: Is a directory" align a b --save toy
refuses 2 "--save needs the name of a file" align a b --save - -o links
refuses 1 "missing/links: cannot be written" align a b --output missing/links
refuses 2 "--source and --src-2 need a model with several sources" align a b --source 2
refuses 2 "--source and --src-2 need a model with several sources" align a b --src-2 a

# What cannot be.
head -n 20 a >short
: >empty
head -c 100000 both.rela >cut.rela
refuses 2 "so it cannot be standard input" align - b
refuses 2 "no text" align both.rela
refuses 2 "not both" align a b --src a
refuses 2 "--reverse goes with a model of one direction" align both.rela a b --reverse both.rela
refuses 2 "both.rela: a pair of models; --reverse takes a model of one direction" align single.rela a b --reverse both.rela
refuses 2 "without a model" align both.rela a b --save other
refuses 2 "--soft needs a model of one direction" align a b --soft
refuses 2 "--soft and --reverse" align both.rela a b --soft
refuses 3 "expected as many lines in both" align a short
refuses 3 "no pairs to learn from" align empty empty
printf 'gro\337\n\n' >left-out
refuses 3 "left-out and left-out: no pairs to learn from; left out: invalid UTF-8 (1), an empty side (1)" align left-out left-out
refuses 3 "both.rela: a pair of models, for 'rela align'" translate both.rela
refuses 3 "cut.rela: " align cut.rela a b
refuses 3 "cut.rela: " info cut.rela
[ -z "$(ls tmp)" ] || fail "left behind after errors: $(ls tmp)"
finish
