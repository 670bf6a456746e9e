# SPDX-License-Identifier: MIT
# Manual pages and completions made from the option tables are well formed.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

"$RELA_SOURCE/tools/generate" "$RELA" texts
"$RELA" help commands >commands
while read -r c; do
    page=texts/man1/rela-$(echo "$c" | tr ' ' '-').1
    [ -s "$page" ] || fail "no manual page for $c"
    for option in --threads --config --help; do
        grep -q "$(echo "$option" | sed 's/-/\\\\-/g')" "$page" || fail "$page does not tell $option"
    done
    grep -qF "$c" texts/man1/rela.1 || fail "rela.1 does not tell $c"
    first=${c%% *}
    for f in rela.bash _rela rela.fish; do
        grep -qw "$first" "texts/$f" || fail "texts/$f does not know $first"
    done
    awk '/^Examples:/ { exit } length > 80 { bad = 1 } END { exit bad }' <<EOF || fail "$c --help: a line over 80 columns"
$("$RELA" help $c)
EOF
    n_checks=$((n_checks + 9))
done <commands

for page in texts/man1/*.1; do
    groff -man -ww -z -Tutf8 "$page" 2>warnings || fail "$page: groff failed: $(head -n 3 warnings)"
    [ ! -s warnings ] || fail "$page: $(head -n 3 warnings)"
    n_checks=$((n_checks + 1))
done

# Complete like the shell would.
complete_words() {
    bash -c '. texts/rela.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rela
             printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
complete_words rela inf | grep -qx info || fail "bash does not complete a command"
complete_words rela info --thr | grep -qx -- --threads || fail "bash does not complete an option"
bash -n texts/rela.bash || fail "rela.bash has a syntax error"
zsh -n texts/_rela || fail "_rela has a syntax error"
fish -n texts/rela.fish || fail "rela.fish has a syntax error"
n_checks=$((n_checks + 5))
finish
