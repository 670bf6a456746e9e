# SPDX-License-Identifier: MIT
# Functions for run.sh files: . "$RELA_SOURCE/tests/e2e/lib.sh"
# A check that fails says so, and the script goes on; it must end in `finish`.
n_checks=0
n_failed=0
lib_failed=$PWD/.lib.failed # what parts of pipes say; made when there is something

# fail TEXT
fail() {
    echo "FAILED: $*"
    n_failed=$((n_failed + 1))
}

# rela ARGUMENT...: the program as the first part of a pipe, whose exit code nothing else looks at: a
# failure counts in `finish`. A reader that needs no more may close the pipe.
rela() {
    "$RELA" "$@" || case $? in
    141) ;;
    *) echo "FAILED: rela $*: exit code $?" >>"$lib_failed" ;;
    esac
}

# refuses CODE MESSAGE ARGUMENT...: the program ends with that code and one line on standard error
# that begins with "rela" and holds the message (a fixed text); nothing on standard output.
refuses() {
    want=$1 message=$2
    shift 2
    n_checks=$((n_checks + 1))
    code=0
    "$RELA" "$@" >lib.out 2>lib.err </dev/null || code=$?
    [ "$code" -eq "$want" ] || fail "rela $*: exit code $code, expected $want: $(cat lib.err)"
    [ "$(wc -l <lib.err)" -eq 1 ] || fail "rela $*: not one line on standard error: $(cat lib.err)"
    grep -q '^rela' lib.err || fail "rela $*: $(cat lib.err)"
    grep -qF -- "$message" lib.err || fail "rela $*: expected '$message', got: $(cat lib.err)"
    [ ! -s lib.out ] || fail "rela $*: wrote to standard output"
}

# accepts ARGUMENT...: exit code 0 and nothing on standard error.
accepts() {
    n_checks=$((n_checks + 1))
    code=0
    "$RELA" "$@" >lib.out 2>lib.err </dev/null || code=$?
    [ "$code" -eq 0 ] || fail "rela $*: exit code $code: $(cat lib.err)"
    [ ! -s lib.err ] || fail "rela $*: on standard error: $(cat lib.err)"
}

# has COMMAND: whether the program has it (one or two words).
has() {
    rela help commands | grep -qx "$1"
}

# needs_corpora NAME...: the script ends, and counts as skipped, unless all of them are in $RELA_DATA.
needs_corpora() {
    missing=
    for corpus in "$@"; do
        [ -d "$RELA_DATA/$corpus" ] || missing="$missing $corpus"
    done
    [ -n "$missing" ] || return 0
    echo "skipped: no data:$missing in $RELA_DATA"
    exit 0
}

finish() {
    if [ -e "$lib_failed" ]; then
        cat "$lib_failed"
        n_failed=$((n_failed + $(wc -l <"$lib_failed")))
    fi
    echo "$n_checks checks, $n_failed failed"
    [ "$n_failed" -eq 0 ]
}
