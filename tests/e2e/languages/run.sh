#!/bin/sh
# SPDX-License-Identifier: MIT
# The languages of text: by option, by the names of files, on the card, in the log; never by default.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

"$RELA" corpus --quiet --size 100 --out c >corpus.out 2>/dev/null
cp c/train.src train.lc.norm.tok.fr
cp c/train.tgt train.deu
gzip -k train.lc.norm.tok.fr
small="--preset demo --merges 20 --width 16 --ffn 16 --heads 2 --enc-layers 1 --dec-layers 1 --batch-tokens 300 --updates"

# card WANT RUN: the languages on the card, on one line
card() {
    n_checks=$((n_checks + 1))
    "$RELA" info "$2/model.rela" >info
    got=$(awk '/^ *(source|target) language/ { printf "%s ", $3 }' info)
    [ "$got" = "$1" ] || fail "$2: languages '$got', expected '$1'"
}

# shellcheck disable=SC2086
# train UPDATES OPTION...
train() {
    "$RELA" train $small "$@" >train.out 2>train.err || fail "train $*: $(cat train.err)"
}
train 1 --tokenise --train-src train.lc.norm.tok.fr.gz --train-tgt train.deu --out named
card "fr de " named
grep -q 'languages: fr to de' train.err || fail "nothing is said: $(cat train.err)"
"$RELA" tokenise -q --no-escape train.lc.norm.tok.fr >by-name
"$RELA" tokenise -q --no-escape -l fr train.lc.norm.tok.fr >by-option
cmp -s by-option by-name || fail "tokenise does not take the language of the name"
train 1 --tokenise --src-lang eng --tgt-lang German --train-src train.lc.norm.tok.fr.gz --train-tgt c/train.tgt --out given
card "en de " given
train 1 --train-src c/train.src --train-tgt c/train.tgt --out none
card "" none
train 1 --train-src c/train.src --train-tgt train.deu --tgt-lang pt-BR --out half
card "pt-BR " half
# a run of a version that wrote en and de goes on, since nothing depends on them
train 1 --train-src c/train.src --train-tgt c/train.tgt --src-lang en --tgt-lang de --out older
train 2 --train-src c/train.src --train-tgt c/train.tgt --out older
n_checks=$((n_checks + 1))
"$RELA" align --tokenise --updates 2 train.lc.norm.tok.fr train.deu -o links 2>align.err || fail "align: $(cat align.err)"
grep -q 'languages: fr to de' align.err || fail "align says nothing: $(cat align.err)"
"$RELA" tokenise train.deu 2>err >out
grep -q 'language de, by the name of train.deu; --language sets it' err || fail "tokenise says nothing: $(cat err)"
finish
