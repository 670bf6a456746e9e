# SPDX-License-Identifier: MIT
# Signals at random moments end every long command soon, and leave nothing; limits of time are wide here, as
# tests run on busy machines. Nothing is left either when a library ends the program, and a job that
# resumes removes what it left when it was killed.
# shellcheck disable=SC2086 # lists of options are split
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
sh "$RELA_SOURCE/tests/e2e/stops/table.sh" 1 1 20

left() {
    find . -name '*.tmp-*'
}

# A thread that cannot start is missed by nobody: the others do its work.
if ldd "$RELA" | grep -qE 'lib(a|t)san'; then
    echo 'partly skipped: sanitizers'
else
    ${CC:-cc} -D_GNU_SOURCE -shared -fPIC "$RELA_SOURCE/tests/e2e/stops/no_threads.c" -o no_threads.so -ldl
    "$RELA" bpe apply --threads 1 -c in/codes in/src -o pieces.one
    for name in pieces pieces.gz; do
        for from in 1 2; do
            n_checks=$((n_checks + 1))
            code=0
            LD_PRELOAD=$PWD/no_threads.so NO_THREADS_FROM=$from "$RELA" bpe apply --threads 3 -c in/codes in/src -o $name 2>err || code=$?
            [ $code -eq 0 ] || fail "no thread from number $from on: exit code $code: $(cat err)"
            gzip -dcf $name | cmp - pieces.one || fail "no thread from number $from on: another result"
            [ -z "$(left)" ] || fail "no thread from number $from on: left $(left)"
        done
    done
fi

# The text is long enough for the job to be killed while it writes.
M=in/model.rela
text='--src in/corpus/test.src --tgt in/corpus/test.tgt'
for job in "translate $M -i in/corpus/test.src -o out" "score $M $text -o out" "align $M $text -o out" \
    "filter $M --by null $text --out-src out --out-tgt out.tgt.gz --scores out.scores"; do
    for n in 12 40 112 124; do # early, and while the output is written
        rm -rf out*
        code=0
        RELA_FAULT=signal9:$n "$RELA" $job -q --resume record 2>err || code=$?
        n_left=$(left | wc -l)
        "$RELA" $job -q --resume record 2>err || fail "$job: $(cat err)"
        [ -z "$(left)" ] || fail "$job, killed at file call $n with $n_left temporary files: left $(left)"
        n_checks=$((n_checks + 1))
        n_swept=$((${n_swept:-0} + n_left))
    done
done
[ "$n_swept" -gt 3 ] || fail "only $n_swept temporary files to remove"
finish
