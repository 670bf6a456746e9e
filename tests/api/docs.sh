#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs of docs/api.md compile as C99 without a warning and run; so does examples/c, built with its
# own Makefile against the installed library.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
"$RELA_SOURCE/tests/tiny_model" "$RELA" "$scratch"
cmake --install "$RELA_BUILD" --prefix "$scratch/prefix" >/dev/null
libdir=$(dirname "$(find "$scratch/prefix" -name librela.so)")
export LD_LIBRARY_PATH="$libdir" PKG_CONFIG_PATH="$libdir/pkgconfig"
flags="-std=c99 -pedantic -Wall -Wextra -Werror ${RELA_SANITIZE:+-fsanitize=$RELA_SANITIZE}"

# A block that begins with the name of a file is that file.
cd "$scratch"
awk '/^```c$/ { getline; name = $2; file = name ~ /\.c$/ ? name : "" }
     /^```$/ { file = "" }
     file { print >file }' "$RELA_SOURCE/docs/api.md"
[ "$(find . -maxdepth 1 -name '*.c' | wc -l)" -eq 5 ]
for file in *.c; do
    # shellcheck disable=SC2046,SC2086
    cc $flags "$file" $(pkg-config --cflags --libs rela) -o "${file%.c}"
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
make -s -C example CFLAGS="$flags"
echo 'the old house is small .' | ./example/translate model.rela >out
[ "$(wc -l <out)" -eq 1 ]
echo "examples/c: translates"
