#!/bin/sh
# SPDX-License-Identifier: MIT
# All of the Multi30k test set: a search with caches says of its own translations what scoring says
# without them, to 1e-5 per token; and single sentences, other batches and other numbers of threads
# give the same translations with the same digits. RELA_MODEL names a model of English to German; without it a
# small one is trained.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
needs_corpora multi30k
gzip -dc "$RELA_DATA/multi30k/test_2016_flickr.en.gz" >src
model=${RELA_MODEL:-run/model.rela}
if [ ! "${RELA_MODEL:-}" ]; then
    for language in en de; do
        gzip -dc "$RELA_DATA/multi30k/train.$language.gz" | head -n 3000 >train.$language
    done
    "$RELA" train --quiet --preset demo --width 32 --ffn 64 --merges 500 --tokenise --src-lang en --tgt-lang de --batch-tokens 1024 --updates 100 --warmup 40 \
        --lr 5e-3 --save-every 100 --average 1 --threads 2 --train-src train.en --train-tgt train.de --out run
fi

"$RELA" translate -q -b 3 -t 2 --unk forbid --max-length-extra 10 --json --word-scores "$model" -i src -o base
[ "$(wc -l <base)" -eq "$(wc -l <src)" ] || fail "$(wc -l <src) lines in, $(wc -l <base) out"
for options in '-t 1' '-t 2 --batch 1' '-t 1 --batch 7 --batch-words 100'; do
    # shellcheck disable=SC2086
    "$RELA" translate -q -b 3 $options --unk forbid --max-length-extra 10 --json --word-scores "$model" -i src -o again
    cmp -s base again || fail "$options: $(diff base again | grep -c '^>') translations or scores differ"
    n_checks=$((n_checks + 1))
done

# Only what is split into the same tokens again can be compared.
"$RELA" translate -q -b 3 --unk forbid --max-length-extra 10 "$model" -i src -o hyp
"$RELA" score -q --json --word-scores "$model" --src src --tgt hyp >scored
for file in base scored; do
    head -n "$(wc -l <src)" $file | sed -E 's/.*"(tokens|words)": \[(\[.*\])\].*/\2/' >$file.pairs
    sed -E 's/, -?[0-9.e+-]+\]/]/g' $file.pairs >$file.tokens
    sed -E 's/\[("[^"\\]*(\\.[^"\\]*)*"), (-?[0-9.e+-]+)\](, )?/\3 /g' $file.pairs >$file.logps
done
paste -d '\t' base.tokens scored.tokens base.logps scored.logps | awk -F '\t' '
    $1 == $2 {
        same++
        n = split($3, a, " ")
        if (split($4, b, " ") != n) bad++
        for (i = 1; i <= n; i++) {
            d = a[i] - b[i]
            d = d < 0 ? -d : d
            worst = d > worst ? d : worst
        }
        tokens += n
    }
    END {
        printf "%d of %d translations, %d tokens: worst difference %.2g\n", same, NR, tokens, worst
        exit !(same > 0.7 * NR && tokens > 0 && !bad && worst <= 1e-5)
    }' || fail "search and scoring disagree"
finish
