#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs written from the public headers alone, header_*.c, compile as C99 without a warning, do what they say and free
# everything.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
flags="-std=c99 -pedantic -Wall -Wextra -Werror ${RELA_SANITIZE:+-fsanitize=$RELA_SANITIZE}"
"$RELA" corpus --size 1000 --valid 10 --test 100 --level easy --out "$scratch/corpus" --quiet >"$scratch/table"
for file in "$RELA_SOURCE"/tests/api/header_*.c; do
    name=$(basename "$file" .c)
    # shellcheck disable=SC2086 # several words
    gcc $flags -I"$RELA_SOURCE/include" "$file" -L"$RELA_BUILD" -lrela -Wl,-rpath,"$RELA_BUILD" -o "$scratch/$name"
    cp -r "$scratch/corpus" "$scratch/files-$name"
    "$scratch/$name" "$scratch/files-$name"
    echo "$name: fine"
done
