#!/bin/sh
# SPDX-License-Identifier: MIT
# A public struct that begins with its size ends with its last member. Otherwise a later member could lie where programs
# of today have padding: with the size that they give it would count as set, but hold anything.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
# The name and the last member of each.
cat >"$scratch/members" <<'END'
/^typedef struct [a-z_]+ \{/ { name = $3; first = last = ""; next }
name && /^}/ { if (first ~ /size_t struct_size;/) print name, last; name = ""; next }
name && comment { comment = !/\*\//; next }
name {
    line = $0
    comment = /\/\*/ && !/\*\//
    sub(/\/\*.*/, "", line)
    if (line !~ /;/) next
    if (!first) first = line
    sub(/;.*/, "", line)
    if (line ~ /\(\*/) { sub(/.*\(\*/, "", line); sub(/\).*/, "", line) }
    sub(/(\[[^]]*\])+ *$/, "", line)
    sub(/.*[ *,]/, "", line)
    last = line
}
END
cd "$RELA_SOURCE/include"
cat rela/*.h | awk -f "$scratch/members" >"$scratch/structs"
n=$(grep -c '^    size_t struct_size;' rela/*.h | awk -F: '{ n += $2 } END { print n }')
[ "$(wc -l <"$scratch/structs")" -eq "$n" ] || { echo "$n structs have a size, not all were read:"; cat "$scratch/structs"; exit 1; }
{
    printf '#include "%s"\n' rela/*.h
    cat <<'END'
#include <stdio.h>
#define CHECK(type, last) \
    if (offsetof(type, last) + sizeof ((type *)0)->last != sizeof(type)) \
        bad = !!printf("%s has padding after %s: add char reserved[]\n", #type, #last)
int main(void) {
int bad = 0;
END
    sed 's/\(.*\) \(.*\)/CHECK(\1, \2);/' "$scratch/structs"
    echo 'return bad; }'
} >"$scratch/padding.c"
cc -std=c99 -Wall -Wextra -Werror -I. "$scratch/padding.c" -o "$scratch/padding"
"$scratch/padding"
echo "$n structs end with a member"
