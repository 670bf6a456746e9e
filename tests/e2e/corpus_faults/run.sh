# SPDX-License-Identifier: MIT
# Every allocation and every file call of rela corpus and rela corpus check fails once, and from
# there on: the command ends with 1 and one line, or succeeds with the right output; a file has its
# final name only when it is complete, and no temporary file is left.
set -eu

fail() {
    echo "$*"
    exit 1
}

# same WANT GOT: every file in GOT equals that in WANT.
same() {
    for file in "$2"/*; do
        [ ! -e "$file" ] || cmp -s "$1/${file##*/}" "$file" || fail "$what: $file is wrong"
    done
}

# sweep ARGUMENT...: until several runs in a row meet no fault.
sweep() {
    mkdir -p want
    "$RELA" "$@" >want.txt
    mv out want 2>/dev/null || true
    for class in mem file; do
        for suffix in "" +; do
            n=1 good=0 failures=0
            while [ $good -lt 4 ]; do
                what="RELA_FAULT=$class:$n$suffix rela $*" code=0
                rm -rf out
                RELA_FAULT=$class:$n$suffix "$RELA" "$@" >got.txt 2>err || code=$?
                if [ $code -eq 0 ]; then
                    cmp -s want.txt got.txt || fail "$what: success with wrong output"
                    good=$((good + 1))
                else
                    [ $code -eq 1 ] || fail "$what: exit $code: $(cat err)"
                    [ "$(wc -l <err)" -eq 1 ] || fail "$what: '$(cat err)'"
                    good=0 failures=$((failures + 1))
                fi
                [ ! -d out ] || same want/out out
                n=$((n + 1))
            done
            [ $failures -gt 5 ] || fail "$what: only $failures failures"
        done
    done
}

printf 'a b c\nbad \377\n\nd\n' >a
printf 'x\ny\nz\nw v\n' >b
sweep corpus -n 2 --valid 1 --test 1 --threads 1 --out out
rm -rf want
sweep corpus check --src a --tgt b --memory 0 --threads 1
echo "every fault is survived or told"
