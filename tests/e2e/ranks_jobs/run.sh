# SPDX-License-Identifier: MIT
# Translating and scoring files on several ranks writes what one process writes.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/ranks/lib.sh"
make_text
"$RELA" train --quiet --preset demo --merges 20 --width 32 --heads 2 --ffn 48 --batch-tokens 256 --updates 60 --lr 0.01 --warmup 20 \
    --train-src text --train-tgt text --out run
model=run/model.rela
head -n 300 text | sed '7s/$/ ?/; 20s/.*//' >in # an unknown word, an empty line

# as_one COMMAND...: on 2 and 3 ranks, to a file and to standard output; the messages too.
as_one() {
    "$RELA" "$@" -o one 2>one.err
    for n in 2 3; do
        n_checks=$((n_checks + 1))
        rm -f many
        ranks $n "$@" -o many 2>many.err || fail "$n ranks: $*: $(cat many.err)"
        cmp one many || fail "$n ranks: $*"
        diff one.err many.err || fail "$n ranks: messages of $*"
        ranks $n "$@" >many 2>many.err || fail "$n ranks: $*: $(cat many.err)"
        cmp one many || fail "$n ranks: $*, to standard output"
    done
}
as_one translate $model -i in --read-bytes 200
as_one translate $model -i in --read-bytes 1000 --n-best 3 --json --threads 2
as_one translate $model -i in --read-bytes 300 --sampling full --seed 5 --scores
as_one translate $model -i in # less than a block for each
as_one score $model --src in --tgt in --read-bytes 500
as_one score $model --src in --tgt in --read-bytes 500 --json --word-scores
: >empty
as_one translate $model -i empty

# refused CODE MESSAGE ARGUMENT...: two ranks, one message.
refused() {
    n_checks=$((n_checks + 1))
    want=$1 message=$2
    shift 2
    code=0
    ranks 2 "$@" >log.out 2>log </dev/null || code=$?
    [ $code -eq "$want" ] || fail "rela $*: exit code $code, expected $want"
    [ "$(grep -c '^rela' log)" -eq 1 ] && grep -q "$message" log || fail "rela $*: $(cat log)"
}
refused 2 'several ranks read a file: option --input' translate $model
refused 2 'several ranks read files' score $model --src in --tgt -
refused 3 'run/config.yml' translate run/config.yml -i in
head -n 299 in >short
refused 3 'short' score $model --src in --tgt short --read-bytes 500
cat log.out >lines
"$RELA" score $model --src in --tgt short --read-bytes 500 2>/dev/null >one || true
cmp one lines || fail "lines before the failure"
finish
