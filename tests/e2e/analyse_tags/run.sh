# SPDX-License-Identifier: MIT
# rela analyse --tags with the parts of speech of rela corpus, in both directions: every word of the target text counts
# once, and the null rates of the tags make up that of the head.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

for way in en-de de-en; do
    reverse=
    [ $way = en-de ] || reverse=--reverse
    accepts corpus -q --level easy --size 400 --valid 60 --test 60 $reverse --out $way
    # Whole words, so that every query follows a word.
    "$RELA" train -q --preset demo --tokenise --src-lang ${way%-*} --tgt-lang ${way#*-} --merges 0 --width 32 --ffn 32 --heads 2 \
        --enc-layers 1 --dec-layers 2 --updates 30 --batch-tokens 256 --attention rela-g --threads 2 --valid-every 30 --valid-beam 0 \
        --train-src $way/train.src --train-tgt $way/train.tgt --valid-src $way/valid.src --valid-tgt $way/valid.tgt --out $way/run
    n_checks=$((n_checks + 1))
    "$RELA" analyse $way/run/model.rela --names model --src $way/test.src --tgt $way/test.tgt --gold $way/test.align \
        --tags $way/test.tgt.upos --out $way/out >table 2>note || fail "$way: $(cat note)"
    ! grep -q 'number of tags' note || fail "$way: $(cat note)"
    # Every tag of the file, and as often as there.
    {
        echo "(start) $(wc -l <$way/test.tgt)"
        tr ' ' '\n' <$way/test.tgt.upos | sort | uniq -c | awk '{ print $2, $1 }'
    } | sort >want
    for head in 0-0 0-1 1-0 1-1; do
        awk -F '\t' -v head=$head 'NR > 1 && $2 "-" $3 == head { print $4, $5 }' $way/out/tags.tsv | sort >found
        cmp want found || fail "$way, head $head: queries by tag: $(tr '\n' ' ' <found); expected $(tr '\n' ' ' <want)"
    done
    # Their mean, weighted by queries, is the null rate of the head.
    awk -F '\t' 'FNR == 1 { next } FILENAME ~ /tags/ { k = $2 "-" $3; n[k] += $5; sum[k] += $5 * $6; next }
        $2 == "cross" { k = $3 "-" $4; d = sum[k] / n[k] - $7; heads++; rate += $7; if (d * d > 1e-10) { print k, sum[k] / n[k], $7; bad = 1 } }
        END { exit bad || heads != 4 || rate == 0 }' $way/out/tags.tsv $way/out/heads.tsv || fail "$way: null rates of tags and heads"
    # The tags fit the words only on their own side.
    "$RELA" analyse -q $way/run/model.rela --src $way/test.src --tgt $way/test.tgt --tags $way/test.src.upos --json --out $way/other >json
    grep -q '"untagged": 0' $way/out/analysis.json || fail "$way: untagged lines"
    awk '/"untagged": / { sub(/,/, "", $2); exit !($2 > 0 && $2 < 60) }' json || fail "$way: tags of the source fit: $(grep untagged json)"
done
# Both have nouns, and the first query of a sentence.
cut -f 4 en-de/out/tags.tsv | sort -u >german
cut -f 4 de-en/out/tags.tsv | sort -u >english
grep -qx NOUN german && grep -qx NOUN english && grep -qx '(start)' english || fail "tags: $(cat german english)"
finish
