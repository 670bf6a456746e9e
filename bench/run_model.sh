#!/bin/sh
# SPDX-License-Identifier: MIT
# run_model.sh BUILD OUT: the model that a run leaves against its last checkpoint, as BLEU on a test set: presets demo
# and tiny, Multi30k en-de and fr-en ($RELA_DATA/multi30k), 300, 1,000 and 3,000 updates, with and without validation text.
# Runs and results are kept in OUT: called again it goes on where it was stopped. Fails if a model is worse than the last
# checkpoint by more than 0.3 BLEU. Hours on one core; PRESETS, PAIRS, UPDATES and VALID choose a part:
# PRESETS=demo PAIRS=fr-en UPDATES='300 1000' VALID=yes bench/run_model.sh build/release out
# shellcheck disable=SC2086 # lists of options are split
set -eu
build=$(cd "$1" && pwd)
mkdir -p "$2"
cd "$2"
rela=$build/rela
text=$RELA_DATA/multi30k/tok
threads=${THREADS:-1}
[ -s results.tsv ] || printf 'preset\tpair\tupdates\tvalidation\tlast\tmodel\tdifference\twhich\n' >results.tsv

# score MODEL PAIR: BLEU on the test set
score() {
    $rela translate --quiet --threads $threads "$1" --input $text/test_2016_flickr.lc.norm.tok.${2%-*}.gz >translated
    gzip -dc $text/test_2016_flickr.lc.norm.tok.${2#*-}.gz >reference
    $rela bleu --quiet --tokenize none --score-only --width 2 --input translated reference
}

# one PRESET PAIR UPDATES VALID: a row of results
one() {
    src=${2%-*} tgt=${2#*-} run=$1.$2.$3.$4
    row=$(printf '%s\t%s\t%s\t%s\t' "$1" "$2" "$3" "$4")
    ! grep -qF "$row" results.tsv || return 0
    valid=
    [ "$4" = no ] || valid="--valid-src $text/val.lc.norm.tok.$src.gz --valid-tgt $text/val.lc.norm.tok.$tgt.gz"
    $rela train --quiet --threads $threads --preset $1 --updates $3 --src-lang $src --tgt-lang $tgt $valid ${OPTIONS-} \
        --train-src $text/train.lc.norm.tok.$src.gz --train-tgt $text/train.lc.norm.tok.$tgt.gz --out $run
    last=$(score "$(find $run/checkpoints -name '*.rela' | sort | tail -n 1)" $2)
    model=$(score $run/model.rela $2)
    which=$(sed -n 's/.* the model is [^:]*: //p' $run/train.log | tail -n 1)
    echo "$row$last	$model	$(awk "BEGIN { printf \"%.2f\", $model - $last }")	$which" | tee -a results.tsv
}
for updates in ${UPDATES:-300 1000 3000}; do
    for preset in ${PRESETS:-demo tiny}; do
        for pair in ${PAIRS:-en-de fr-en}; do
            for valid in ${VALID:-yes no}; do
                one $preset $pair $updates $valid
            done
        done
    done
done
awk -F '\t' 'NR > 1 && $7 < -0.3 { print "worse than the last checkpoint: " $0; bad = 1 } END { exit bad }' results.tsv
