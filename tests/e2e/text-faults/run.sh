# SPDX-License-Identifier: MIT
# Every allocation and every file call of the text commands fails once, and from there on: the
# command must end with code 1 and one line, and leave the old output file alone.
set -eu

fail() {
    echo "$*"
    exit 1
}

# sweep CLASS SUFFIX COMMAND...: until the fault comes too late to matter. A single fault may be
# survived, so that only several successes in a row end the sweep.
sweep() {
    class=$1
    suffix=$2
    shift 2
    n=1
    good=0
    failures=0
    while [ $good -lt 4 ]; do
        echo old >out
        code=0
        RELA_FAULT=$class:$n$suffix "$RELA" "$@" -t 1 -o out <in >/dev/null 2>err || code=$?
        if [ $code -eq 0 ]; then
            cmp -s want out || fail "$class:$n$suffix $*: success with wrong output"
            good=$((good + 1))
        else
            [ $code -eq 1 ] || fail "$class:$n$suffix $*: exit $code: $(cat err)"
            [ "$(grep -cv 'warning: 1 invalid\|is not UTF-8' err)" -eq 1 ] || fail "$class:$n$suffix $*: '$(cat err)'"
            echo old | cmp -s - out || [ "$(cat out)" = "$(cat want)" ] ||
                fail "$class:$n$suffix $*: the old file is gone"
            good=0
            failures=$((failures + 1))
        fi
        n=$((n + 1))
        [ $n -lt 1000 ] || fail "$class:$n$suffix $*: no end"
    done
    [ $failures -gt 2 ] || fail "$class$suffix $*: only $failures failures"
    [ "$(find . -name '*tmp*' | wc -l)" -eq 0 ] || fail "$class$suffix $*: a temporary file is left"
}

printf 'It'\''s "\303\211t\303\251" (x-y), e\314\201\377 at http://example.org/x.\n\nThe the The.\n' >in
printf 'the (2/3) The (1)\nx (1/1)\n' >model
printf 'example[.]org\nx-y\n' >patterns
for command in "tokenise -a --lowercase -p patterns" "detokenise" \
    "normalise -f nfc --collapse-blanks --lowercase" "truecase learn --first-words" \
    "truecase -m model" "truecase undo" "split -l de --paragraphs"; do
    "$RELA" $command -q -t 1 -o want <in
    for class in mem file; do
        sweep $class '' $command
        sweep $class + $command
    done
done
echo "every fault is survived or told"
