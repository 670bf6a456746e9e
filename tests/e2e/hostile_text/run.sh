#!/bin/sh
# SPDX-License-Identifier: MIT
# Text from files, and names of files, may hold escape sequences, bidirectional controls and line ends.
# Messages, tables and heatmaps for people show none of them, whichever command prints them.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# ESC, BEL, CR, DEL, C1 (U+009B), U+200E, U+202E, U+2066, U+2028, a byte that is not UTF-8
evil=$(printf 'x\033[2J\007\r\177\302\233\342\200\216\342\200\256\342\201\246\342\200\250\377y')
# The same as an expression for grep.
hidden=$(printf '[\001-\010\013-\037\177]\|\302[\200-\237]\|\342\200[\213-\217\250-\256]\|\342\201[\240-\257]\|\377')
lines="a
rela: forged"

# clean FILE WHAT
clean() {
    n_checks=$((n_checks + 1))
    if LC_ALL=C grep -q -a -e "$hidden" "$1"; then fail "$2: raw text: $(LC_ALL=C cat -v "$1" | head -n 20)"; fi
    if LC_ALL=C grep -q -a '^rela: forged' "$1"; then fail "$2: a forged line: $(cat -v "$1")"; fi
}

# shown ARGUMENT...: what the program prints is clean, and there is something.
shown() {
    "$RELA" "$@" >shown.out 2>shown.err </dev/null || true
    clean shown.out "rela $*"
    clean shown.err "rela $*"
    if [ ! -s shown.out ] && [ ! -s shown.err ]; then fail "rela $*: nothing is printed"; fi
}

"$RELA_SOURCE/tests/tiny_model" "$RELA" in 4 >/dev/null
head -n 30 in/corpus/test.src >src
head -n 30 in/corpus/test.tgt >tgt

# A card with hostile keys and values, and settings and blocks of such names.
"$RELA" convert in/model.rela --to safetensors -o plain
bad='x\\u001b[2J\\u0007\\r\\u007f\\u009b\\u200e\\u202e\\u2066\\u2028y\\nrela: forged'
sed 's|^{|{"card": {"licence": "'"$bad"'", "'"$bad"'": "value"}, |;s|"settings": "|&'"$bad"'|' plain/record.json >record.json
cp record.json plain/record.json
"$RELA" convert --from safetensors plain -o in/model.rela
for name in "$evil" "$lines"; do
    cp in/model.rela "$name.rela"
    shown info "$name.rela"
done
cp shown.out info.txt
[ "$(grep -c '?.2J' info.txt)" -eq 3 ] || fail "not all of the card is there: $(cat -v info.txt)"
shown info in/model.rela --set "licence=$evil"
sed 's|"settings"|"nothing"|' record.json >plain/record.json
"$RELA" convert --from safetensors plain -o other.rela
shown info other.rela

for name in "$evil" "$lines"; do
    cp src "$name"
    cp tgt "$name.tgt"
    # Files that are not there, and files of the wrong kind.
    for command in "info" "translate" "score" "align" "analyse" "filter" "average -o out" "convert -o out" "shortlist -o out" \
        "bleu" "chrf" "compare x y" "aer" "symmetrise" "split --lang" "tokenise --lang" "truecase -m" "bpe apply -c" "vocab" "corpus" \
        "normalise" "bpe learn -i" "convert -o out --vocab marian" "info --max-header" "" "help" "bpe"; do
        # shellcheck disable=SC2086
        shown $command "$name.missing"
        # shellcheck disable=SC2086
        shown $command --src "$name" --tgt "$name.missing" "$name" "--$name" "$name"
    done
    for command in "info" "translate" "average -o out" "convert -o out" "convert -o out --vocab marian" "convert -o out --vocab fairseq"; do
        # shellcheck disable=SC2086
        shown $command "$name"
    done
    shown info --config "$name"
    shown corpus --out corpus --size 3 --valid 1 --test 1 --level "$name"
    shown bleu src "$name"
    shown compare src "$name" tgt "$name.tgt"
    valid=$(printf '%s' "$name" | tr -d '\377')
    shown analyse in/model.rela --src "$name" --tgt "$name.tgt" --limit 3 --names "$valid" -o "out-$name"
    clean "out-$name/heads.tsv" "heads.tsv"
    shown analyse "$name.rela" "$name.rela" --src src --tgt tgt --limit 3 -o "out-$name"
    [ "$(awk -F '\t' 'NF != 11' "out-$name/heads.tsv" | wc -l)" -eq 0 ] || fail "heads.tsv: other columns: $(cat -v "out-$name/heads.tsv")"
    shown filter "$name.rela" --src "$name" --tgt "$name.tgt" --out-src "$name.1" --out-tgt "$name.2" --log log
    clean log "filter --log"
    shown train --preset demo --width 16 --ffn 16 --merges 10 --updates 2 --train-src "$name" --train-tgt "$name.tgt" --out "run-$name"
    shown train --preset demo --updates 2 --train-src src --train-tgt "$name.missing" --out "run-$name"
done

# Contents: words in a heatmap, tags, codes, vocabularies, configurations, links.
printf '%s\n' "a $evil b" >evil.src
printf '%s\n' "c $evil d" >evil.tgt
shown align in/model.rela --src evil.src --tgt evil.tgt --show 1
[ "$(wc -l <shown.out)" -gt 5 ] || fail "no heatmap: $(cat shown.out shown.err)"
printf '#version: 0.2\n%s\n' "$evil" >codes
shown bpe apply -c codes src
printf '%s: 1\n' "$evil" >config.yml
shown translate --config config.yml in/model.rela
printf 'beam: %s\n' "$evil" >config.yml
shown translate --config config.yml in/model.rela
printf '"%s": 0\n' "$evil" >vocab.yml
shown convert --vocab marian vocab.yml -o vocab
printf '%s\n' "$evil" >links
shown symmetrise links links
shown aer links links
shown train --preset demo --width 16 --ffn 16 --merges 10 --updates 2 --valid-every 1 --valid-src evil.src --valid-tgt evil.tgt \
    --train-src src --train-tgt tgt --out run
shown corpus check --src evil.src --tgt evil.tgt

# Results are data: they stay as they are.
printf '%s\n' "$evil" >line
"$RELA" bpe undo line >undone
cmp -s line undone || fail "a result was changed"
finish
