# SPDX-License-Identifier: MIT
# What every command that turns lines into lines does with odd files, shown with `bpe undo`, which
# leaves a text without separators as it is.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
has 'bpe undo' || { echo "no bpe undo"; exit 1; }

# gives WANT INPUT: these bytes out of those (printf escapes), as a file and as a pipe, on 1 and 3 threads.
gives() {
    n_checks=$((n_checks + 1))
    printf -- "$1" >want
    printf -- "$2" >in
    for threads in 1 3; do
        "$RELA" bpe undo -t $threads in >out 2>err || fail "'$2': $(cat err)"
        cmp -s want out || fail "'$2' on $threads threads gave: $(od -c out | head -n 3)"
        printf -- "$2" | "$RELA" bpe undo -t $threads >out 2>err || fail "'$2' piped: $(cat err)"
        cmp -s want out || fail "'$2' piped gave: $(od -c out | head -n 3)"
    done
}
gives '' ''
gives '\n' '\n'
gives 'a\n' 'a'
gives 'a\nb\n' 'a\nb'
gives 'a\nb\n' 'a\r\nb\r\n'
gives 'a\rb\n' 'a\rb\n'
gives 'a\n' '\357\273\277a\n'
gives 'a\n\357\273\277b\n' 'a\n\357\273\277b\n'
gives 'a\000b\n\000\n' 'a\000b\n\000\n'
gives 'a\342\200\250b\302\205c\n' 'a\342\200\250b\302\205c\n'
gives 'a|||b\tc\n' 'a|||b\tc\n'
gives '\037\n' '\037\n'

# Large enough for many blocks: order is kept.
awk 'BEGIN { for (i = 1; i <= 120000; i++) print "line", i, "of a text that is cut into blocks" }' >big
for threads in 1 2 7; do
    rela bpe undo -t $threads big | cmp - big || fail "order is lost on $threads threads"
done
cat big big >twice
rela bpe undo big big | cmp - twice || fail "two files"
n_checks=$((n_checks + 4))

# Compressed input by content, compressed output by name.
gzip -c big >big.gz
zstd -q -c big >big.zst
cp big.gz misnamed.txt
cp big misnamed.gz
cat big.gz big.gz >two.gz
for f in big.gz big.zst misnamed.txt misnamed.gz; do
    rela bpe undo "$f" | cmp - big || fail "$f"
    rela bpe undo <"$f" | cmp - big || fail "$f as standard input"
done
rela bpe undo two.gz | cmp - twice || fail "two members"
"$RELA" bpe undo big -o out.gz && gzip -dc out.gz | cmp - big || fail "out.gz"
"$RELA" bpe undo big -o out.zst && zstd -q -dc out.zst | cmp - big || fail "out.zst"
n_checks=$((n_checks + 11))
head -c 50000 big.gz >cut.gz
head -c 20000 big.zst >cut.zst
{ cat big.gz; echo garbage; } >tail.gz
{ cat big.zst; echo garbage; } >tail.zst
{ head -c $(($(wc -c <big.gz) - 8)) big.gz; printf '\000\000\000\000\000\000\000\000'; } >crc.gz
head -c 40000000 /dev/zero | gzip -9 -c >bomb.gz
head -c 400000000 /dev/zero | zstd -q -19 -c >bomb.zst
printf '\050\265\057\375\000\250\001\000\000' >window.zst
printf 'new' >kept
for row in 'cut.gz:cut off' 'cut.zst:cut off' 'tail.gz:garbage' 'tail.zst:damaged zstd' \
    'crc.gz:incorrect data check' 'bomb.gz:bomb' 'bomb.zst:bomb' 'window.zst:memory'; do
    refuses 3 "${row%%:*}: " bpe undo "${row%%:*}" -o kept
    grep -q "${row#*:}" lib.err || fail "$row: $(cat lib.err)"
    [ "$(cat kept)" = new ] || fail "$row: the output was touched"
done
refuses 1 "No such file or directory" bpe undo missing
refuses 1 "Is a directory" bpe undo .
refuses 2 "the name of an input file is empty" bpe undo ''
refuses 2 "option --output: the name is empty" bpe undo in -o ''

# A line that is too long is named; the lines before it have come out.
{ echo first; head -c 70000000 /dev/zero | tr '\0' x; echo; echo last; } >long
code=0
"$RELA" bpe undo long >out 2>err || code=$?
[ "$code" -eq 3 ] && grep -q 'long: line 2: longer than' err && [ "$(cat out)" = first ] || fail "long line: $code $(cat err)"
rm -f long

# Output that fails, in all the ways it can.
refuses 1 "/dev/full: cannot be written: No space left" bpe undo in -o /dev/full
refuses 1 "no/such/dir" bpe undo in -o no/such/dir
refuses 1 "Is a directory" bpe undo in -o .
mkdir closed
chmod 555 closed
if [ "$(id -u)" -eq 0 ]; then
    echo "partly skipped: root may write anywhere"
else
    refuses 1 "closed/out: cannot be written: Permission denied" bpe undo in -o closed/out
fi
(ulimit -f 8; "$RELA" bpe undo big -o limited 2>err) && fail "file size limit" || [ $? -eq 1 ] || fail "file size limit: killed"
[ ! -e limited ] || fail "a file under its final name after a failure"
{ sleep 0.3; code=0; "$RELA" bpe undo big 2>err || code=$?; echo $code >code; } | head -n 1 >/dev/null
sleep 0.2
[ "$(cat code)" -eq 141 ] && [ ! -s err ] || fail "closed pipe: $(cat code) $(cat err)"
n_checks=$((n_checks + 4))

# The same file for input and output; names that are not nice.
cp big same
"$RELA" bpe undo same -o same && cmp same big || fail "same file"
for name in 'a b' 'a
b' "$(printf '\377')" '--help'; do
    printf 'x\n' >"./$name"
    "$RELA" bpe undo -o "./$name.out" -- "./$name" && [ "$(cat "./$name.out")" = x ] || fail "name $name"
    n_checks=$((n_checks + 1))
done

# A stop by signal leaves neither a result nor a temporary file.
mkfifo pipe
for signal in INT TERM HUP; do
    (
        trap - INT
        exec "$RELA" bpe undo pipe -o stopped 2>/dev/null
    ) &
    pid=$!
    exec 9>pipe
    cat big >&9
    sleep 0.2
    ls stopped.tmp-* >/dev/null 2>&1 || fail "no temporary while it runs"
    kill -$signal $pid
    exec 9>&-
    code=0
    wait $pid || code=$?
    if [ "$signal" = INT ] && [ $code -eq 0 ]; then code=130; fi # ignored in the background of some shells
    [ $code -gt 128 ] || fail "$signal: exit code $code"
    n_checks=$((n_checks + 1))
done
rm -f stopped
! ls ./*.tmp-* 2>/dev/null || fail "temporary files are left"
finish
