# SPDX-License-Identifier: MIT
# The command line: every bad argument has an exit code and a message that names it.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# The program itself.
refuses 2 "unknown command 'bogus'" bogus
refuses 2 "unknown command ''" ''
refuses 2 "unknown command '--bogus'" --bogus
refuses 2 "unknown command 'bogus'" help bogus
refuses 2 "unknown command 'bogus'" help man bogus
refuses 2 "no completions for shell 'cmd'" help completion cmd
accepts --help
grep -q "^  study statistics  write " lib.out || fail "--help: no blanks before a summary"
accepts -h
accepts help
accepts --version
accepts help info
"$RELA" >lib.out && fail "no command: exit code 0" || [ $? -eq 2 ] || fail "no command: not 2"
grep -q '^usage: rela COMMAND' lib.out || fail "no command: no usage"
! has 'bpe learn' || refuses 2 "'bpe' needs a second word:" bpe

# Options that every command has, on every command.
"$RELA" help commands >commands
while read -r c; do
    # shellcheck disable=SC2086 # a command may be two words
    {
        accepts $c --help
        grep -q "^usage: rela $c" lib.out || fail "$c --help: no usage line"
        accepts help $c
        refuses 2 "unknown option --bogus" $c --bogus
        refuses 2 "unknown option --thread=2; did you mean --threads?" $c --thread=2
        refuses 2 "unknown option -?" $c '-?'
        refuses 2 "option --threads needs a value" $c --threads
        refuses 2 "option --threads: 'x' is not a whole number" $c --threads x
        refuses 2 "option --threads: '' is not a whole number" $c --threads=
        refuses 2 "option --threads: 'nan' is not a whole number" $c --threads nan
        refuses 2 "option --threads: '1e999' is not a whole number" $c --threads 1e999
        refuses 2 "option --threads: '2.5' is not a whole number" $c --threads 2.5
        refuses 2 "option --threads: -1 is out of range; expected 0..256" $c --threads -1
        refuses 2 "option --threads: 1000000 is out of range" $c -t 1000000
        refuses 2 "option --threads: 99999999999999999999 is out of range" $c -t99999999999999999999
        refuses 2 "option --threads is given twice" $c --threads 1 -t 1
        refuses 2 "option --quiet is given twice" $c --quiet --no-quiet
        refuses 2 "option --quiet: 'x' is not true or false" $c --quiet=x
        refuses 2 "option --config: the name is empty" $c --config ''
        refuses 1 "missing.yml: No such file or directory" $c --config missing.yml
        refuses 1 "Is a directory" $c --config .
    }
done <commands

# Odd names in messages: one printable line, whatever they hold.
newline='no
such'
refuses 1 "no?such: No such file" info --config "$newline"
refuses 1 "a b: No such file" info --config 'a b'
refuses 1 "?: No such file" info --config "$(printf '\377')"
refuses 1 "?[31m: No such file" info --config "$(printf '\033[31m')"
refuses 2 "unexpected argument 'x'" info model x
refuses 2 "unexpected argument '--json'" info -- model --json

# Standard files that are full, closed or gone.
code=0
"$RELA" info >/dev/full 2>lib.err || code=$?
[ "$code" -eq 1 ] || fail "full output: exit code $code"
grep -q 'standard output: cannot be written: No space left on device' lib.err || fail "full output"
code=0
"$RELA" info >&- 2>lib.err || code=$?
[ "$code" -eq 1 ] || fail "closed output: exit code $code"
grep -q 'standard output' lib.err || fail "closed output: $(cat lib.err)"
"$RELA" info 2>&- >lib.out || fail "closed standard error"
code=0
"$RELA" info --bogus 2>&- || code=$?
[ "$code" -eq 2 ] || fail "closed standard error: exit code $code"
for args in info --version --help; do
    { sleep 0.3; code=0; "$RELA" $args 2>lib.err || code=$?; echo $code >code; } | :
    sleep 0.1
    [ "$(cat code)" -eq 141 ] || fail "$args into a closed pipe: exit code $(cat code)"
    [ ! -s lib.err ] || fail "$args into a closed pipe: $(cat lib.err)"
done
(ulimit -f 0; "$RELA" info >limited 2>lib.err) && fail "file size limit: exit code 0" ||
    [ $? -eq 1 ] || fail "file size limit: killed"
n_checks=$((n_checks + 8))

# An environment without anything.
env -i "$RELA" info >/dev/null || fail "empty environment"
code=0
RELA_FAULT=bogus "$RELA" info >/dev/null 2>lib.err || code=$?
[ "$code" -eq 2 ] && grep -q "RELA_FAULT: 'bogus'" lib.err || fail "RELA_FAULT"

# A log that cannot be written is a warning, once, also with --quiet; the work goes on. One that
# cannot be opened is an error.
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >few
for quiet in '' -q; do
    n_checks=$((n_checks + 1))
    code=0
    # shellcheck disable=SC2086
    "$RELA" train --preset demo --width 16 --ffn 16 --merges 5 --updates 3 --average 1 --report-every 1 $quiet \
        --train-src few --train-tgt few --out "run$quiet" --log /dev/full 2>lib.err || code=$?
    [ "$code" -eq 0 ] && [ -s "run$quiet/model.rela" ] || fail "--log /dev/full $quiet: exit code $code: $(cat lib.err)"
    [ "$(grep -cx 'rela: warning: /dev/full: the log cannot be written: No space left on device' lib.err)" -eq 1 ] ||
        fail "--log /dev/full $quiet: $(cat lib.err)"
done
refuses 1 "no/log: the log cannot be opened: No such file or directory" bpe undo few --log no/log

# Characters of a file, an option or a name that turn the direction of text or are not seen: not in a message.
override=$(printf '\342\200\256')
printf '0-%s0\n' "$override" >links
refuses 3 "links: line 1: '0-?0' is not a link" aer links -i links
refuses 2 "unknown option --wor?d" info "--wor${override}d"
refuses 2 "unknown command 'wor?d'" "wor${override}d"
refuses 1 "no?such: No such file" bpe undo "no${override}such"
printf 'wor%sd: 1\n' "$override" >odd.yml
refuses 2 "odd.yml: line 1: " bpe undo --config odd.yml
! grep -q "$override" lib.err || fail "a configuration turns the message: $(cat lib.err)"
RELA_FAULT=$override "$RELA" info >/dev/null 2>lib.err && fail "RELA_FAULT" || ! grep -q "$override" lib.err || fail "RELA_FAULT: $(cat lib.err)"
n_checks=$((n_checks + 2))

# What the help promises: what was found on this machine.
accepts info -t 3
for line in 'threads  *3' 'instruction set  *[a-z0-9]*' 'memory  *[0-9.]* GB free' 'MPI module  *\(not \)*found' 'libraries  *oneDNN [0-9.]*, zlib .*'; do
    grep -qx "$line" lib.out || fail "info: no line '$line': $(cat lib.out)"
done
accepts info --json
for key in version threads instruction_set memory_free mpi libraries oneDNN; do
    grep -q "\"$key\": " lib.out || fail "info --json: no $key: $(cat lib.out)"
done
finish
