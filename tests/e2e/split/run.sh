#!/bin/sh
# SPDX-License-Identifier: MIT
# rela split: one sentence per line, lines that can be put together again, and as many of the ends of
# sentences in real text as it has found before.
set -eu
LC_ALL=C
export LC_ALL
. "$RELA_SOURCE/tests/e2e/lib.sh"

# splits LANGUAGE INPUT OUTPUT OPTION...: printf formats in, printf formats out.
splits() {
    language=$1
    printf "$2" >in
    printf "$3" >want
    shift 3
    "$RELA" split -q -l "$language" "$@" <in >out 2>err || fail "split $*: $(cat err)"
    cmp -s want out || fail "split -l $language $*: '$(cat in)' gave '$(cat out)'"
    n_checks=$((n_checks + 1))
}

splits en 'Tea? Yes. Dr. Brown is here.\nNo.\n' 'Tea?\nYes.\nDr. Brown is here.\nNo.\n'
splits en 'One. Two.\n\n  \nThree.' 'One.\nTwo.\n\n\nThree.\n'
splits en 'One. Two.\n\nThree.\n' 'One.\nTwo.\n\n\nThree.\n\n' --paragraphs
splits de 'Am 3. Mai. Es regnet, z. B. hier.\r\n' 'Am 3. Mai.\nEs regnet, z. B. hier.\n'
splits de 'Er ist Nr. 5. Gut.\n' 'Er ist Nr. 5.\nGut.\n'
splits tlh 'Qapla. Qapla.\n' 'Qapla.\nQapla.\n'
splits en '  Two  blanks.   Stay  inside. \n' 'Two  blanks.\nStay  inside.\n'

# Paragraphs, put together again.
awk 'BEGIN {
    for (i = 0; i < 3000; i++) {
        line = ""
        for (k = 0; k < i % 5; k++)
            line = line (k ? " " : "") "Kettle " i " sings" substr(".!?", 1 + k % 3, 1)
        print line
    }
}' >text
for threads in 1 2 3; do
    "$RELA" split -q -t $threads --paragraphs text -o sentences
    awk '$0 == "" { print line; line = ""; next } { line = line (line == "" ? "" : " ") $0 }' sentences | cmp -s - text ||
        fail "$threads threads: the lines are not those that were split"
    n_checks=$((n_checks + 1))
done
"$RELA" split -q -o text text
[ "$(wc -l <text)" -eq 6600 ] || fail "$(wc -l <text) sentences in place of their text; expected 6600"
refuses 2 "language 'x' is not known" split -l x
refuses 1 "missing" split missing

# finds NAME FILE LANGUAGE F1: five lines make a paragraph; ends of lines are ends of sentences.
finds() {
    case $2 in *.gz) gzip -dc "$RELA_DATA/$2" ;; *) cat "$RELA_DATA/$2" ;; esac | grep . >lines
    paste -d ' ' - - - - - <lines | "$RELA" split -q -l "$3" --paragraphs >got
    awk '{ print } NR % 5 == 0 { print "" } END { if (NR % 5) print "" }' lines >want
    # Each paragraph: where its sentences end, blanks and the last one not counted.
    for side in want got; do
        awk '$0 == "" { n = 0; p++; next } n { print p, n } { gsub(/[ \t]/, ""); n += length($0) }' $side >$side.ends
    done
    sort want.ends >want.sorted
    sort got.ends | comm -12 want.sorted - | wc -l >both
    f=$(awk -v both="$(cat both)" -v want="$(wc -l <want.ends)" -v got="$(wc -l <got.ends)" \
        'BEGIN { printf "%.2f", 200 * both / (want + got) }')
    echo "$1 $3: F1 $f"
    awk -v f="$f" -v least="$4" 'BEGIN { exit !(f >= least) }' || fail "$1 $3: F1 $f; expected $4"
    n_checks=$((n_checks + 1))
}

if [ ! -d "$RELA_DATA/multi30k" ] || [ ! -d "$RELA_DATA/tatoeba-ende" ] || [ ! -d "$RELA_DATA/europarl-deen" ] ||
    [ ! -d "$RELA_DATA/europarl-enfr" ] || [ ! -d "$RELA_DATA/pos-pud" ]; then
    echo "partly skipped: no data: corpora for the ends of sentences in $RELA_DATA"
    finish
    exit
fi
# A little under what bench/split.py printed when the rules were made.
while read -r name file language least; do
    finds "$name" "$file" "$language" "$least"
done <<END
multi30k multi30k/test_2016_flickr.en.gz en 97.1
multi30k multi30k/test_2016_flickr.de.gz de 98.9
multi30k multi30k/test_2016_flickr.fr.gz fr 97.0
multi30k multi30k/test_2016_flickr.cs.gz cs 97.5
tatoeba tatoeba-ende/test.en.gz en 99.3
tatoeba tatoeba-ende/test.de.gz de 99.1
europarl europarl-deen/mt-test.en.gz en 99.4
europarl europarl-deen/mt-test.de.gz de 99.4
europarl europarl-enfr/mt-test.fr.gz fr 99.4
pud pos-pud/en.txt en 99.7
pud pos-pud/de.txt de 99.5
END
finish
