#!/bin/sh
# SPDX-License-Identifier: MIT
# A run whose files have names of all sorts: its config.yml repeats it and resumes it. A name that is
# not UTF-8 is refused before anything is made. tests/unit/test_settings.c has many more names.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA" corpus --quiet --size 20 --valid 2 --test 1 --seed 5 --out corpus >/dev/null

# run NAME OPTION...: trains with files and a folder of that name.
run() {
    name=$1
    shift
    for part in train.src train.tgt valid.src valid.tgt; do
        cp corpus/$part "$name$part"
    done
    "$RELA" train --quiet --preset demo --width 16 --ffn 16 --heads 2 --enc-layers 1 --dec-layers 1 --threads 1 --merges 0 --updates 2 \
        --train-src "${name}train.src" --train-tgt "${name}train.tgt" --valid-src "${name}valid.src" --valid-tgt "${name}valid.tgt" \
        --valid-every 2 --valid-beam 1 "$@"
}

good() { # NAME, as printf writes it
    name=$(printf "$1.") # the point keeps a line end from being lost
    rm -rf again
    n_checks=$((n_checks + 1))
    run "$name" --out "$name out" || fail "$1: cannot be trained"
    "$RELA" train --quiet --config "$name out/config.yml" 2>err || fail "$1: cannot be resumed: $(cat err)"
    "$RELA" train --quiet --config "$name out/config.yml" --out again 2>err || fail "$1: cannot be repeated: $(cat err)"
    cmp -s "$name out/model.rela" again/model.rela || fail "$1: repeated it gives another model"
    grep -v '^out: ' "$name out/config.yml" >want
    grep -v '^out: ' again/config.yml | cmp -s - want || fail "$1: repeated it has another configuration"
    [ "$(wc -l <want)" -eq "$(grep -c '^[a-z0-9-]*: ' want)" ] || fail "$1: lines that are no setting"
    grep -qF 'settings' again/model.rela || fail "$1: the model does not have its settings"
}
good plain
good 'quote"quote'
good "single'quote"
good 'back\\slash'
good 'escape\\x41\\u0041'
good 'tab\ttab'
good 'line\nline'
good 'line: "more"\nout: "elsewhere"\n'
good 'return\rreturn'
good 'bell\007\033[31m\177'
good 'next\302\205line'
good 'separator\342\200\250 \342\200\251  end'
good 'mark\357\273\277mark'
good '\357\273\277first'
good 'no\357\277\276character\357\277\277'
good 'wide\360\237\230\200'
good ' blanks  # and: more '
good '%%YAML - ? & * ! | > @ `'

bad() { # NAME
    name=$(printf "$1.")
    n_checks=$((n_checks + 1)) code=0
    run "$name" --out fresh 2>err || code=$?
    [ $code -eq 2 ] && grep -q "^rela train: train-src '.*' is not UTF-8" err || fail "$1: exit code $code: $(cat err)"
    code=0
    run plain --out "$name" 2>err || code=$?
    [ $code -eq 2 ] && grep -q "^rela train: out '.*' is not UTF-8" err || fail "$1 as a folder: exit code $code: $(cat err)"
    [ ! -e fresh ] && [ ! -e "$name" ] || fail "$1: something was made"
}
bad '\377'
bad 'latin\344'
bad 'half\342\200'
bad 'surrogate\355\240\200'

# Means name their parts in the record, whatever the parts are called.
cp again/model.rela "$(printf 'odd\377"\\\n.rela')"
accepts average "$(printf 'odd\377"\\\n.rela')" again/model.rela -o mean.rela
accepts info mean.rela
run plain --src-lang abcdefghijklmnop --out fresh 2>err && fail "a long language was taken"
grep -q "language 'abcdefghijklmnop' is not known" err || fail "a long language: $(cat err)"
finish
