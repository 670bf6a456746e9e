#!/bin/sh
# SPDX-License-Identifier: MIT
# What a command writes the next one reads, for text with every sort of blank, control character and
# mark: codes, counts, vocabularies, truecasing models, models in all forms, links, shortlists,
# configurations. tests/unit/test_round_trip.c and test_settings.c have many more texts.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# Each odd piece alone, in front of, inside and after a word, twice and in a row.
for piece in '\t' '\r' '\r\r' '\013' '\014' '\010' '\033' '\034' '\035' '\036' '\037' '\177' '\001' '\302\205' '\302\240' '\302\255' '\342\200\203' \
    '\342\200\213' '\342\200\250' '\342\200\251' '\342\200\256' '\343\200\200' '\357\273\277' '\357\277\275' '\357\277\276' '\357\277\277' '\360\237\230\200' \
    '"' "'" '\\' '#' '@@' '</w>' '<pad>' '<unk>' '<eos>' '</s>' '&amp;' '|' '|||' ':' '0-0' '(1/2)' '#version: 0.2' '<x>' '\000' '\377' '\303'; do
    printf "$piece word${piece}word $piece${piece} Word$piece WORD $piece${piece}WORD word$piece\n"
done >odd
cat odd odd >twice
yes 'a word and another word with letters' | head -n 200 >>twice # so that there is something to learn

# ---- subwords ----
accepts bpe learn -q -s 60 --min-frequency 1 twice -o codes
accepts bpe apply -q -c codes twice -o pieces
accepts vocab -q twice -o counts
accepts bpe learn -q -s 60 --min-frequency 1 --dict-input counts -o codes2
cmp codes codes2 || fail "codes from the counts are others than those from the text"
printf 'a \357\273\277 \357\273\277 b\n' >marks # the most frequent word is a byte order mark
accepts vocab -q marks -o counts
accepts bpe learn -q -s 5 --min-frequency 1 --dict-input counts -o codes2
accepts bpe learn -q -s 5 --min-frequency 1 marks -o codes3
cmp codes2 codes3 || fail "a word that is a byte order mark is lost"
accepts vocab -q pieces -o piece.counts
accepts bpe apply -q -c codes --vocabulary piece.counts --vocabulary-threshold 1 twice -o again
cmp pieces again || fail "with all pieces allowed there are others"
gzip -k codes piece.counts
accepts bpe apply -q -c codes.gz --vocabulary piece.counts.gz --vocabulary-threshold 1 twice -o again
cmp pieces again || fail "compressed codes give other pieces"

# ---- truecasing ----
accepts truecase learn -q --first-words twice -o casing
accepts truecase -q -m casing twice -o cased
[ "$(wc -l <cased)" -eq "$(wc -l <twice)" ] || fail "truecasing has lost lines"

# ---- vocabularies ----
accepts vocab -q --format tokens pieces -o tokens
basis='--preset demo --width 32 --ffn 16 --heads 2 --enc-layers 1 --dec-layers 1 --threads 1 --quiet --updates 2'
text='--train-src twice --train-tgt twice'
given() { # FILE: a vocabulary that training takes
    rm -rf run
    accepts train $basis $text --merges 0 --vocab-src "$1" --out run
    accepts translate -q -b 1 run/model.rela -i odd
}
given tokens
tail -n +4 tokens >plain
foreign() { # FORM FILE: taken over, it is taken by training
    rm -f imported
    accepts convert --vocab $1 $2 -o imported
    given imported
    printf '<pad>\n<unk>\n<eos>\n' | cat - plain | cmp - imported || fail "$1: other tokens"
}
grep -vxF -e '</s>' plain >kept && mv kept plain # a special token there
{ printf '<unk>\n<pad>\n<s>\n</s>\n' && cat plain; } >theirs
foreign joeynmt theirs
{ printf '<blank>\t1\n<s>\t1\n</s>\t1\n' && sed 's/$/\t1/' plain; } >theirs
foreign opennmt theirs
sed 's/$/ 1/' plain >theirs
foreign fairseq theirs
{ printf '</s>: 0\n<unk>: 1\n' && LC_ALL=C sed 's/[\\"]/\\&/g; s/.*/"&"/' plain | awk '{ print $0 ": " NR + 1 }'; } >theirs
foreign marian theirs

# ---- models in all forms, links, shortlists ----
for options in '--merges 40' '--merges 0' '--merges 40 --tokenise --src-lang en --tgt-lang de --normalise --lowercase' '--merges 40 --tie output --bpe-dropout 0.1'; do
    rm -rf run plain.dir again.rela repeated
    accepts train $basis $text $options --out run
    accepts train --quiet --config run/config.yml --out repeated
    cmp run/model.rela repeated/model.rela || fail "$options: repeated it is another model"
    for model in run/model.rela run/checkpoints/*.rela; do
        accepts convert $model --to safetensors -o plain.dir
        accepts convert --from safetensors plain.dir -o again.rela
        cmp $model again.rela || fail "$options: $model is not the same after a round trip"
    done
    M=run/model.rela
    accepts average $M $M -o mean.rela
    accepts convert $M --to int8 -o int8.rela
    accepts convert $M --to mapped -o mapped.rela
    "$RELA" align -q $M --src odd --tgt odd -o links 2>/dev/null
    accepts aer -q links -i links
    accepts symmetrise -q links links -o both
    accepts shortlist -q $M --src odd --tgt odd --links both -o list
    accepts shortlist -q $M --src odd --tgt odd -o list2
    for model in $M again.rela mean.rela int8.rela mapped.rela; do
        accepts info $model
        accepts translate -q -b 1 $model --shortlist list -i odd
        [ "$(wc -l <lib.out)" -eq "$(wc -l <odd)" ] || fail "$options: $model: $(wc -l <lib.out) lines"
    done
    rm -rf resumed
    accepts train $basis --init mean.rela $text $(echo "$options" | sed 's/--merges [0-9]*//; s/--bpe-dropout [0-9.]*//') --out resumed
done
finish
