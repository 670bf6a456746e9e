#!/bin/sh
# SPDX-License-Identifier: MIT
# rela shortlist and rela translate --shortlist: learnt from attention or from given links, the same
# translations in any batch and on any number of threads, everything in the list as without one, and
# bad files and options with their exit codes and messages.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
"$RELA_SOURCE/tests/tiny_model" "$RELA" . 60
M=model.rela S=corpus/train.src T=corpus/train.tgt
head -n 30 corpus/test.src >in

# ---- learning ----
"$RELA" shortlist --json $M --src $S --tgt $T --out list 2>/dev/null >report
grep -q '^{"pairs": 400, "empty": 0, "too_long": [0-9]*, "links": [0-9]*, "frequent": 50, "words": [0-9]*}$' report || fail "report: $(cat report)"
"$RELA" shortlist -q -t 1 $M --src $S --tgt $T --out list.1
cmp -s list list.1 || fail "the list depends on the number of threads"
"$RELA" align -q $M --src $S --tgt $T -o links
"$RELA" shortlist -q $M --src $S --tgt $T --links links --out list.links
cmp -s list list.links || fail "links by attention and the same links given make other lists"
"$RELA" shortlist -q $M --src - --tgt $T --layer 2 --head 1 --shift --threshold 0.2 --out list.other <$S
cmp -s list list.other && fail "other heads make the same list"

# ---- translating ----
"$RELA" translate -q $M <in >base
"$RELA" shortlist -q $M --src $S --tgt $T --frequent 100000 --out all
"$RELA" shortlist -q $M --src $S --tgt $T --frequent 10 --best 4 -o few
for options in '' '-b 1' '--int8' '--n-best 3 --word-scores' '--sampling top:5' '--sampling full --seed 3' '--unk replace' '--alignment soft'; do
    # shellcheck disable=SC2086
    "$RELA" translate -q $M $options <in >plain
    # shellcheck disable=SC2086
    rela translate -q $M $options --shortlist all <in | cmp -s - plain || fail "translate $options: a list of everything changes it"
    # shellcheck disable=SC2086
    "$RELA" translate -q $M $options --shortlist few <in >short
    [ "$(wc -l <short)" -eq "$(wc -l <plain)" ] || fail "translate $options: $(wc -l <short) lines"
    for again in '--batch 1' '-t 1' '--batch 7 --batch-words 60'; do
        # shellcheck disable=SC2086
        rela translate -q $M $options --shortlist few $again <in | cmp -s - short || fail "translate $options $again: another result"
        n_checks=$((n_checks + 1))
    done
done
"$RELA" translate -q $M $M --shortlist few <in >twice
"$RELA" translate -q $M --shortlist few <in >once
cmp -s once twice || fail "a model and itself are not that model with a shortlist"
cmp -s once base && fail "a short list changes nothing"
cut -d ' ' -f 1 base >prefix
rela translate -q --prefix prefix --shortlist few $M <in | cut -d ' ' -f 1 | cmp -s - prefix || fail "prefix not followed"
"$RELA" convert -q $M --to int8 -o small.rela
"$RELA" translate -q --int8 --shortlist few $M <in >short8
rela translate -q --shortlist few small.rela <in | cmp -s - short8 || fail "a stored model in int8 gives another result"
"$RELA" convert -q $M --to mapped -o mapped.rela
rela translate -q --shortlist few mapped.rela <in | cmp -s - once || fail "a mapped model gives another result"
"$RELA" shortlist -q small.rela --src $S --tgt $T --links links --out list.8
cmp -s list list.8 || fail "given links and a model in int8 make another list"

# ---- what is refused ----
refuses 2 '--src, --tgt and --out are needed' shortlist $M --src $S --tgt $T
refuses 2 '--head needs --layer' shortlist $M --src $S --tgt $T --out x --head 1
refuses 2 '--links leaves nothing to choose' shortlist $M --src $S --tgt $T --out x --links links --layer 1
refuses 2 'no layer 9' shortlist $M --src $S --tgt $T --out x --layer 9
refuses 1 'No such file' shortlist $M --src none --tgt $T --out x
refuses 1 'No such file' shortlist $M --src $S --tgt $T --out none/x
refuses 3 'lines' shortlist $M --src in --tgt $T --out x
sed '3s/.*/0-99/' links >bad.links
refuses 3 'bad.links: line 3' shortlist $M --src $S --tgt $T --links bad.links --out x
refuses 3 'small.rela: a packed model can only translate' shortlist small.rela --src $S --tgt $T --out x
[ ! -e x ] || fail "a failure left a file"
refuses 1 'No such file' translate $M --shortlist none
refuses 3 'not a shortlist' translate $M --shortlist $M
refuses 3 'expected' translate $M --shortlist in
: >empty
refuses 3 'empty' translate $M --shortlist empty
head -c 1000 list >cut
refuses 3 'cut' translate $M --shortlist cut
{ head -c 5000 list; printf 'XXXX'; tail -c +5005 list; } >damaged
refuses 3 'damaged: ' translate $M --shortlist damaged
"$RELA" train --quiet --preset demo --width 16 --ffn 16 --merges 40 --tokenise --src-lang en --tgt-lang de --batch-tokens 256 --updates 2 --save-every 2 \
    --average 1 --train-src $S --train-tgt $T --out other
refuses 3 'made for a model with other vocabularies' translate other/model.rela --shortlist list
finish
