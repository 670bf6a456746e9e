# SPDX-License-Identifier: MIT
# The file that docs/howto-attention-kind.md shows is complete: it compiles as it stands.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

sed -n '/^```c$/,/^```$/p' "$RELA_SOURCE/docs/howto-attention-kind.md" | grep -v '^```' >kind.c
grep -q rela_attn_kinds_ kind.c || fail "no code in docs/howto-attention-kind.md"
for real in float double; do
    n_checks=$((n_checks + 1))
    ${CC:-cc} -std=c11 -Wall -Wextra -Wconversion -Werror -fsyntax-only -DRELA_REAL=$real \
        -I"$RELA_SOURCE/src" kind.c || fail "the example does not compile with $real"
done
finish
