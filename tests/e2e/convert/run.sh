#!/bin/sh
# SPDX-License-Identifier: MIT
# rela convert: plain weights and back, a directory for CTranslate2, vocabularies, refusals. Where the
# package ctranslate2 is installed (RELA_PYTHON), it must translate as we do.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

"$RELA" corpus --quiet --size 200 --valid 20 --test 20 --out corpus
train() { # KIND OUT WIDTH UPDATES OPTION...
    kind=$1 out=$2 width=$3 updates=$4
    shift 4
    "$RELA" train --quiet --preset demo --attention "$kind" --width "$width" --ffn $((2 * width)) --heads 2 --enc-layers 2 --dec-layers 2 \
        --merges 100 --updates "$updates" --batch-tokens 512 --valid-every "$updates" --save-every "$updates" --average 1 --valid-beam 1 \
        --train-src corpus/train.src --train-tgt corpus/train.tgt --valid-src corpus/valid.src --valid-tgt corpus/valid.tgt \
        --threads 1 --out "$out" "$@"
}
train softmax soft 16 30
train softmax pre 16 30 --norm pre --tie output
train rela-g gated 32 30 # whole panels: it will be packed

for run in soft pre gated; do
    for model in "$run/model.rela" "$run"/checkpoints/*.rela; do
        accepts convert "$model" --to safetensors -o plain
        accepts convert --from safetensors plain -o back.rela
        cmp "$model" back.rela || fail "$model is not the same after a round trip"
        accepts convert "$model" -o copy.rela
        cmp "$model" copy.rela || fail "$model is not the same after a copy"
        rm -rf plain
    done
done

# names FILE: what a model of CTranslate2 calls its variables.
names() {
    tr -c '[:print:]' '\n' <"$1" | grep -E '^(encoder|decoder)/[a-z_0-9/]*$' | sort -u
}
for run in soft pre; do
    accepts convert $run/model.rela --to ctranslate2 -o $run.ct2
    for file in config.json model.bin bpe.codes pipeline.json; do
        [ -s $run.ct2/$file ] || fail "no $run.ct2/$file"
    done
    head -c 22 $run.ct2/model.bin | od -An -c | tr -d ' \n' | grep -q '006\\0\\0\\0020\\0TransformerSpec\\0' ||
        fail "$run.ct2/model.bin does not begin as it should"
    names $run.ct2/model.bin >names.txt
    n=86 # 2 x (12 + 20) of the layers, 8 + 14 others
    for name in activation num_heads pre_norm scale_embeddings position_encodings/encodings; do
        [ "$(grep -cEx "(encoder|decoder)/$name" names.txt)" -eq 2 ] || fail "$run: no $name"
    done
    for name in encoder/embeddings_0/weight decoder/embeddings/weight decoder/projection/weight decoder/projection/bias \
        decoder/start_from_zero_embedding decoder/layer_1/attention/linear_2/bias decoder/layer_1/ffn/layer_norm/gamma; do
        grep -qx "$name" names.txt || fail "$run: no $name"
    done
    [ "$run" = soft ] || n=$((n + 4)) # norms after the stacks
    [ "$(wc -l <names.txt)" -eq "$n" ] || fail "$run: $(wc -l <names.txt) variables, expected $n"
    tokens=$(cat "$run.ct2"/*vocabulary.json | grep -c '^  "')
    [ "$tokens" -gt 50 ] || fail "$run: $tokens tokens"
done

accepts convert gated/model.rela --to int8 -o gated.int8
[ "$(wc -c <gated.int8)" -lt "$(wc -c <gated/model.rela)" ] || fail "8 bits take more room"
accepts info gated.int8
grep -q 'rela-model 2, model in int8' lib.out || fail "info of a model in int8: $(cat lib.out)"
"$RELA" translate -q --int8 gated/model.rela <corpus/test.src >rounded.txt
"$RELA" translate -q gated.int8 <corpus/test.src >stored.txt
cmp rounded.txt stored.txt || fail "stored in int8 translates otherwise than rounded when loaded"
packed() { # MODEL: every command that wants the full model names it
    pair='--src corpus/test.src --tgt corpus/test.tgt'
    # shellcheck disable=SC2086
    for command in "score MODEL $pair" "score soft/model.rela MODEL $pair" "align MODEL $pair" "align gated/model.rela --reverse MODEL $pair" \
        "analyse MODEL $pair -o out" "analyse gated/model.rela MODEL $pair -o out" "filter MODEL $pair --dry-run" \
        "shortlist MODEL $pair -o out" "average MODEL -o out" "convert MODEL -o out" "convert MODEL --to safetensors -o out" \
        "train --preset demo --init MODEL --train-src corpus/train.src --train-tgt corpus/train.tgt --out fresh"; do
        refuses 3 "$1: a packed model can only translate" $(echo "$command" | sed "s|MODEL|$1|")
    done
    [ ! -e out ] || fail "$1: something was written"
}
packed gated.int8
refuses 3 'gated.int8: a packed model can only translate' convert gated.int8 --to safetensors -o plain

accepts convert gated/model.rela --to mapped -o gated.mapped
accepts info gated.mapped
grep -q 'rela-model 3, model to be mapped' lib.out || fail "info of a mapped model: $(cat lib.out)"
"$RELA" translate -q gated/model.rela <corpus/test.src >read.txt
"$RELA" translate -q gated.mapped <corpus/test.src >mapped.txt
cmp read.txt mapped.txt || fail "mapped translates otherwise than read"
packed gated.mapped
refuses 1 'for int8 convert the model itself' translate --int8 gated.mapped

refuses 1 'CTranslate2 has no rela-g attention' convert gated/model.rela --to ctranslate2 -o gated.ct2
refuses 2 'no output; give one with --output' convert soft/model.rela
refuses 1 'No such file' convert missing.rela -o x.rela
refuses 1 'config.json: No such file' convert --from safetensors corpus -o x.rela
head -c 1000 soft/model.rela >cut.rela
refuses 3 'cut.rela: ' convert cut.rela --to safetensors -o cut
[ ! -e cut ] || fail "a damaged model was converted"

# Texts beside the weights that are no good: none becomes part of a model that would then be refused.
accepts convert soft/model.rela --to safetensors -o plain
text() { # FILE TEXT MESSAGE
    rm -rf edited
    cp -r plain edited
    printf "$2" >"edited/$1"
    refuses 3 "$3" convert --from safetensors edited -o x.rela
    [ ! -e x.rela ] || fail "$1: a model was written"
}
text bpe.codes '\377' 'edited/bpe.codes: not UTF-8 after 0 bytes'
text bpe.codes '#version: 0.2\nabc\n' 'edited: BPE codes: line 2: expected two symbols'
text pipeline.json '{"src": \344}' 'edited/pipeline.json: not UTF-8 after 8 bytes'
text pipeline.json '{}' "edited: text pipeline: bad settings of side 'src'"
text vocab.src '<pad>\n' "'text.vocab.src' has 1 line;"
text record.json '{"a": \300}' 'edited/record.json: not UTF-8 after 6 bytes'
text config.json '{"a": \300}' 'config: byte 7: not UTF-8'
text text.note '\303' 'edited/text.note: not UTF-8 after 0 bytes'
sed '4s/.*/two words/' plain/vocab.tgt >edited/vocab.tgt
rm edited/text.note
refuses 3 'edited: target vocabulary: line 4: blank in a token' convert --from safetensors edited -o x.rela
head -c 10000000 /dev/zero | tr '\0' '"' >edited/text.quotes # twice as long in the header
cp plain/vocab.tgt edited/vocab.tgt
refuses 3 'x.rela: a header of ' convert --from safetensors edited -o x.rela
[ ! -e x.rela ] || fail "a model was written"

printf '</s>: 0\n<unk>: 1\nein: 2\n"\\"": 3\n' >vocab.yml
accepts convert --vocab marian vocab.yml -o vocab
printf '<pad>\n<unk>\n<eos>\nein\n"\n' | cmp - vocab || fail "vocabulary"
printf 'ein 12\nzwei\n' >dict.txt
refuses 3 'dict.txt: line 2: expected a token, a blank and a count' convert --vocab fairseq dict.txt -o other
printf '</s>: 0\n<unk>: 1\n"a": 2\n"a\\r\\r": 3\n' >vocab.yml
refuses 3 'vocab.yml: line 4: empty token or line end in a token' convert --vocab marian vocab.yml -o other
refuses 2 '--from and --to are for models' convert --vocab marian vocab.yml --to rela -o other
[ ! -e other ] || fail "a bad vocabulary was written"

python=${RELA_PYTHON:-python3}
if "$python" -c 'import ctranslate2' 2>/dev/null; then
    # Copying is learned almost perfectly at once; on a model that knows nothing searches go astray.
    awk 'BEGIN { srand(1); for (i = 0; i < 2000; i++) { line = "w" int(rand() * 20)
        for (n = int(rand() * 5); n > 0; n--) line = line " w" int(rand() * 20); print line } }' >copy.txt
    head -n 200 copy.txt >copy.test
    for run in "all post" "output pre"; do
        "$RELA" train --quiet --preset demo --attention softmax --merges 0 --width 64 --ffn 128 --enc-layers 2 --dec-layers 2 \
            --tie "${run% *}" --norm "${run#* }" --dropout 0 --label-smoothing 0 --lr 3e-3 --warmup 100 --updates 500 \
            --batch-tokens 512 --valid-every 500 --save-every 500 --average 1 --valid-beam 1 --threads 2 --out trained \
            --train-src copy.txt --train-tgt copy.txt --valid-src copy.test --valid-tgt copy.test
        "$python" "$RELA_SOURCE/bench/peers/ct2.py" same "$RELA" trained/model.rela copy.test --tolerance 5e-3 ||
            fail "$run: other translations than CTranslate2"
        rm -r trained
    done
else
    echo "no package ctranslate2: translations were not compared"
fi
finish
