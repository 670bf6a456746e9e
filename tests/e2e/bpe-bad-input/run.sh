#!/bin/sh
# SPDX-License-Identifier: MIT
# Bad codes, vocabularies and texts: exit code, message with place and reason, no output.
set -u
failures=0

# bad CODE PATTERN COMMAND...: the command must end with CODE and one line that matches PATTERN,
# and must leave nothing under the name `result`.
bad() {
    code=$1 pattern=$2
    shift 2
    rm -f result
    "$RELA" "$@" -o result >stdout 2>stderr <text
    got=$?
    if [ "$got" -ne "$code" ] || ! grep -q -- "$pattern" stderr || [ "$(wc -l <stderr)" -ne 1 ] ||
        [ -e result ] || [ -s stdout ]; then
        complain "$*: exit $got, expected $code and '$pattern'; said: $(cat stderr)"
    fi
}
complain() {
    echo "$*"
    failures=$((failures + 1))
}
# good PATTERN COMMAND...: succeeds; standard error matches PATTERN, or is empty if that is.
good() {
    pattern=$1
    shift
    "$RELA" "$@" >stdout 2>stderr <text || complain "$*: failed: $(cat stderr)"
    if [ -z "$pattern" ]; then
        [ ! -s stderr ] || complain "$*: said: $(cat stderr)"
    else
        grep -q -- "$pattern" stderr || complain "$*: said: $(cat stderr)"
    fi
}
# says TEXT: what the last command wrote first.
says() {
    [ "$(head -n 1 stdout)" = "$1" ] || complain "expected '$1', got '$(head -n 1 stdout)'"
}

echo 'low lower lowest' >text

# Codes
: >codes; bad 3 '^rela bpe apply: codes: empty' bpe apply -c codes
printf '\n\n' >codes; bad 3 'codes: empty' bpe apply -c codes
printf '#version: 0.3\nl o\n' >codes; bad 3 "codes: line 1: version '0.3'" bpe apply -c codes
printf '#version:\nl o\n' >codes; bad 3 "codes: line 1: version ''" bpe apply -c codes
printf '#version: 0.2\nl o\nlow\n' >codes; bad 3 'codes: line 3: expected two symbols' bpe apply -c codes
printf '#version: 0.2\nl o\nl  w\n' >codes; bad 3 'codes: line 3: expected two symbols' bpe apply -c codes
printf '#version: 0.2\nl o w\n' >codes; bad 3 'codes: line 2: expected two symbols' bpe apply -c codes
printf '#version: 0.2\nl o\n\nlo w\n' >codes; bad 3 'codes: line 3: expected two symbols' bpe apply -c codes
printf '#version: 0.2\nl \377\n' >codes; bad 3 'codes: line 2: not valid UTF-8' bpe apply -c codes
printf '#version: 0.2\nl \355\240\200\n' >codes; bad 3 'line 2: not valid UTF-8' bpe apply -c codes
{ printf '#version: 0.2\nl '; head -c 10485760 /dev/zero | tr '\0' x; } >codes
bad 3 'codes: line 2: longer than' bpe apply -c codes
printf '#version: 0.2\nl o\n' | gzip | head -c 20 >codes; bad 3 'codes: .*cut off' bpe apply -c codes
bad 1 'missing: No such file' bpe apply -c missing
bad 1 '/: Is a directory' bpe apply -c /
bad 2 'option --codes is missing' bpe apply
# Merges of symbols that no other merge makes, repeated and circular ones do no harm; NUL is data.
printf '#version: 0.2\nlo w</w>\nw lo\nl o\nlo w\nl o\n<lo wlo\nl o\n\000 a\n' >codes
good '' bpe apply -c codes
says 'low low@@ e@@ r low@@ e@@ s@@ t'
# A mark that splits into itself must not be split for ever.
printf '#version: 0.1\n< /w>\nw </w>\n' >codes; echo 'none 1' >vocab
good '' bpe apply -c codes --vocabulary vocab
# Only the merges in use are read.
printf '#version: 0.2\nl o\nbroken\n' >codes; good '' bpe apply -c codes --merges 1

# The vocabulary of bpe apply, and dictionaries
printf '#version: 0.2\nl o\n' >codes
printf 'low\n' >vocab; bad 3 'vocab: line 1: expected a word' bpe apply -c codes --vocabulary vocab
printf 'low 1\n\n' >vocab; bad 3 'vocab: line 2: expected a word' bpe apply -c codes --vocabulary vocab
printf 'low 1 2\n' >vocab; bad 3 'vocab: line 1: expected a word' bpe apply -c codes --vocabulary vocab
printf 'low one\n' >vocab; bad 3 'vocab: line 1: bad count' bpe apply -c codes --vocabulary vocab
printf 'low -1\n' >vocab; bad 3 'vocab: line 1: bad count' bpe apply -c codes --vocabulary vocab
printf 'low 99999999999999999999\n' >vocab; bad 3 'vocab: line 1: bad count' bpe apply -c codes --vocabulary vocab
printf 'low 1\000\n' >vocab; bad 3 'vocab: line 1: bad count' bpe apply -c codes --vocabulary vocab
printf 'l\377 1\n' >vocab; bad 3 'vocab: line 1: the word is not valid UTF-8' bpe apply -c codes --vocabulary vocab
printf 'low 1\nlow\n' >vocab; bad 3 'vocab: line 2: expected a word' bpe learn --dict-input vocab
printf 'low 1099511627776\nnew 1\n' >vocab; bad 3 'vocab: line 2: the counts add up' bpe learn --dict-input vocab
bad 1 'missing: No such file' bpe learn --dict-input missing

# Options
bad 2 "glossary '(': character" bpe apply -c codes --glossaries '('
bad 2 'dropout' bpe apply -c codes --dropout 1.5
bad 2 'dropout' bpe apply -c codes --dropout nan
bad 2 'symbols' bpe learn -s -1
bad 2 'min-frequency' bpe learn --min-frequency 0
bad 2 'vocabulary of 2 tokens' vocab --format tokens --size 2
bad 2 'format' vocab --format yaml
bad 1 'missing: No such file' bpe learn missing
bad 1 'missing: No such file' bpe undo missing
bad 1 'missing: No such file' vocab missing

# Text: bad bytes are left out or replaced, with a note; long words get a warning.
printf 'low \377 lower\nlow lower\n' >text
good '1 of 2 lines is not UTF-8 and was left out' bpe learn
grep -q 'standard input: line 1 is not UTF-8; if it is LATIN1: iconv' stderr || complain "no place: $(cat stderr)"
good '1 of 2 lines is not UTF-8' vocab
says 'low 1'
good '1 sequences of bytes are not UTF-8' bpe apply -c codes
says 'lo@@ w � lo@@ w@@ e@@ r'
head -c 2000 /dev/zero | tr '\0' x >text
good 'the longest 2000 (line 1); is there a blank between words' bpe learn
: >text; good 'the input has no words' bpe learn
says '#version: 0.2'
good '' bpe apply -c codes
# A long line without a blank takes no time worth speaking of, which rounds over it would.
head -c 1048576 /dev/zero | tr '\0' o >text
printf '#version: 0.2\no o\noo oo\noooo oooo\n' >codes
good '' bpe apply -c codes
"$RELA" bpe undo <stdout >joined
head -c 1048576 joined | cmp - text || complain 'a long word differs'

# Output: full device, closed pipe.
echo 'low lower lowest' >text
"$RELA" bpe apply -c codes <text >/dev/full 2>stderr && complain 'a full device is no error'
grep -q 'No space left' stderr || complain "full device: $(cat stderr)"

[ "$failures" -eq 0 ]
