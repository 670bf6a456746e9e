#!/bin/sh
# SPDX-License-Identifier: MIT
# Two outputs that are one file, and an output that is an input: refused (exit code 2) before anything
# is written, however the names are spelt. Only commands that turn lines into lines replace their input.
# shellcheck disable=SC2086 # lists of arguments are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA_SOURCE/tests/tiny_model" "$RELA" . 2
M=model.rela
head -n 6 corpus/test.src >s
head -n 6 corpus/test.tgt >t
"$RELA" align -q $M --src s --tgt t -o links
"$RELA" bpe learn -q -s 20 s -o codes
"$RELA" vocab -q s -o counts
"$RELA" truecase learn -q s -o casing
cp $M second.rela
ln -s s link
mkdir dir
ln s hard # another name of the same bytes: replacing one leaves the other
all='s t links codes counts casing model.rela second.rela'
cksum $all >before

same() { # MESSAGE ARGUMENT...
    message=$1
    shift
    refuses 2 "$message" "$@"
    cksum $all | cmp -s - before || fail "rela $*: an input has changed"
    [ ! -e new ] || fail "rela $*: something was written"
    rm -rf new
}
pair='--src s --tgt t'

# ---- two outputs ----
for other in new ./new dir/../new "$PWD/new"; do
    same '--out-src and --out-tgt are the same file' filter $pair --out-src new --out-tgt $other
    same '--out-src and --scores are the same file' filter $pair --out-src new --out-tgt new2 --scores $other
    same '--out-tgt and --scores are the same file' filter $pair --out-src new2 --out-tgt $other --scores new
    same '--output and --log are the same file' tokenise s -o new --log $other
done
same '--out-src and --out-tgt are the same file' filter $pair --out-src - --out-tgt -
ln -s new later # a link to nothing is a file of its own once it is written
accepts filter -q $pair --out-src later --out-tgt new
rm -f later new
: >there
ln -s there again
same '--out-src and --out-tgt are the same file' filter $pair --out-src there --out-tgt again
accepts filter -q $pair --out-src /dev/null --out-tgt /dev/null --scores /dev/null

# ---- an output that is an input ----
for s in s ./s dir/../s link "$PWD/s"; do
    same "--out-src is the input --src" filter $pair --out-src $s --out-tgt new
    same "--out-tgt is the input --src" filter $pair --out-src new --out-tgt $s
    same "--scores is the input --src" filter $pair --dry-run --scores $s
    same "--output is the input --src" score $M $pair -o $s
    same "--output is the input --src" align $M $pair -o $s
    same "--output is the input --input" translate $M -i s -o $s
    same "--out is the input --src" shortlist $M $pair --out $s
    same "--dump is the input --src" analyse $M $pair --out new --dump $s
    same "--output is the input '$s'" bpe learn $s -o $s
    same "--output is the input '$s'" vocab $s -o $s
    same "--output is the input '$s'" truecase learn $s -o $s
    same "--log is the input '$s'" tokenise $s --log $s
    same "--log is the input --src" score $M $pair --log $s
done
same "--output is the input 'model.rela'" translate $M -i s -o $M
same "--output is the input 'model.rela'" score $M $pair -o $M
same "--output is the input 'model.rela'" align $M $pair -o $M
same "--output is the input --reverse" align $M --reverse second.rela $pair -o second.rela
same "--out is the input 'model.rela'" shortlist $M $pair --out $M
same "--out is the input --links" shortlist $M $pair --links links --out links
same "--out-src is the input 'model.rela'" filter $M $pair --out-src $M --out-tgt new
same "--output is the input 'model.rela'" convert $M --to int8 -o $M
same "--output is the input 'model.rela'" convert $M -o ./$M
same "--output is the input 'second.rela'" average $M second.rela -o second.rela
same "--output is the input --codes" bpe apply -c codes s -o codes
same "--output is the input --vocabulary" bpe apply -c codes --vocabulary counts s -o counts
same "--output is the input --model" truecase -m casing s -o casing
same "--output is the input --protected" tokenise -p s t -o s
echo 'threads: 1' >settings.yml
same "--log is the input --config" info --config settings.yml --log settings.yml
# Files after a directory.
mkdir -p run/checkpoints
cp $M run/checkpoints/000001.rela
cp $M run/checkpoints/000002.rela
same 'run/checkpoints/000002.rela: an input, which the output would replace' average run -o run/checkpoints/../checkpoints/000002.rela
accepts convert $M --to safetensors -o plain
cp plain/model.safetensors kept
for out in plain/model.safetensors plain/config.json plain/vocab.src; do
    same "$out: an input, which the output would replace" convert --from safetensors plain -o $out
done
same 'plain/config.json: an input, which the output would replace' convert --from safetensors plain/model.safetensors -o plain/config.json
cmp plain/model.safetensors kept || fail "plain weights have changed"

# ---- what is fine ----
accepts tokenise -q s -o new && cp new want && rm new
cp s own
accepts tokenise -q own -o own # lines for lines, replaced when all is done
cmp own want || fail "in place: another result"
accepts bpe apply -q -c codes own -o own
accepts truecase -q -m casing own -o own
accepts normalise -q own -o own
accepts detokenise -q own -o own
accepts bpe undo -q own -o own
cp links own
accepts symmetrise -q own links -o own
accepts filter -q $pair --out-src hard --out-tgt new && rm new # s has another name
accepts translate -q -b 1 $M -i s -o own
accepts translate -q -b 1 $M -i s -o /dev/null --log /dev/null
printf 'a\n' | "$RELA" tokenise -q - -o - >own || fail "standard input to standard output"
finish
