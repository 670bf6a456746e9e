#!/bin/sh
# SPDX-License-Identifier: MIT
# Training into a folder that has files of somebody else under the names of a run: nothing of theirs is
# touched, not through links either, and nothing is written. What is a run goes on.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --size 20 --valid 2 --test 1 --seed 5 --out corpus >/dev/null
train="train --preset demo --ffn 16 --width 16 --heads 2 --enc-layers 1 --dec-layers 1 --threads 1 --merges 0 --quiet --updates 2
    --train-src corpus/train.src --train-tgt corpus/train.tgt --valid-src corpus/valid.src --valid-tgt corpus/valid.tgt --valid-every 2 --valid-beam 1"
echo 'a file of mine' >mine
echo 'process 12' >near

all() { # every name below a folder with what it is
    (cd "$1" && find . -printf '%p %y %s %l\n' | sort && find . -type f -exec cksum {} + | sort)
}
theirs() { # NAME: the folder ./out is refused because of this name, and stays as it is
    all out >before
    cp mine kept
    timeout 20 "$RELA" $train --out out >lib.out 2>lib.err </dev/null && fail "$1: taken"
    refuses 1 "out/$1" $train --out out
    all out >after
    cmp -s before after || fail "$1: the folder has changed: $(diff before after)"
    cmp -s mine kept || fail "$1: the file behind the link has changed"
    rm -rf out
}
fresh() {
    rm -rf out
    mkdir out
}

for name in lock config.yml train.log train.jsonl valid.tsv best.rela model.rela; do
    fresh && cp mine out/$name && theirs $name
    fresh && ln -s ../mine out/$name && theirs $name
    fresh && ln -s nowhere out/$name && theirs $name
    fresh && mkdir out/$name && theirs $name
    fresh && mkfifo out/$name && theirs $name
    [ $name = lock ] || { fresh && : >out/$name && theirs $name; }
done
fresh && cp near out/lock && theirs lock
fresh && head -c 100000 /dev/zero >out/lock && theirs lock
fresh && ln mine out/lock && theirs lock
fresh && mkdir out/figures && cp mine out/figures/loss.svg && theirs figures
fresh && cp mine out/lock && cp mine out/config.yml && theirs config.yml

# ---- what is no run, but has nothing to lose ----
fresh && cp mine out/notes && mkdir out/checkpoints && : >out/lock
accepts $train --out out
cmp mine out/notes || fail "notes have changed"
grep -q '^process [0-9]* on ' out/lock || fail "lock: $(cat out/lock)"

# ---- a run goes on, with its lock or without, and wherever its checkpoints are ----
cp out/model.rela want.rela
accepts $train --out out
cmp out/model.rela want.rela || fail "the run has changed"
rm out/lock
accepts $train --out out
mv out/checkpoints elsewhere
ln -s ../elsewhere out/checkpoints
accepts $train --out out
cmp out/model.rela want.rela || fail "the run has changed"
ln -sf ../mine out/lock # also in a run no link is followed
refuses 1 'out/lock: a link' $train --out out
cp mine out/lock.mine && rm out/lock && mv out/lock.mine out/lock
refuses 1 'out/lock: not written by a run' $train --out out
cmp mine out/lock || fail "lock has changed"
rm out/lock

# ---- no second trainer, and a lock that a dead one has left is no obstacle ----
echo 'process 999999 on some.host.example' >out/lock
accepts $train --out out
finish
