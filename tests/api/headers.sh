#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header compiles alone, twice in a row, as C99 and as C++11 without any warning.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
cd "$RELA_SOURCE/include"
for header in rela/*.h; do
    printf '#include "%s"\n#include "%s"\nint main(void) { return 0; }\n' "$header" "$header" >"$scratch/alone.c"
    cp "$scratch/alone.c" "$scratch/alone.cc"
    gcc -std=c99 -Wall -Wextra -pedantic -Wstrict-prototypes -Wundef -Werror -I. -c "$scratch/alone.c" -o "$scratch/alone.o"
    g++ -std=c++11 -Wall -Wextra -pedantic -Wold-style-cast -Werror -I. -c "$scratch/alone.cc" -o "$scratch/alone.o"
    # Nothing but the C library and the project itself.
    if grep -nE '#[ ]*include' "$header" | grep -vE '<(stddef|stdint|stdbool|stdio)\.h>|"rela/'; then
        echo "$header includes more than it may (above)"
        exit 1
    fi
    echo "$header: C99 and C++11"
done
