#!/bin/sh
# SPDX-License-Identifier: MIT
# The n-th allocation or file call fails, once or from there on, for every n: each run of a command
# that scores either succeeds with the right output, or ends with 1 and one line that says why.
set -eu
failed=0

# sweep ARGUMENT...: until six runs in a row meet no fault.
sweep() {
    "$RELA" "$@" <hyp >want
    for kind in mem file; do
        for persistent in "" +; do
            n=1
            clean=0
            while [ $clean -lt 6 ]; do
                code=0
                RELA_FAULT=$kind:$n$persistent "$RELA" "$@" <hyp >out 2>err || code=$?
                if [ $code = 0 ] && [ ! -s err ] && cmp -s out want; then
                    clean=$((clean + 1))
                elif [ $code = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q "^rela $1: ." err; then
                    clean=0
                else
                    echo "RELA_FAULT=$kind:$n$persistent rela $*: exit $code: $(cat err)"
                    failed=1
                    clean=6
                fi
                n=$((n + 1))
            done
            [ $n -gt 8 ] || { echo "rela $*: no $kind fault was met" && failed=1; }
        done
    done
}

printf 'The pump works again.\nTwo boats, \303\251\377.\n' >hyp
printf 'The pump is working again.\nTwo boats and a bridge.\n' >ref
printf 'The pump works now.\n\n' >ref2
printf '0-0 1-1 1?2\n0-0 2p1\n' >gold
printf '1-1 0-0\n2-1\n' >links
printf 'a b c\nd e f\n' >text
sweep bleu ref ref2 --quiet --threads 1
sweep bleu ref -k intl --lowercase --json --confidence --samples 5 --quiet --threads 2
sweep chrf ref --word-order 2 --sentence --quiet --threads 1
sweep compare ref hyp ref2 --samples 5 --trials 5 --json --quiet --threads 1
sweep aer gold -i links --src text --tgt text --samples 5 --threads 1
sweep symmetrise links links --threads 1
exit $failed
