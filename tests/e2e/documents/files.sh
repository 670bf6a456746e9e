# SPDX-License-Identifier: MIT
# files.sh DIR: the files that the pages name, made from the built-in corpus.
set -eu
dir=$1
bin=$PWD/bin
mkdir "$dir"
cd "$dir"
"$RELA" corpus --quiet --size 300 --valid 20 --test 20 --out toy
for set in train valid test; do
    short=$([ $set = valid ] && echo val || echo $set)
    cp toy/$set.src "$short.en"
    cp toy/$set.tgt "$short.de"
    cp toy/$set.src "$short.fr"
done
for name in text c corpus captions; do
    cp train.en $name.en
    cp train.de $name.de
done
gzip -k train.en train.de
cp toy/test.align test.align
cp test.en in.en
cp test.de test-2.de
for name in output a b; do head -n 18 test.de | sed 's/ist/war/' | { cat; echo "ein Hund"; echo "das Haus"; } >$name.de; done
for name in output forward backward; do cp toy/test.align $name.align; done
"$RELA" bpe learn --quiet -s 60 train.de -o codes
"$RELA" bpe apply --quiet -c codes train.de -o output.bpe
"$RELA" bpe apply --quiet -c codes train.en -o train.bpe.en
cp test.de output.true.de
for model in "rela-g run" "softmax softmax" "rela-g rela-g"; do
    "$bin/rela" train --preset demo --tokenise --attention ${model% *} --train-src train.en --train-tgt train.de --out ${model#* }
done
"$bin/rela" train --preset demo --tokenise --train-src train.en --train-src-2 train.fr --train-tgt train.de --out two
mv two/model.rela en+fr-de.rela

# Corpora of $RELA_DATA, by their names.
mkdir -p data/europarl-deen data/multi30k/tok
for side in en de; do
    cp train.$side.gz data/europarl-deen/
    cp test.$side data/europarl-deen/dev.$side
    cp train.$side.gz data/multi30k/tok/train.lc.norm.tok.$side.gz
    gzip -c val.$side >data/multi30k/tok/val.lc.norm.tok.$side.gz
done
cp toy/test.align data/europarl-deen/dev.align
