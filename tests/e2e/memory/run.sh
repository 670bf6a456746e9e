#!/bin/sh
# SPDX-License-Identifier: MIT
# Peaks of memory on the longest lines that are legal, against the table of docs/performance.md: what a command takes for
# ordinary lines, so many times the longest line and what is written for it, and 16 MiB.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
if ldd "$RELA" | grep -q 'lib[at]san'; then
    echo "skipped: sanitizers keep memory of their own"
    exit 0
fi
peak=$RELA_BUILD/tests/peak
"$RELA_SOURCE/tests/tiny_model" "$RELA" . 4
head -n 40 corpus/test.src >src
head -n 40 corpus/test.tgt >tgt
legal=67108864 # bytes, the line end not among them

# with_line FILE TEXT...: an ordinary file with one more line in front, made by a command.
with_line() {
    file=$1
    shift
    { "$@" && cat "${file%%-*}"; } >"$file"
}

letters() { # BYTES: one word
    head -c "$1" /dev/zero | tr '\0' x && echo
}

words() { # BYTES: words of the corpus
    while cat corpus/train.src; do :; done 2>/dev/null | tr '\n' ' ' | head -c "$1" && echo
}

# within TIMES BYTES ORDINARY... -- LONG...: the peak of the second command is at most that of the first, TIMES times
# BYTES and its output, and 16 MiB.
within() {
    times=$1 bytes=$2
    shift 2
    n_checks=$((n_checks + 1))
    ordinary=
    while [ "$1" != -- ]; do
        ordinary="$ordinary $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # words without blanks
    "$peak" base.kib "$RELA" $ordinary >/dev/null 2>err || fail "$ordinary: $(cat err)"
    code=0
    "$peak" peak.kib "$RELA" "$@" >lib.out 2>err || code=$?
    [ $code -eq 0 ] || fail "$*: exit code $code: $(cat err)"
    most=$(($(cat base.kib) + times * ((bytes + $(wc -c <lib.out)) / 1024) + 16384))
    echo "$(cat peak.kib) of $most KiB: rela $*"
    [ "$(cat peak.kib)" -le $most ] || fail "rela $*: $(cat peak.kib) KiB; $(cat base.kib) for ordinary lines, expected at most $most"
}

# ---- commands that run a model ----
with_line src-letters letters $legal
with_line tgt-words words $legal
with_line src-long words 262144
model=model.rela
for option in '--long cut' '--long cut --alignment soft --unk replace'; do
    # shellcheck disable=SC2086
    within 3 $legal translate -q $model $option -i src -- translate -q $model $option -i src-letters
done
# A line in parts: what is kept of its attention must not grow with it.
for option in '' '--alignment hard' '--unk replace' '--json --word-scores --n-best 2'; do
    # shellcheck disable=SC2086
    within 3 262144 translate -q -b 2 $model $option -i src -- translate -q -b 2 $model $option -i src-long
done
within 6 $legal score -q $model --src src --tgt tgt -- score -q $model --src src-letters --tgt tgt-words
within 4 1048576 align -q $model --src src --tgt tgt -- align -q $model --src src-letters --tgt tgt-words
within 3 $legal analyse -q $model --src src --tgt tgt --out a -- analyse -q $model --src src-letters --tgt tgt-words --out b
within 0 0 filter -q $model --src src --tgt tgt --keep 0.5 --out-src a1 --out-tgt a2 -- \
    filter -q $model --src src-letters --tgt tgt-words --keep 0.5 --out-src b1 --out-tgt b2

# ---- the others: one thread, one line of 8 MiB ----
line=8388608
"$RELA" bpe learn -q -s 100 corpus/train.src -o codes
"$RELA" truecase learn -q corpus/train.src -o case
for kind in letters words; do
    with_line src-8 $kind $line
    for command in normalise detokenise 'truecase apply --model case' 'bpe undo' vocab; do
        # shellcheck disable=SC2086
        within 4 $line $command -q -t 1 src -- $command -q -t 1 src-8
    done
    within 8 $line tokenise -q -t 1 src -- tokenise -q -t 1 src-8
    within 16 $line bpe apply -c codes -q -t 1 src -- bpe apply -c codes -q -t 1 src-8
    within 16 $line bpe learn -s 20 -q -t 1 src -- bpe learn -s 20 -q -t 1 src-8
    within 8 $line bleu -q -t 1 -i src src -- bleu -q -t 1 -i src-8 src-8
    within 20 $line chrf -q -t 1 -i src src -- chrf -q -t 1 -i src-8 src-8
done
finish
