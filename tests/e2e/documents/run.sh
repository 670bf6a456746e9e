# SPDX-License-Identifier: MIT
# Every shell block of README.md and docs/ runs, on small files with the names that the pages use and with short trainings.
# A block after a line "<!-- run: no, REASON -->" is left out. Of a console block the output is compared. The Python blocks
# are run by tests/python, those of docs/howto-attention-kind.md by e2e.howto_kind.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
top=$PWD
here=$RELA_SOURCE/tests/e2e/documents
export RELA_SOURCE RELA

# Programs of the blocks: rela trains shortly, make only says what it would do.
mkdir bin
cp "$here/rela" "$here/make" bin/
chmod +x bin/*
sh "$here/files.sh" files >files.log 2>&1 || { cat files.log; fail "files"; }

blocks=0
for page in README.md $(cd "$RELA_SOURCE" && find docs -name '*.md' | sort); do
    [ "$page" != docs/howto-attention-kind.md ] || continue
    name=$(echo "$page" | tr '/' '-')
    cp -r files "$name"
    mkdir "$name.blocks"
    awk -v dir="$name.blocks" -f "$here/blocks.awk" "$RELA_SOURCE/$page" >"$name.list"
    while read -r line kind; do
        n_checks=$((n_checks + 1))
        case $kind in
        unlabelled) fail "$page:$line: commands in a block that is not marked as sh or console" ;;
        no) ;;
        *)
            blocks=$((blocks + 1))
            (cd "$name" && PATH=$top/bin:$PATH RELA_DATA=$top/files/data sh -eu "../$name.blocks/$line.sh") \
                >"$name.out" 2>"$name.err" </dev/null || fail "$page:$line: $(tail -n 2 "$name.err")"
            [ "$kind" = sh ] || diff "$name.blocks/$line.out" "$name.out" >differences ||
                fail "$page:$line: other output than printed: $(cat differences)"
            ;;
        esac
    done <"$name.list"
    rm -rf "$name"
done
[ "$blocks" -gt 20 ] || fail "only $blocks blocks found"
echo "$blocks blocks run, $(cat ./*.list | grep -c ' no$') left out"
finish
