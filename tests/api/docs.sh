#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs of docs/api.md, built with the commands printed there, compile as C99 without a warning and run after an
# installation in the home directory; so does examples/c, built with its own Makefile.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
"$RELA_SOURCE/tests/tiny_model" "$RELA" "$scratch"
export HOME="$scratch/home"
cmake --install "$RELA_BUILD" --prefix ~/.local >/dev/null
flags="-std=c99 -pedantic -Wall -Wextra -Werror ${RELA_SANITIZE:+-fsanitize=$RELA_SANITIZE}"

# A block that begins with the name of a file is that file.
cd "$scratch"
awk '/^```c$/ { getline; name = $2; file = name ~ /\.c$/ ? name : "" }
     /^```$/ { file = "" }
     file { print >file }' "$RELA_SOURCE/docs/api.md"
[ "$(find . -maxdepth 1 -name '*.c' | wc -l)" -eq 5 ]
sed -n '/^```sh$/,/^```$/ { /```/d; p; }' "$RELA_SOURCE/docs/api.md" >commands
[ "$(wc -l <commands)" -eq 2 ]
for file in *.c; do
    sed "s/program/${file%.c}/g; s/^cc /cc $flags /" commands >command
    sh -eu command
done
./translate model.rela >out
[ "$(wc -l <out)" -eq 2 ]
./attend model.rela | grep -qE '^logp -[0-9.]+; [0-9]+ of [0-9]+ weights are zero'
./train corpus/train.src corpus/train.tgt again | grep -q '^update 10: loss'
./attention | grep -q '^50 weights, [0-9]* of them zero; y\[0\] = '
! ./translate missing.rela 2>err
grep -q 'missing.rela' err
./align model.rela corpus/test.src corpus/test.tgt >out 2>err
[ "$(wc -l <out)" -eq "$(wc -l <corpus/test.src)" ] && grep -q '[0-9]-[0-9]' out
echo "docs/api.md: 5 programs"

cp -r "$RELA_SOURCE/examples/c" example
PKG_CONFIG_PATH=~/.local/lib/pkgconfig make -s -C example CFLAGS="$flags"
echo 'the old house is small .' | ./example/translate model.rela >out
[ "$(wc -l <out)" -eq 1 ]
echo "examples/c: translates"
