#!/bin/sh
# SPDX-License-Identifier: MIT
# The longest sentence that a model takes is a number of its file: every command keeps to it, however
# small it is, and in an ensemble to the smallest. Text longer than that is cut, divided or left out.
# shellcheck disable=SC2086 # lists of models are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA_SOURCE/tests/tiny_model" "$RELA" . 4
spaces=$(printf '%51s' '')
limited() { # FILE LENGTH: the model without its hash, with another limit (two characters)
    LC_ALL=C sed 's/"hash":"xxh3-128:[0-9a-f]*",/'"$spaces"'/; s/max_len\\":60/max_len\\":'"$2/" model.rela >"$1"
    cmp -s model.rela "$1" && fail "$1: nothing to edit"
    [ "$(wc -c <"$1")" -eq "$(wc -c <model.rela)" ] || fail "$1: another length"
}
limited none.rela '0 '
limited one.rela '1 '
limited two.rela '2 '
limited five.rela '5 '
limited long.rela 99
head -n 12 corpus/test.src >src
head -n 12 corpus/test.tgt >tgt
for file in src tgt; do # more tokens than any of the models takes, one token, and none
    { seq -s ' ' 150 && printf '.\n\n'; } >>$file
done

for model in none one; do
    for command in info "translate -i src" "score --src src --tgt tgt" "align --src src --tgt tgt" \
        "filter --src src --tgt tgt --dry-run" "analyse --src src --tgt tgt -o out" "average -o mean.rela" "convert -o copy.rela"; do
        refuses 3 "$model.rela: config: maximum length is " ${command%% *} $model.rela ${command#"${command%% *}"}
    done
done

works() { # COMMAND...: exit code 0, whatever it reports
    n_checks=$((n_checks + 1))
    code=0
    "$RELA" "$@" >out.txt 2>err.txt </dev/null || code=$?
    [ $code -eq 0 ] || fail "rela $*: exit code $code: $(tail -n 1 err.txt)"
}
for models in two.rela five.rela long.rela "long.rela two.rela" "two.rela long.rela" "five.rela long.rela model.rela"; do
    for options in "" "-b 1" "--long cut" "--sampling top:3" "--n-best 2" "--unk replace" "--alignment hard" "--int8"; do
        works translate -q -t 2 $options $models -i src
        case $options in *n-best*) continue ;; esac
        [ "$(wc -l <out.txt)" -eq 15 ] || fail "$models $options: $(wc -l <out.txt) lines"
    done
    works translate -q --prefix tgt $models -i src
    works score -q $models --src src --tgt tgt
done
for model in two.rela five.rela long.rela; do
    works align -q $model --src src --tgt tgt
    works align -q $model --reverse long.rela --src src --tgt tgt
    works filter -q $model --src src --tgt tgt --dry-run --by logprob --scores table
    works shortlist -q $model --src corpus/train.src --tgt corpus/train.tgt -o list
    works translate -q --shortlist list $model -i src
    works analyse -q $model --src src --tgt tgt -o figures
done
finish
