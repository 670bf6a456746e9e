#!/bin/sh
# SPDX-License-Identifier: MIT
# The card of a model: what training writes into it, what rela info shows and sets; and models that are found by name.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
unset SOURCE_DATE_EPOCH RELA_MODELS XDG_DATA_HOME
HOME=$PWD/home
export HOME

"$RELA" corpus --quiet --level easy --size 300 --valid 20 --test 20 --out toy >/dev/null
# train OUT UPDATES OPTION...
train() {
    out=$1 updates=$2
    shift 2
    "$RELA" train --quiet --preset demo --tokenise --merges 50 --width 16 --ffn 16 --heads 2 --batch-tokens 256 --updates "$updates" --valid-every 3 \
        --save-every 3 --src-lang en --tgt-lang de --train-src toy/train.src --train-tgt toy/train.tgt \
        --valid-src toy/valid.src --valid-tgt toy/valid.tgt --out "$out" "$@"
}
# card FILE TEXT: rela info shows the line
card() {
    n_checks=$((n_checks + 1))
    "$RELA" info "$1" >info || fail "info $1"
    tr -s ' ' <info | grep -qxF -- " $2" || fail "$1: no line '$2' in: $(sed -n '/^card/,/^settings/p' info)"
}

train plain 6
train same 6
cmp plain/model.rela same/model.rela || fail "the same call gives other bytes"
card plain/model.rela "source language en"
card plain/model.rela "target language de"
card plain/model.rela "source text toy/train.src"
card plain/model.rela "updates 6"
grep -q '^  score *BLEU .* on the validation text, after update [36]$' info || fail "no score: $(cat info)"
! grep -q '^  \(date\|licence\)' info || fail "a date or licence that nobody gave"
grep -q '^  width: 16$' info || fail "no settings: $(cat info)"

train full 6 --licence CC0-1.0 --description 'a "quoted" test: ä' --date 2024-02-29
card full/model.rela "licence CC0-1.0"
card full/model.rela 'description a "quoted" test: ä'
card full/model.rela "date 2024-02-29"
SOURCE_DATE_EPOCH=86400 train epoch 6
card epoch/model.rela "date 1970-01-02"
train full 7 --licence MIT # resumes: such settings may change
card full/checkpoints/000007.rela "licence MIT"

# Lines that are set later; the weights stay.
cp plain/model.rela set.rela
"$RELA" translate --quiet set.rela <toy/test.src >before
"$RELA" info set.rela --set licence=GPL-3.0 --set 'test score=BLEU 3.1' >/dev/null
card set.rela "licence GPL-3.0"
card set.rela "test score BLEU 3.1"
card set.rela "source language en"
rela translate --quiet set.rela <toy/test.src | cmp - before || fail "a card changes translations"
rela info --json set.rela | grep -q '"card": {.*"licence": "GPL-3.0"' || fail "no card in JSON"
"$RELA" info set.rela --set licence= --set 'test score=' >info
! grep -q 'GPL\|BLEU 3.1' info || fail "a line cannot be taken back"
"$RELA" average plain/checkpoints/*.rela -o mean.rela --quiet
card mean.rela "source language en"
refuses 2 "is not KEY=VALUE" info set.rela --set licence
refuses 2 "is not KEY=VALUE" info set.rela --set =x
refuses 2 "--set needs a model file" info --set a=b
"$RELA" convert plain/model.rela --to int8 -o small.rela --quiet
card small.rela "source language en"
refuses 3 "small.rela: " info small.rela --set a=b

# By name.
mkdir -p models home/.local/share/rela xdg/rela demo
refuses 1 "toy-en-de: no such file, and no toy-en-de.rela in $HOME/.local/share/rela:" translate toy-en-de
cp plain/model.rela home/.local/share/rela/demo.rela
rela translate --quiet demo <toy/test.src | cmp - before || fail "no model by name, beside a directory of that name"
card demo "source language en"
cp full/model.rela models/demo.rela
RELA_MODELS=nowhere:models card demo "licence MIT"
mv home/.local/share/rela/demo.rela xdg/rela/other.rela
XDG_DATA_HOME=$PWD/xdg card other "source language en"
mkdir -p prefix/bin prefix/share/rela
cp "$RELA" prefix/bin/
cp plain/model.rela prefix/share/rela/shared.rela
prefix/bin/rela translate --quiet shared <toy/test.src | cmp - before || fail "no model beside the program"
refuses 1 "no such file" info missing
refuses 1 "missing.rela: " info missing.rela
finish
