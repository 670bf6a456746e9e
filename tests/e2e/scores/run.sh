#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands that score: figures, and every kind of bad input with its exit code and message.
set -eu
failed=0

fail() {
    echo "$*"
    failed=1
}

# expect CODE MESSAGE ARGUMENT...: the exit code and all of standard error. Standard input is ./in.
expect() {
    code=$1
    message=$2
    shift 2
    got=0
    "$RELA" "$@" <in >out 2>err || got=$?
    [ "$got" = "$code" ] && [ "$(cat err)" = "$message" ] ||
        fail "rela $*: exit $got: $(cat err); expected $code: $message"
}

# prints TEXT ARGUMENT...: success, and all of standard output.
prints() {
    text=$1
    shift
    expect 0 "" "$@"
    [ "$(cat out)" = "$text" ] || fail "rela $*: printed $(cat out); expected $text"
}

# same ARGUMENT...: success, and the output of the run before.
same() {
    cp out before
    expect 0 "" "$@"
    cmp -s out before || fail "rela $*: printed $(cat out); expected $(cat before)"
}

printf 'The pump works again.\nTwo boats, one bridge.\nNobody saw 3.5 geese.\n' >in
printf 'The pump is working again.\nTwo boats and a bridge.\nNobody saw 3.5 geese.\n' >ref
printf 'The pump works now.\nTwo boats, one bridge.\nNo one saw geese.\n' >ref2
cp in hyp
: >empty
version=$("$RELA" --version)
version=rela-${version#rela }

# Figures; those with a signature are what sacrebleu prints.
prints "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:$version = 42.7 81.2/61.5/30.0/28.6 \
(BP = 0.939 ratio = 0.941 hyp_len = 16 ref_len = 17)" bleu ref
prints "85.2" bleu -b ref ref2
prints "BLEU = 37.13, 75.0/44.4/33.3/33.3 (BP=0.846, ratio=0.857, hyp_len=12, ref_len=14)" \
    bleu --multi-bleu ref
prints "$(printf '24.737\n22.957\n100.000')" bleu --sentence -w 3 ref -i hyp
prints "42.7427" bleu -k intl --lowercase -b -w 4 ref
prints "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:$version = 68.6312" \
    chrf -w 4 ref
prints "90.4882" chrf -w 4 -b --word-order 2 ref ref2
same chrf -w 4 -b --word-order 2 ref2 ref --threads 1
prints "$(printf '{"line": 0, "score": 100}\n{"line": 1, "score": 100}\n{"line": 2, "score": 100}')" \
    chrf --sentence --json hyp
expect 0 "" bleu ref --json --confidence --samples 50
case $(cat out) in
'{"name": "BLEU", "score": 42.7'*'"signature": "nrefs:1|bs:50|seed:1|case'*'"precisions": [81.25, '*'}') ;;
*) fail "bleu --json: $(cat out)" ;;
esac

# Comparing: the same with one thread and with three, another with another seed.
expect 0 "" compare ref hyp ref2 --samples 100 --trials 100
same compare ref hyp ref2 --samples 100 --trials 100 --threads 1
same compare ref hyp ref2 --samples 100 --trials 100 --threads 3
[ "$(grep -c baseline out)" = 2 ] || fail "compare: no baseline in $(cat out)"
"$RELA" compare ref hyp ref2 --samples 100 --trials 100 --seed 2 >other
cmp -s out other && fail "compare: the seed changes nothing"
expect 0 "" compare ref hyp hyp ref2 --ref ref2 --metric chrf --test ar --trials 9 --json
case $(cat out) in
'{"lines": 3, "metrics": [{"name": "chrF2", '*'"p_randomisation": 1}'*) ;;
*) fail "compare --json: $(cat out)" ;;
esac

# Text: 18 empty, 19 no final newline, 20 line ends and marks, 22 NUL, 24 odd characters, 27 equal.
expect 3 "rela bleu: hyp has 3 lines but empty has 0" bleu -i hyp empty
expect 3 "rela bleu: empty: no lines" bleu -i empty empty
expect 3 "rela chrf: empty: no lines" chrf -i empty empty
expect 3 "rela compare: empty: no lines" compare empty empty empty
prints "100.0" bleu -b hyp
printf '%s' "$(cat hyp)" >bare
same bleu -b -i bare hyp
sed 's/$/\r/' hyp >crlf
same bleu -b -i crlf hyp
{ printf '\357\273\277' && cat hyp; } >marked
same bleu -b -i marked hyp
printf 'one\rtwo three four\n' >lone
printf 'one two three four\n' >spaced
prints "100.0" bleu -b -i lone spaced
printf 'one\342\200\250two three four\n' >lone
prints "100.0" bleu -b -i lone spaced
printf 'a\000b c d e\n' >nul
prints "100.0" bleu --quiet -b -i nul nul
printf 'a b c d e\n' >plain
"$RELA" bleu --quiet -b -i nul plain >out
[ "$(cat out)" != 100.0 ] || fail "NUL is not data"
printf '   \n\t\n\314\201\314\201\n\342\200\256abc\342\200\254\n\342\200\215\n\360\237\221\250\342\200\215\360\237\221\251\n' >odd
for command in bleu chrf; do
    for options in "" "--lowercase" "--sentence"; do
        expect 0 "" $command $options -i odd odd
    done
done
for tokens in 13a intl char none; do
    prints 100.0 bleu -b -k $tokens -i ref ref
done

# 21 invalid UTF-8 of every kind: scored, with a warning.
printf 'a\303\nb\342\202\nc\360\237\230\nd\300\257\ne\355\240\200\nf\365\200\200\200\ng\n' >bad
printf 'a\nb\nc\nd\ne\nf\ng\n' >bad2
warning="rela: warning: bad: line 1 is not UTF-8; if it is LATIN1: iconv -f LATIN1 -t UTF-8 (reported once)
rela: warning: 6 lines are not UTF-8; bad bytes count as U+FFFD"
expect 0 "$warning" bleu -i bad bad
expect 0 "$warning" chrf -i bad bad
expect 0 "$warning" compare bad bad bad2 --samples 1 --trials 1
printf 'a\nb\ngro\337 .\nd\ne\nf\ng\n' >latin1
expect 0 "rela: warning: latin1: line 3 is not UTF-8; if it is LATIN1: iconv -f LATIN1 -t UTF-8 (reported once)
rela: warning: 1 line is not UTF-8; bad bytes count as U+FFFD" bleu -i bad2 latin1
expect 0 "" bleu --quiet -i bad bad

# 23 long lines, 25 one word very often.
awk 'BEGIN { for (i = 0; i < 50000; i++) printf "word "; print "" }' >often
prints 100.0 bleu -b -i often often
prints 100.0 chrf -b -i often often
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "w%d ", i % 7919; print "" }' >long
prints 100.0 bleu -b -i long long
head -c 70000000 /dev/zero | tr '\0' a >huge
expect 3 "rela bleu: huge: line 1: longer than 67108864 bytes" bleu -i huge plain
rm -f huge

# 26 line counts, 28 output over input, 29 outputs that fail, 31 compressed input.
head -n 2 ref >two
expect 3 "rela bleu: standard input has 3 lines but two has 2" bleu two
expect 3 "rela chrf: standard input has 3 lines but two has 2" chrf ref two
expect 3 "rela compare: hyp has 3 lines but two has 2" compare ref hyp two
expect 3 "rela aer: standard input has 3 lines but two has 2" aer two
expect 2 "rela bleu: standard input can be read only once" bleu -
expect 1 "rela bleu: nothing: No such file or directory" bleu nothing
expect 1 "rela bleu: .: Is a directory" bleu .
expect 2 "rela bleu: the name of an input file is empty" bleu ""
if [ -c /dev/full ]; then
    got=0
    "$RELA" bleu ref <in >/dev/full 2>err || got=$?
    [ "$got" = 1 ] && grep -q '^rela bleu: .*No space left on device$' err ||
        fail "full device: exit $got: $(cat err)"
fi
awk 'BEGIN { for (i = 0; i < 30000; i++) print "a b c d" }' >many
{
    got=0
    "$RELA" bleu --sentence -w 9 -i many many 2>err || got=$?
    echo $got >code
} | head -n 1 >first
[ "$(cat code)" = 141 ] && [ ! -s err ] || fail "closed output: exit $(cat code): $(cat err)"
got=0
"$RELA" bleu ref <&- >out 2>err || got=$?
[ "$got" = 1 ] || fail "closed input: exit $got: $(cat err)"
gzip -c hyp >hyp.gz
prints 100.0 bleu -b -i hyp.gz hyp
cat hyp.gz hyp.gz >double
cat hyp hyp >twice
prints 100.0 bleu -b -i double twice
head -c 40 hyp.gz >cut
expect 3 "rela bleu: cut: compressed data is cut off" bleu -i cut hyp

# Tokenised text: a warning from 100 lines on.
awk 'BEGIN { for (i = 0; i < 99; i++) print "the end ." }' >tokenised
prints 0.0 bleu -b -i tokenised tokenised -s none
echo 'the end .' >>tokenised
expect 0 "rela: warning: 100 lines end in a tokenised period (' .'); the text should be \
detokenised, or the score is too low; --force silences this" bleu -i tokenised tokenised
prints 0.0 bleu -b -i tokenised tokenised -s none --force

# 30 tabs and bars are text.
printf 'a\tb ||| c d\n' >bars
printf 'a b ||| c d\n' >bars2
prints 100.0 bleu -b -i bars bars2

# Contradictory and wrong options.
expect 2 "rela bleu: --sentence does not go with --multi-bleu" bleu --multi-bleu --sentence ref
expect 2 "rela bleu: --confidence does not go with --sentence" bleu --confidence --sentence ref
expect 2 "rela bleu: option --tokenize: 'zh' is not one of 13a|intl|char|none" bleu -k zh ref
expect 2 "rela bleu: option --max-order: 17 is out of range; expected 1..16" \
    bleu --max-order 17 ref
expect 2 "rela chrf: option --beta: 'nan' is not a number" chrf --beta nan ref
expect 2 "rela compare: option --samples: 0 is out of range; expected 1..10000000" \
    compare ref hyp hyp --samples 0
expect 2 "rela compare: missing argument SYSTEM; usage: rela compare REF BASELINE SYSTEM [SYSTEM...]" \
    compare ref hyp
expect 2 "rela bleu: missing argument REF; usage: rela bleu REF [REF...]" bleu

# 32 links.
printf '0-0 1-1 1?2\n0-0 2p1\n\n' >gold
printf '1-1 0-0 0-0\n2-1\n0-0\n' >in
cp in links
printf 'a b\na b c\na\n' >src
printf 'x y z\nx y\nx\n' >tgt
prints "AER 28.6 (P 75.0 / R 66.7 / F1 70.6 / 4 links) 95 % [0.0, 100.0]" aer gold
prints "AER 28.6 (P 75.0 / R 66.7 / F1 70.6 / 4 links)" aer gold --samples 0 --src src --tgt tgt
prints '{"aer": 28.571428571428569, "precision": 75, "recall": 66.666666666666657, '\
'"f1": 70.588235294117652, "links": 4, "sure": 3, "possible": 2, "lines": 3}' \
    aer gold --samples 0 --json
prints "$(printf 'line\tAER\tP\tR\tF1\tlinks\tsure\tpossible\n1\t0.0\t100.0\t100.0\t100.0\t2\t2\t1
2\t50.0\t100.0\t0.0\t0.0\t1\t1\t1\n3\t100.0\t0.0\t0.0\t0.0\t1\t0\t0')" aer gold --sentence
printf '2-2 1-1 1-1\n3-2\n1-1\n' >in
prints "AER 28.6 (P 75.0 / R 66.7 / F1 70.6 / 4 links)" aer gold --base 1 --samples 0
printf '1-1 0-0\n1-2\n0-0\n' >in
prints "AER 28.6 (P 75.0 / R 66.7 / F1 70.6 / 4 links)" aer gold --reverse --samples 0
tab=$(printf '\t')
while IFS=$tab read -r line message; do
    printf '0-0\n%s\n\n' "$line" >in
    expect 3 "rela aer: standard input: line 2: $message" aer gold --src src --tgt tgt
done <<EOF
0-${tab}'0-' is not a link; expected i-j, i?j or ipj
-1-2${tab}'-1-2' is not a link; expected i-j, i?j or ipj
0-0 3-99${tab}'3-99': the source sentence has only 3 words
0-99${tab}'0-99': the target sentence has only 2 words
99999999999999999999-1${tab}'99999999999999999999-1': a position is too large; expected at most 16777215
0-0,1-1${tab}'0-0,1-1' is not a link; expected i-j, i?j or ipj
0.5-1${tab}'0.5-1' is not a link; expected i-j, i?j or ipj
EOF
printf '0-0\n' >in
expect 3 "rela aer: standard input has 1 line but gold has 3" aer gold
printf '0-0\n0-0\n\n0-0\n' >in
expect 3 "rela aer: standard input has 4 lines but gold has 3" aer gold
printf '0-0\n0-0\n\n' >in
expect 3 "rela aer: gold: line 1: '0-0': words count from 1 here" aer gold --gold-base 1
expect 2 "rela aer: --src and --tgt must be given together" aer gold --src src
expect 3 "rela aer: empty: no lines" aer empty -i empty

# Symmetrising; the output may be one of the inputs, and a failure leaves it alone.
printf '0-0 1-1 2-2 4-5\n0-0\n' >forward
printf '0-0 2-1 4-5 3-3\n\n' >backward
prints "$(printf '0-0 4-5\n')" symmetrise forward backward -m intersect
prints "$(printf '0-0 1-1 2-1 2-2 3-3 4-5\n0-0')" symmetrize forward backward -m union
prints "$(printf '0-0 1-1 2-1 2-2 3-3 4-5\n')" symmetrise forward backward -m grow-diag
prints "$(printf '0-0 1-1 2-1 2-2 3-3 4-5\n0-0')" symmetrise forward backward
prints "" symmetrise empty empty
cp forward both
expect 0 "" symmetrise both backward -m union -o both
[ "$(head -n 1 both)" = "0-0 1-1 2-1 2-2 3-3 4-5" ] || fail "output over input: $(cat both)"
cp both kept
printf '0-0\n1-\n' >broken
expect 3 "rela symmetrise: broken: line 2: '1-' is not a link; expected i-j, i?j or ipj" \
    symmetrise broken backward -o both
cmp -s both kept || fail "a failure has changed the output"
exit $failed
