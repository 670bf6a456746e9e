#!/bin/sh
# SPDX-License-Identifier: MIT
# rela info and rela average: output, exit codes, bad files, failing calls, full disk.
set -eu
golden=$RELA_SOURCE/tests/golden/model-v1.rela

# expect CODE COMMAND...: runs it, checks the exit code, keeps standard error in err.txt.
expect() {
    want=$1
    shift
    code=0
    "$@" >out.txt 2>err.txt || code=$?
    if [ "$code" != "$want" ]; then
        echo "exit code $code, expected $want: $*"
        cat err.txt
        exit 1
    fi
}

# says TEXT: the last message is one line that holds the text.
says() {
    if [ "$(wc -l <err.txt)" != 1 ] || ! grep -qF -- "$1" err.txt; then
        echo "expected '$1' in one line:"
        cat err.txt
        exit 1
    fi
}

expect 0 "$RELA" info "$golden"
grep -q '^parameters      468 in 42 tensors$' out.txt
grep -q '^hash            xxh3-128:addd43237ef1e55141f47541d727235c$' out.txt
expect 0 "$RELA" info --json "$golden"
grep -q '"parameters": {"count": 468, "tensors": 42' out.txt
expect 0 "$RELA" info
grep -q '^threads ' out.txt

expect 1 "$RELA" info missing.rela
says 'rela info: missing.rela: No such file or directory'
expect 1 "$RELA" info .
says 'rela info: . is a directory, not a model'
mkfifo pipe
expect 1 "$RELA" info pipe
says 'not a regular file'
expect 2 "$RELA" info "$golden" "$golden"
expect 3 "$RELA" info --max-header 100 "$golden"
says 'the limit is 100'
printf 'PK\003\004 no model at all' >zip.rela
expect 3 "$RELA" info zip.rela
says 'zip.rela: not a model file'
size=$(wc -c <"$golden")
head -c $((size - 1)) "$golden" >cut.rela
expect 3 "$RELA" info cut.rela
says 'cut.rela: header: '
{ head -c $((size - 2)) "$golden"; printf '\001\002'; } >flip.rela
expect 3 "$RELA" info flip.rela
says 'flip.rela: damaged'
code=0
{ sleep 0.2; code=0; "$RELA" info "$golden" || code=$?; echo $code >code; } | :
case $(cat code) in 0 | 141) ;; *) echo "a closed pipe: exit code $(cat code)" && exit 1 ;; esac

mkdir -p run/checkpoints
for i in 000100 000200 000300; do cp "$golden" "run/checkpoints/$i.rela"; done
expect 0 "$RELA" average -n 2 run -o mean.rela
expect 0 "$RELA" info mean.rela
grep -q '^format          rela-model 1, model$' out.txt
grep -q '"file":"000200.rela"' out.txt
grep -q '"file":"000100.rela"' out.txt && exit 1
expect 2 "$RELA" average -n 4 run -o x.rela
says '3 checkpoints to average; expected 4'
expect 2 "$RELA" average run
says 'no output file'
expect 2 "$RELA" average run -o x.gz
says 'never compressed'
expect 3 "$RELA" average run flip.rela -o x.rela
says 'flip.rela: damaged'
expect 1 "$RELA" average run -o /dev/full
says '/dev/full: cannot be written: No space left'
expect 1 "$RELA" average run -o no/such/dir/x.rela
[ ! -e x.rela ]

cp mean.rela keep.rela
for fault in mem:1 mem:10 mem:40+ file:1 file:5 file:20+ file:35; do
    code=0
    RELA_FAULT=$fault "$RELA" average run -o mean.rela >/dev/null 2>&1 || code=$?
    [ "$code" = 0 ] || [ "$code" = 1 ] || { echo "$fault: exit code $code"; exit 1; }
    cmp mean.rela keep.rela
done
for left in *tmp*; do
    [ ! -e "$left" ] || { echo "$left is left"; exit 1; }
done
