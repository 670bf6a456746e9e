#!/bin/sh
# SPDX-License-Identifier: MIT
# Bad model files given to every command that reads one: exit code 3 (1 for what is no file), one
# line that names the file and the defect, and never more memory than the file's size and 32 MiB.
# One row per defect: file, exit code, message. The loader's own, longer tables are
# tests/unit/test_safetensors.c, test_checkpoint_bad.c and test_model_text.c.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
peak=$RELA_BUILD/tests/peak
"$RELA_SOURCE/tests/tiny_model" "$RELA" . 4
cp tiny/checkpoints/*.rela good.rela
cp corpus/test.src in
rows=0

# ---- making files ----

le64() { # NUMBER: eight bytes, the lowest first
    v=$1 i=0
    while [ $i -lt 8 ]; do
        # shellcheck disable=SC2059
        printf "\\$(printf %03o $((v % 256)))"
        v=$((v / 256)) i=$((i + 1))
    done
}

header() { # FILE TEXT [DATA]: a file with this header
    { le64 "$(printf '%s' "$2" | wc -c)" && printf '%s%s' "$2" "${3:-}"; } >"$1"
}

edited() { # FILE COMMAND: the good file after an edit by sed that leaves all lengths as they are
    LC_ALL=C sed "$2" good.rela >"$1"
    cmp -s "$1" good.rela && fail "$1: nothing to edit"
    [ "$(wc -c <"$1")" -eq "$(wc -c <good.rela)" ] || fail "$1: another length"
}

tensor() { # NAME DTYPE SHAPE FROM TO: an entry
    printf '"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%s,%s]}' "$@"
}

# ---- using them ----

limit=32768 # KiB over the file's size
if [ -n "${RELA_SANITIZE:-}" ] || ldd "$RELA" | grep -q 'lib[at]san'; then limit=; fi
"$peak" idle.kib "$RELA" info missing.rela 2>/dev/null || true
mkdir -p run/checkpoints
echo 'das Haus .' >one.tgt
head -n 1 in >one.src

row() { # FILE CODE MESSAGE
    rows=$((rows + 1))
    for command in info average translate score align resume; do
        case $command in
        info) set -- "$1" "$2" "$3" info "$1" ;;
        average) set -- "$1" "$2" "$3" average "$1" -o mean.rela ;;
        translate) set -- "$1" "$2" "$3" translate "$1" -i one.src ;;
        score | align) # these load as translate does: now and then is enough
            [ $((rows % 8)) -eq 1 ] || continue
            set -- "$1" "$2" "$3" $command "$1" --src one.src --tgt one.tgt ;;
        resume) # only files can be checkpoints
            [ -f "$1" ] && [ ! -L "$1" ] && [ -r "$1" ] || continue
            rm -f run/checkpoints/*
            ln "$1" run/checkpoints/000002.rela
            set -- "$1" "$2" "$3" train --quiet --preset demo --train-src in --train-tgt in --out run ;;
        esac
        file=$1 want=$2 message=$3
        shift 3
        n_checks=$((n_checks + 1)) code=0
        "$peak" peak.kib "$RELA" "$@" >lib.out 2>lib.err </dev/null || code=$?
        [ $code -eq "$want" ] || fail "$file: rela $1: exit code $code, expected $want: $(cat lib.err)"
        [ "$(wc -l <lib.err)" -eq 1 ] || fail "$file: rela $1: not one line: $(cat lib.err)"
        grep -qF -- "$message" lib.err || fail "$file: rela $1: expected '$message', got: $(cat lib.err)"
        [ $command = resume ] || grep -qF -- "$file" lib.err || fail "$file: rela $1: not named: $(cat lib.err)"
        [ ! -s lib.out ] || fail "$file: rela $1: wrote to standard output"
        [ ! -e mean.rela ] || fail "$file: a mean was written"
        if [ -n "$limit" ] && [ -f "$file" ]; then
            over=$(($(cat peak.kib) - $(cat idle.kib) - $(wc -c <"$file") / 1024))
            [ $over -lt "$limit" ] || fail "$file: rela $1: $over KiB more than the file"
            [ $over -lt $worst ] || worst=$over
        fi
        set -- "$file" "$want" "$message"
    done
}
worst=0

# ---- 1 to 4: too short, and lengths that lie ----
: >empty.rela
row empty.rela 3 'not a model file'
printf '1234567' >seven.rela
row seven.rela 3 'not a model file'
header zero.rela ''
row zero.rela 3 'not a model file'
{ le64 1 && printf '{'; } >one.rela
row one.rela 3 'not a model file'
{ printf '\000\000\000\000\000\000\000\200' && printf '{}'; } >high.rela
row high.rela 3 'not a model file'
{ printf '\377\377\377\377\377\377\377\377' && printf '{}'; } >ones.rela
row ones.rela 3 'not a model file'
{ le64 9 && printf '{"a": {}'; } >beyond.rela
row beyond.rela 3 'not a model file'
le64 16777217 >limit.rela
truncate -s 17000000 limit.rela
row limit.rela 3 'the limit is 16777216'

# ---- 5, 6: headers that are not one ----
header list.rela '[]'
row list.rela 3 "expected an object"
header half.rela '{ '
row half.rela 3 'the text ends'
header garbage.rela '{}garbage'
row garbage.rela 3 'expected the end'
{ le64 7 && printf '{"\377":1}'; } >utf8.rela
row utf8.rela 3 'not UTF-8'
{ le64 9 && printf '{"a\000b":1}'; } >nul.rela
row nul.rela 3 'control character'
header deep.rela "$(head -c 100000 /dev/zero | tr '\0' '[')"
row deep.rela 3 'header'
header deeper.rela "{\"a\":$(head -c 100000 /dev/zero | tr '\0' '[')"
row deeper.rela 3 'header'
header twice.rela "{$(tensor a F32 1 0 4),$(tensor a F32 1 4 8)}" 12345678
row twice.rela 3 "tensor 'a': appears twice"
header escape.rela "{$(tensor a F32 1 0 4),$(tensor '\u0061' F32 1 4 8)}" 12345678
row escape.rela 3 "tensor 'a': appears twice"
header shapes.rela '{"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}}' 1234
row shapes.rela 3 "'shape' appears twice"

# ---- 7, 8, 9: entries ----
for offsets in '-4 0' '0.5 4' '0 1e3' '0 18446744073709551616'; do
    # shellcheck disable=SC2086
    header offset.rela "{$(tensor a F32 1 $offsets)}" 1234
    row offset.rela 3 'expected a plain whole number'
done
header overlap.rela "{$(tensor a F32 2 0 8),$(tensor b U8 5 7 12)}" 123456789012
row overlap.rela 3 "tensor 'b': begins at byte 7; expected 8"
header hole.rela "{$(tensor a F32 1 0 4),$(tensor b F32 1 8 12)}" 123456789012
row hole.rela 3 "tensor 'b': begins at byte 8; expected 4"
header back.rela "{$(tensor a F32 1 4 0)}" 1234
row back.rela 3 'bytes 4 to 0'
header past.rela "{$(tensor a F32 2 0 8)}" 1234
row past.rela 3 'the file has 4 bytes of data'
header more.rela "{$(tensor a F32 1 0 4)}" 12345
row more.rela 3 '5 bytes of data; the tensors need 4'
header wrap.rela "{$(tensor a F32 4294967296,4294967296 0 0)}"
row wrap.rela 3 'its size does not fit 64 bits'
header small.rela "{$(tensor a F32 4611686018427387905 0 4)}" 1234
row small.rela 3 'its size does not fit 64 bits'
header large.rela "{$(tensor a F32 1000000000000 0 4)}" 1234
row large.rela 3 '4 bytes of data; its shape needs 4000000000000'
header rank.rela "{$(tensor a F32 1,1,1,1,1,1,1,1,1 0 4)}" 1234
row rank.rela 3 'more than 8 dimensions'
header dtype.rela "{$(tensor a F31 1 0 4)}" 1234
row dtype.rela 3 "dtype 'F31'"

# ---- 10, 11, 12: a good file, edited ----
edited name.rela 's/"embed.bias"/"embed.bibs"/'
row name.rela 3 "tensor 'embed.bias' is missing; expected F32 [32]"
edited type.rela 's/\("enc.0.ffn.up.bias":{"dtype":"\)F32/\1I32/'
row type.rela 3 "tensor 'enc.0.ffn.up.bias' is I32 [48]; expected F32 [48]"
edited shape.rela 's/\("enc.0.ffn.up.weight":{"dtype":"F32","shape":\)\[48,32\]/\1[32,48]/'
row shape.rela 3 "tensor 'enc.0.ffn.up.weight' is F32 [32, 48]; expected F32 [48, 32]"
edited layers.rela 's/enc_layers\\":2,\\"dec_layers\\":2,\\"vocab_src\\":/enc_layers\\":9,\\"dec_layers\\":2,\\"vocab_src\\":/'
row layers.rela 3 "tensor 'enc.2.self.qkv.weight' is missing"
edited heads.rela 's/heads\\":4/heads\\":0/'
row heads.rela 3 'config: heads is 0; expected 1..256'
edited divide.rela 's/heads\\":4/heads\\":5/'
row divide.rela 3 'config: width 32 is not a multiple of 5 heads'
edited vocab.rela 's/vocab_src\\":2\([0-9]*\),\\"vocab_tgt\\":2/vocab_src\\":3\1,\\"vocab_tgt\\":3/'
row vocab.rela 3 "tensor 'embed' is F32 ["
edited tokens.rela 's/<pad>\\n<unk>/<unk>\\n<pad>/'
row tokens.rela 3 'damaged'
edited kind.rela 's/attention_cross\\":\\"rela-g/attention_cross\\":\\"rela-h/'
row kind.rela 3 "config: attention_cross: unknown attention 'rela-h'"
edited version.rela 's/"format_version":"1"/"format_version":"9"/'
row version.rela 3 "'format_version' is '9'; this program reads 1"
size=$(wc -c <good.rela)
head -c $((size - 1)) good.rela >cut.rela
row cut.rela 3 'header: '
{ head -c $((size - 4)) good.rela && printf '\000\000\300\177'; } >nan.rela
row nan.rela 3 'is not a finite number'
head -c $((size / 2)) good.rela >half.rela
row half.rela 3 'header: '

# ---- 13, 14: other things ----
printf 'PK\003\004\024\000\000\000\010\000 something in a zip file' >zip.rela
row zip.rela 3 'not a model file'
printf '<!DOCTYPE html>\n<html><body>Not found</body></html>\n' >html.rela
row html.rela 3 'not a model file'
printf '\200\002}q\000(X\005\000\000\000stateq\001ccollections\nOrderedDict\n.' >pickle.rela
row pickle.rela 3 'not a model file'
gzip -c good.rela >packed.rela
row packed.rela 3 'not a model file'
mkdir folder.rela
refuses 1 'folder.rela is a directory, not a model' info folder.rela
refuses 1 'folder.rela is a directory, not a model' translate folder.rela
refuses 2 'folder.rela: 0 checkpoints to average' average folder.rela -o mean.rela
mkfifo pipe.rela
row pipe.rela 1 'not a regular file'
ln -s nowhere dangling.rela
row dangling.rela 1 'No such file or directory'
row /dev/zero 1 'not a regular file'
if [ "$(id -u)" -eq 0 ]; then
    echo "partly skipped: root may read everything"
else
    cp good.rela secret.rela
    chmod 000 secret.rela
    row secret.rela 1 'Permission denied'
fi

# ---- what is good stays good ----
accepts info good.rela
accepts average good.rela good.rela -o mean.rela
accepts translate -q good.rela -i one.src
echo "$rows bad files; ${limit:+most memory over the size of a file: $worst KiB}"
finish
