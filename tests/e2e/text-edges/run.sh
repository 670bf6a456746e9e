# SPDX-License-Identifier: MIT
# Odd input and wrong use of the text commands: one line in is one line out, whatever the bytes.
set -eu
LC_ALL=C
export LC_ALL

fail() {
    echo "$*"
    exit 1
}

# expect NAME INPUT OUTPUT COMMAND...: printf formats in, printf formats out.
expect() {
    name=$1
    printf "$2" >in
    printf "$3" >want
    shift 3
    "$RELA" "$@" -q <in >out 2>err || fail "$name: $* failed: $(cat err)"
    cmp -s want out || fail "$name: $*: got '$(od -c <out)'"
    [ ! -s err ] || fail "$name: $*: said '$(cat err)'"
}

# refuse CODE MESSAGE COMMAND...: ends with the code and one line that holds the message.
refuse() {
    code=$1
    message=$2
    shift 2
    got=0
    "$RELA" "$@" <in >out 2>err || got=$?
    [ "$got" -eq "$code" ] || fail "$*: exit $got, expected $code"
    [ "$(wc -l <err)" -eq 1 ] || fail "$*: '$(cat err)'"
    grep -qF -- "$message" err || fail "$*: '$(cat err)' lacks '$message'"
}

printf 'the (2/3) The (1)\n' >model
for command in "tokenise" "detokenise" "normalise" "split" "truecase -m model" "truecase undo"; do
    expect "empty file" '' '' $command
    expect "no final newline" 'x' "$([ "$command" = 'truecase undo' ] && echo X || echo x)\n" $command
    expect "empty lines" '\n\n' '\n\n' $command
    expect "only spaces" '   \n \t \n' '\n\n' $command
    expect "byte order mark" '\357\273\2771\r\n' '1\n' $command
done
expect "empty file" '' '' truecase learn
expect "US spelling" "it's\n" "it &apos;s\n" tokenize
expect "US spelling" "it 's\n" "it's\n" detokenize
expect "US spelling" '\342\200\236a\n' '"a\n' normalize
expect "CRLF" 'a,\r\nb.\r\n' 'a ,\nb .\n' tokenise
expect "lone CR" 'a\rb\n' 'a b\n' tokenise
expect "lone CR" 'a\rb\n' 'ab\n' normalise
expect "U+2028, U+2029, U+0085, VT, FF" 'a\342\200\250b\342\200\251c\302\205d\013e\014f\n' 'a b c d e f\n' tokenise
expect "U+2028, U+2029, U+0085, VT, FF" 'a\342\200\250b\342\200\251c\302\205d\013e\014f\n' 'a b c d e f\n' normalise
expect "NUL" 'a\000b,\000\n' 'ab ,\n' tokenise
expect "NUL" 'a\000b ,\000\n' 'a\000b ,\000\n' normalise
expect "NUL" 'the\000 the\n' 'the\000 the\n' truecase -m model
expect "only combining marks" '\314\201\314\200\n' '\314\201 \314\200\n' tokenise
expect "only combining marks" '\314\201\314\200\n' '\314\201\314\200\n' normalise -f nfc
expect "bidi controls" '\342\200\256a\342\200\254\n' '\342\200\256 a \342\200\254\n' tokenise
expect "bidi controls" '\342\200\256a\342\200\254\n' 'a\n' normalise --remove-control
expect "zero-width joiner" '\360\237\221\251\342\200\215\360\237\222\273!\n' '\360\237\221\251 \342\200\215 \360\237\222\273 !\n' tokenise
expect "emoji" 'ok \360\237\230\200.\n' 'ok \360\237\230\200 .\n' tokenise
expect "entities" '&|<>"[]\n' '&amp; &#124; &lt; &gt; &quot; &#91; &#93;\n' tokenise
expect "no entities" '&|<>"[]\n' '& | < > " [ ]\n' tokenise --no-escape
expect "long options" 'A-b\n' 'a @-@ b\n' tokenise --aggressive-dash --lowercase --language de

# Each kind of invalid UTF-8: truncated, overlong, surrogate, too large, stray byte.
printf 'a\303\nb\342\202\nc\360\237\230\nd\300\200\ne\355\240\200\nf\365\200\200\200\ng\200\nok\n' >in
"$RELA" tokenise <in >out 2>err || fail "invalid UTF-8: $(cat err)"
cat >want <<'END'
rela: warning: standard input: line 1 is not UTF-8 (reported once)
rela: warning: 13 invalid UTF-8 sequences in 7 lines replaced by U+FFFD
END
cmp -s want err || fail "invalid UTF-8: said '$(cat err)'"
[ "$(wc -l <out)" -eq 8 ] || fail "invalid UTF-8: lines were lost"
[ "$(grep -c "$(printf '\357\277\275')" out)" -eq 7 ] || fail "invalid UTF-8: '$(cat out)'"
for command in detokenise normalise split "truecase -m model" "truecase undo" "truecase learn"; do
    "$RELA" $command <in >out 2>err || fail "$command: invalid UTF-8: $(cat err)"
    cmp -s want err || fail "$command: invalid UTF-8: said '$(cat err)'"
done

# Long lines: 10 MiB of one word, of commas and of quotes; 50,000 times the same word.
head -c 10485760 /dev/zero | tr '\0' 'a' >in
echo >>in
yes "a,'" | tr -d '\n' | head -c 1048576 >>in
echo >>in
yes word | head -n 50000 | tr '\n' ' ' >>in
for command in tokenise detokenise normalise split "truecase -m model" "truecase undo"; do
    "$RELA" $command -q <in >out || fail "$command: long lines"
    [ "$(wc -l <out)" -eq 3 ] || fail "$command: long lines: $(wc -l <out)"
    [ "$(tail -n 1 out | wc -w)" -eq 50000 ] || fail "$command: words were lost"
done
yes '< <' | tr -d '\n' | head -c 1048576 >in # must not take quadratic time
for command in "truecase -m model" "truecase learn" "tokenise -p :basic:"; do
    "$RELA" $command -q <in >out || fail "$command: many brackets"
done

# Files: several, compressed, the same as input and output, devices.
printf 'a,\n' >one
printf 'b,' | gzip >two
"$RELA" tokenise one two -q >out
printf 'a ,\nb ,\n' | cmp -s - out || fail "several files: '$(cat out)'"
"$RELA" tokenise -q -o one one && printf 'a ,\n' | cmp -s - one || fail "same file"
{
    "$RELA" tokenise </dev/zero 2>err || echo $? >code
} | head -c 0
[ "$(cat code)" -eq 3 ] && grep -q "line 1" err || fail "endless line: $(cat code), $(cat err)"
yes 'a word' | head -n 200000 >in
{
    "$RELA" tokenise <in 2>err || echo $? >code
} | head -n 1 >out
[ "$(cat code)" -eq 141 ] && [ ! -s err ] || fail "closed output: exit $(cat code), '$(cat err)'"

printf 'a\n' >in
[ ! -w /dev/full ] || refuse 1 "No space left" tokenise -o /dev/full
refuse 2 "language 'x1' is not known" tokenise -l x1
refuse 2 "language '' is not known" detokenise -l ''
refuse 2 "language 'englsh' is not known" normalise -l englsh
refuse 2 "language 'englsh' is not known" split -l englsh
refuse 2 "form" normalise -f nfd
refuse 2 "no model; give one with --model FILE" truecase
refuse 2 "no-such" tokenise --no-such
refuse 1 "missing" tokenise missing
refuse 1 "missing" truecase -m missing
refuse 1 "missing" tokenise -p missing
printf 'ok\n(\n' >patterns
refuse 3 "patterns: pattern 2: missing closing parenthesis" tokenise -p patterns
printf '(a+)+b\n' >patterns
printf 'x\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac b\n' >in
refuse 3 "line 2: pattern 1 takes too many steps" tokenise -p patterns
printf 'a\000b\n' >patterns
refuse 3 "patterns: NUL byte" tokenise -p patterns
printf 'a (1/1)\nb\n' >bad
refuse 3 "bad: line 2: odd number of fields" truecase -m bad
printf 'a (1/1)\n\377 (1)\n' >bad
refuse 3 "bad: line 2: not valid UTF-8" truecase -m bad
echo "text commands hold"
