# SPDX-License-Identifier: MIT
# Text that is not what it should be is noticed before anything is learned from it: another encoding, the same file on both
# sides, sides of the validation text swapped or in another language, validation text inside the training text; and when
# a model is given the language it translates into. Text that is right gets no warning.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --size 800 --valid 100 --test 60 --seed 5 --out c >/dev/null
text='--train-src c/train.src --train-tgt c/train.tgt'
small='train --preset demo --width 16 --ffn 16 --heads 2 --enc-layers 1 --dec-layers 1 --merges 2000 --batch-tokens 200'

# warns WARNING OPTION...: one warning, and a model all the same; WARNING may be empty: none.
n_runs=0
warns() {
    want=$1
    shift
    n_runs=$((n_runs + 1))
    n_checks=$((n_checks + 1))
    "$RELA" $small --updates 2 "$@" --out run$n_runs >out 2>err || fail "train $*: $(cat err)"
    [ -z "$want" ] || grep -q "warning: $want" err || fail "train $*: expected '$want', got: $(cat err)"
    n=$(grep -c 'warning: ' err) || true
    [ "$n" -eq "$([ -z "$want" ] && echo 0 || echo 1)" ] || fail "train $*: $n warnings: $(cat err)"
    [ -z "$want" ] || grep -q "warning: $want" run$n_runs/train.log || fail "train $*: not in train.log"
}

# Encodings: in files by themselves, on either side, and where only some lines differ.
iconv -f UTF-8 -t LATIN1//TRANSLIT c/train.tgt >latin1
iconv -f UTF-8 -t UTF-16 c/train.tgt >marked
iconv -f UTF-8 -t UTF-16LE c/train.src >unmarked
iconv -f UTF-8 -t LATIN1//TRANSLIT c/valid.tgt >valid.latin1
bad=$(iconv -f UTF-8 -t UTF-8 -c latin1 | diff - latin1 | grep -ac '^>') || true
refuses 3 "latin1: line " $small --train-src c/train.src --train-tgt latin1 --out x
grep -qF "is not UTF-8, as $bad of 800 lines, and no more than 5 % can be left out; if it is LATIN1: iconv -f LATIN1 -t UTF-8" lib.err ||
    fail "Latin-1, of which $bad lines are bad: $(cat lib.err)"
refuses 3 "marked: line 1 is not UTF-8, as " $small --train-src c/train.src --train-tgt marked --out x
grep -qF 'if it is UTF-16: iconv -f UTF-16 -t UTF-8' lib.err || fail "UTF-16: $(cat lib.err)"
refuses 3 "unmarked: line 1 is not UTF-8, as " $small --train-src unmarked --train-tgt c/train.tgt --out x
grep -qF 'if it is UTF-16' lib.err || fail "UTF-16 without a mark: $(cat lib.err)"
refuses 3 "valid.latin1: line " $small $text --valid-src c/valid.src --valid-tgt valid.latin1 --out x
refuses 3 "latin1: line " align c/train.src latin1
[ ! -e x ] || fail "a refused run leaves a folder"
# 40 of 800 lines may be left out, 41 not.
for n in 40 41; do
    awk -v n=$n 'NR <= n { $0 = $0 " \377" } 1' c/train.tgt >some$n
done
warns '' --train-src c/train.src --train-tgt some40
grep -q 'invalid UTF-8 *40 ' err || fail "40 bad lines: $(cat err)"
refuses 3 'some41: line 1 is not UTF-8, as 41 of 800 lines' $small --train-src c/train.src --train-tgt some41 --out x
# NUL alone is data.
awk 'NR % 2 { $0 = $0 " \001" } 1' c/train.tgt | tr '\001' '\000' >nul
warns '' --train-src c/train.src --train-tgt nul

# Sides.
valid='--valid-beam 0 --valid-src'
warns '' $text
warns '' $text $valid c/valid.src --valid-tgt c/valid.tgt
warns 'c/train.src and c/train.src: 100 % of the lines are the same on both sides; is one of them the wrong file?' \
    --train-src c/train.src --train-tgt c/train.src
warns 'c/valid.src and c/valid.src: 100 % of the lines are the same on both sides; is one of them the wrong file?' \
    $text $valid c/valid.src --valid-tgt c/valid.src
warns 'the sides of the validation text seem to be swapped: ' $text $valid c/valid.tgt --valid-tgt c/valid.src
for at in $(seq 100); do
    echo "l'homme du village mange souvent $at pommes avec sa fille"
done >french
warns "only [0-9]* % of the words of french are in c/train.tgt; is it the right language?" $text $valid c/valid.src --valid-tgt french
head -n 50 c/train.src >known.src
head -n 50 c/train.tgt >known.tgt
cat c/valid.src >>known.src
cat c/valid.tgt >>known.tgt
warns '50 of 150 validation pairs are in the training text too, so they do not show how good the model is' \
    $text $valid known.src --valid-tgt known.tgt
# Said once: a run that goes on does not repeat it.
"$RELA" $small $text $valid known.src --valid-tgt known.tgt --updates 3 --out run$n_runs 2>err || fail "resumed: $(cat err)"
! grep -q 'warning' err || fail "resumed: $(cat err)"

# The language that a model translates into, or none that it knows; one joint vocabulary, and one for each side.
short='translate --beam 1 --max-length-factor 0 --max-length-extra 1'
for tie in all none; do
    "$RELA" $small --updates 2 $text --tie $tie --src-lang en --tgt-lang de --quiet --out model.$tie
    accepts $short model.$tie/model.rela --input c/test.src
    n_checks=$((n_checks + 2))
    "$RELA" $short model.$tie/model.rela --input c/test.tgt >out 2>err || fail "the other language: $(cat err)"
    grep -q "^rela: warning: [5-9][0-9] % of the tokens of the text are unknown, or not of the source language of model.$tie/model.rela, en; is it the right text?$" err ||
        fail "the other language, --tie $tie: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] || fail "more than once: $(cat err)"
done
tail -n 1 c/test.src | "$RELA" $short model.all/model.rela >out 2>err || fail "one line: $(cat err)"
! grep -q warning err || fail "one line: $(cat err)"
# What it knows of this survives every form of the model.
"$RELA" convert model.all/model.rela --to safetensors -o plain -q
"$RELA" convert --from safetensors plain -o back.rela -q
cmp model.all/model.rela back.rela || fail "converted and back: another model"
"$RELA" convert model.all/model.rela --to int8 -o int8.rela -q
"$RELA" $short int8.rela --input c/test.tgt >out 2>err || fail "int8: $(cat err)"
grep -q 'is it the right text?' err || fail "int8: $(cat err)"
n_checks=$((n_checks + 3))
finish
