# SPDX-License-Identifier: MIT
# Real text through tokenise and back: equal up to blanks; the same with any number of threads.
set -eu
LC_ALL=C
export LC_ALL
. "$RELA_SOURCE/tests/e2e/lib.sh"
needs_corpora multi30k europarl-deen europarl-enfr

# Nothing but what is no blank.
bare() {
    tr -d ' \t\r' | sed 's/\xc2\xa0//g'
}

# round_trip FILE LANGUAGE: at least 99 % of the lines must be equal up to blanks.
round_trip() {
    gzip -dc "$RELA_DATA/$1.gz" | head -n 10000 >raw
    "$RELA" tokenise -q -l "$2" raw >tokens
    "$RELA" detokenise -q -l "$2" tokens >back
    bare <raw >raw.bare
    bare <back >back.bare
    paste -d '\t' raw.bare back.bare | awk -F '\t' -v name="$1" '
        { n++; if ($1 "" == $2 "") same++ }
        END {
            printf "%s: %.3f %% of %d lines\n", name, 100 * same / n, n
            exit !(n > 0 && same >= 0.99 * n)
        }'
}

for language in en de fr cs; do
    round_trip multi30k/train.$language $language
done
round_trip europarl-deen/train.de de
round_trip europarl-deen/train.en en
round_trip europarl-enfr/train.fr fr

gzip -dc "$RELA_DATA/multi30k/train.de.gz" >raw
"$RELA" tokenise -q -l de raw -o tokens
"$RELA" truecase learn -q tokens -o model
for threads in 1 2 3; do
    {
        "$RELA" tokenise -q -t $threads -l de raw
        "$RELA" detokenise -q -t $threads -l de tokens
        "$RELA" normalise -q -t $threads -l de -f nfkc raw
        "$RELA" truecase learn -q -t $threads tokens
        "$RELA" truecase -q -t $threads -m model tokens
        "$RELA" truecase undo -q -t $threads tokens
    } | cksum >sum.$threads
    cmp sum.1 sum.$threads
done
