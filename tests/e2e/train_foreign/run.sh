#!/bin/sh
# SPDX-License-Identifier: MIT
# Checkpoints in the folder of a run that are not of this run, or whose contents contradict its
# settings: each is named with what is wrong, exit code 3, and nothing is written or lost.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --size 60 --seed 5 --out corpus >/dev/null
text='--train-src corpus/train.src --train-tgt corpus/train.tgt'
basis="--preset demo --ffn 32 --enc-layers 1 --dec-layers 1 --threads 1 --warmup 0 --quiet --merges 30 --max-length 60 --batch-tokens 150"
small="$basis --width 16 --heads 2"
saves='--save-every 2 --keep 3 --average 3'
accepts train $small $text $saves --updates 6 --out small

snapshot() { # all that a run must not touch when it cannot start
    (cd run && find . -type f ! -name train.log ! -name lock -exec cksum {} + | sort)
}

# stops NAME MESSAGE: the run in ./run cannot go on because of this checkpoint, and changes nothing.
stops() {
    snapshot >before
    refuses 3 "run/checkpoints/$1.rela: $2" train $small $text $saves --updates 8 --out run
    snapshot >after
    cmp -s before after || fail "$2: files have changed: $(diff before after)"
}

fresh() { # FILE NAME: the small run with this file as one of its checkpoints
    rm -rf run
    cp -r small run
    cp "$1" "run/checkpoints/$2.rela"
}

# ---- checkpoints of other models and other runs, which would enter the mean ----
other() { # OUT MERGES LENGTH OPTION...
    out=$1 merges=$2 length=$3
    shift 3
    accepts train --preset demo --ffn 32 --enc-layers 1 --dec-layers 1 --threads 1 --warmup 0 --quiet --batch-tokens 150 $text --save-every 2 --updates 4 \
        --merges $merges --max-length $length --out $out "$@"
}
other wide 30 60 --width 64 --heads 2
other narrow 30 60 --width 8 --heads 2
other heads 30 60 --width 16 --heads 4
other words 40 60 --width 16 --heads 2
other shorter 30 50 --width 16 --heads 2
other softmax 30 60 --width 16 --heads 2 --attention softmax
other seed 30 60 --width 16 --heads 2 --seed 7
other pairs 30 60 --width 16 --heads 2 --max-ratio 1.2
accepts train --preset align --quiet --threads 1 --width 16 --merges 30 --max-length 60 $text --save-every 2 --updates 4 --out links
for form in int8 mapped; do
    accepts convert wide/checkpoints/000004.rela --to $form -o $form.rela
done

old() { # FILE MESSAGE: as an older checkpoint
    fresh "$1" 000002 && stops 000002 "$2"
}
any() { # FILE MESSAGE: and as the newest, whose settings are the ones of the run
    old "$1" "$2"
    fresh "$1" 000006 && stops 000006 "$2"
}
old wide/checkpoints/000004.rela "of another model: its 'width'"
old narrow/checkpoints/000004.rela "of another model: its 'width'"
old heads/checkpoints/000004.rela "of another model: its 'heads'"
old words/checkpoints/000004.rela "of another model: its 'vocab_src'"
old softmax/checkpoints/000004.rela "of another model: its 'attention_enc'"
old shorter/checkpoints/000004.rela "of another model: its 'max_len'"
old links/checkpoints/000004.rela "of another model: its 'task'"
old seed/checkpoints/000004.rela "of another run: seed was 7, now 1"
old pairs/checkpoints/000004.rela "of another run: max-ratio was 1.2, now 0"
fresh wide/checkpoints/000004.rela 000099
refuses 1 "run/checkpoints/000099.rela: the run was started with other settings: width was 64, now 16" train $small $text $saves --updates 8 --out run
any int8.rela "a packed model can only translate"
any mapped.rela "a packed model can only translate"
any small/model.rela "a model, not a checkpoint"
any small/checkpoints/000004.rela "holds update 4"
any corpus/train.src "not a model file"

# One that comes while the run is at work is found when the mean is made.
late() { # FILE MESSAGE
    rm -rf run
    "$RELA" train $small $text --save-every 100000 --keep 9 --average 9 --report-every 1 --updates 300 --out run 2>lib.err &
    pid=$!
    tries=300
    until [ -s run/train.jsonl ] || [ $tries -eq 0 ]; do
        sleep 0.02
        tries=$((tries - 1))
    done
    cp "$1" run/checkpoints/000002.rela
    code=0
    wait $pid || code=$?
    n_checks=$((n_checks + 1))
    [ $code -eq 3 ] && grep -qF "run/checkpoints/000002.rela: $2" lib.err || fail "$1 while it runs: $code: $(cat lib.err)"
    [ ! -e run/model.rela ] && [ -s run/checkpoints/000300.rela ] || fail "$1 while it runs: $(ls run run/checkpoints)"
    rm run/checkpoints/000002.rela # with it gone the result is made
    accepts train $small $text --save-every 100000 --keep 9 --average 9 --report-every 1 --updates 300 --out run
    [ -s run/model.rela ] || fail "$1: no model after it was removed"
}
late wide/checkpoints/000004.rela "of another model: its 'width'"
late int8.rela "a packed model can only translate"

# ---- checkpoints without a hash that contradict the settings ----
spaces=$(printf '%51s' '')
bare() { # NAME: the run with this checkpoint without its hash
    LC_ALL=C sed 's/"hash":"xxh3-128:[0-9a-f]*",/'"$spaces"'/' small/checkpoints/$1.rela >bare.rela
    fresh bare.rela $1
}
edited() { # NAME COMMAND: after an edit that leaves all lengths as they are
    bare $1
    LC_ALL=C sed "$2" bare.rela >run/checkpoints/$1.rela
    cmp -s bare.rela run/checkpoints/$1.rela && fail "$2: nothing to edit"
    [ "$(wc -c <run/checkpoints/$1.rela)" -eq "$(wc -c <small/checkpoints/$1.rela)" ] || fail "$2: another length"
}
for name in 000002 000006; do
    edited $name 's/max_len\\":60/max_len\\":1 /' && stops $name 'config: maximum length is 1; expected 2..65536'
    edited $name 's/max_len\\":60/max_len\\":2 /' && stops $name "of another model: its 'max_len'"
    edited $name 's/max_len\\":60/max_len\\":99/' && stops $name "of another model: its 'max_len'"
    edited $name 's/heads\\":2/heads\\":8/' && stops $name "of another model: its 'heads'"
    edited $name 's/drop_residual\\":0.1/drop_residual\\":0.9/' && stops $name "of another model: its 'drop_residual'"
    edited $name 's/\\"eps\\":1e-06/\\"eps\\":1e-02/' && stops $name "of another model: its 'eps'"
    edited $name 's/drop_embed\\":0.1/drop_embed\\":0.2/' && stops $name "of another model: its 'drop_embed'"
    edited $name 's/norm_per_head\\":false/norm_per_head\\":true /' && stops $name "of another model: its 'norm_per_head'"
done
edited 000004 's/\(text.vocab.src":"<pad>\\n<unk>\\n<eos>\\n\)[^\\]/\1\&/' && stops 000004 "of another model: its 'text.vocab.src'"
edited 000006 's/\(\\"adam\\": \\"\)6/\19/' && stops 000006 'the training state is damaged'
edited 000006 's/\(\\"skipped\\": \\"\)0/\19/' && stops 000006 'the training state is damaged'
edited 000006 's/\(\\"best_update\\": \\"\)0/\18/' && stops 000006 'the training state is damaged'
edited 000006 's/\(\\"update\\": \\"\)6/\17/g' && stops 000006 'holds update 7; expected 6, as its name'
edited 000006 's/\(\\"update\\": \\"\)6/\15/g' && stops 000006 'the training state is damaged'
edited 000006 's/adam\.v\//adam.w\//g' && stops 000006 'a model, not a checkpoint'
edited 000006 's/\(\\"sentences\\": \\"\)[0-9]/\19/' # 60 pairs
refuses 3 'run: the last checkpoint stands at sentence 9' train $small $text $saves --updates 8 --out run
edited 000006 's/\(\\"part_tokens\\": \\"\)[0-9]/\1x/' && stops 000006 'the training state is damaged'

bare 000006
file=run/checkpoints/000006.rela
begin=$(LC_ALL=C grep -ao '"adam.v/embed":{[^}]*' $file | sed 's/.*data_offsets":\[\([0-9]*\),.*/\1/')
header=$(od -An -tu8 -N8 $file)
printf '\000\000\200\277' | dd of=$file bs=1 seek=$((8 + header + begin)) conv=notrunc 2>/dev/null
stops 000006 'a negative number in adam.v'

# ---- with the foreign file gone all goes on to the same bytes ----
fresh wide/checkpoints/000004.rela 000002
rm run/checkpoints/000002.rela
rm -rf whole
cp -r small whole
rm whole/checkpoints/000002.rela
for out in run whole; do
    accepts train $small $text $saves --updates 8 --out $out
done
cmp run/model.rela whole/model.rela || fail "another model after a foreign checkpoint was refused"
finish
