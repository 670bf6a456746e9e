#!/bin/sh
# SPDX-License-Identifier: MIT
# Text that is typed in a terminal: prompts, answers line by line, and no progress bar in between.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

"$RELA" corpus --quiet --size 120 --valid 10 --test 5 --out c 2>/dev/null
"$RELA" train --quiet --preset demo --merges 20 --width 32 --ffn 32 --heads 2 --enc-layers 1 --dec-layers 1 --updates 2 \
    --batch-tokens 300 --train-src c/train.src --train-tgt c/train.tgt --out run
m=run/model.rela
printf 'a b\nc d\n' >two

# typed ARGUMENT...: types two lines, slowly enough for a bar, and Ctrl-D; the screen goes to `screen`.
typed() {
    n_checks=$((n_checks + 1))
    { sleep 0.5 && echo 'a b.' && sleep 0.3 && echo 'c d.' && sleep 0.3; } |
        script -qec "'$RELA' $*" /dev/null | tr -d '\r' >screen || fail "rela $*: failed"
    ! grep -q '/s' screen || fail "rela $*: a bar: $(cat screen)"
}
prompts() { # NUMBER
    [ "$(grep -c '^> ' screen)" -eq "$1" ] || fail "expected $1 prompts: $(cat screen)"
}
waits() {
    typed "$@"
    [ "$(grep -cx 'rela: reading from the terminal; Ctrl-D ends it' screen)" -eq 1 ] || fail "rela $*: $(cat screen)"
    prompts 0
}

typed tokenise
printf '> a b.\na b .\n> c d.\nc d .\n> \n' | cmp -s - screen || fail "tokenise: $(cat screen)"
typed tokenise -o out
prompts 3
[ "$(wc -l <out)" -eq 2 ] || fail "tokenise -o: $(cat out)"
typed "tokenise two -" # only where it is typed
prompts 3
typed tokenise --quiet
prompts 0
typed "tokenise 2>err"
prompts 0
[ ! -s err ] || fail "a prompt in a file: $(cat err)"
for command in normalise detokenise split "truecase undo" "bpe undo" "translate $m" "score $m --src - --tgt two"; do
    typed "$command"
    prompts 3
done
typed "translate $m >out"
prompts 3
[ "$(wc -l <out)" -eq 2 ] || fail "translate >out: $(cat out)"
for command in "bleu two" "chrf two" vocab "bpe learn" "truecase learn" "corpus check --src - --tgt two" "align $m - two"; do
    waits "$command"
done
typed vocab --quiet
! grep -q 'Ctrl-D' screen || fail "vocab --quiet: $(cat screen)"
finish
