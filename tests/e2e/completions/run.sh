# SPDX-License-Identifier: MIT
# What the shells complete: commands, options and their values.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
mkdir bin folder
ln -s "$RELA" bin/rela
PATH=$PWD/bin:$PATH
touch text.en
for shell in bash zsh fish; do "$RELA" help completion $shell >complete.$shell; done
zsh -n complete.zsh || fail "zsh: syntax"

cat >try.bash <<'END'
. ./complete.bash
COMP_WORDS=(rela "$@")
COMP_CWORD=$#
_rela
printf '%s\n' "${COMPREPLY[@]}"
END

# completes WORD ARGUMENT...: the word is among what follows; the last argument is its beginning.
completes() {
    word=$1
    shift
    n_checks=$((n_checks + 2))
    bash try.bash "$@" | grep -qxF -- "$word" || fail "bash: rela $*: no $word: $(bash try.bash "$@" | head -n 3)"
    HOME=$PWD fish --no-config -c "source complete.fish; complete -C 'rela $*'" >fish.out 2>/dev/null
    cut -f 1 fish.out | grep -qxF -- "$word" || fail "fish: rela $*: no $word: $(head -n 3 fish.out)"
}
completes translate tr
completes --attention train --att
completes tiny train --preset t
completes never translate --split n
completes rela-g train --attention rela
completes entmax15 train --attention-enc ent
completes de tokenise --language d
completes text.en translate --input te
completes help he
completes --version --v
completes completion help c
completes train help man tr
completes fish help completion ''
completes undo help bpe ''
completes learn bpe ''
completes --no-escape tokenise --no
completes scale bench s
completes gnmt:0.6 translate --normalize ''
completes nucleus:0.9 translate --sampling n
completes text.en truecase te

# lacks WORD ARGUMENT...: the word is not offered.
lacks() {
    word=$1
    shift
    n_checks=$((n_checks + 2))
    ! bash try.bash "$@" | grep -qxF -- "$word" || fail "bash: rela $*: $word"
    HOME=$PWD fish --no-config -c "source complete.fish; complete -C 'rela $*'" 2>&1 | cut -f 1 >fish.out
    ! grep -qxF -- "$word" fish.out || fail "fish: rela $*: $word"
}
lacks text.en help te
lacks text.en help completion ''
lacks text.en bpe te
lacks text.en bench te
lacks text.en train te
lacks --level corpus check --l
lacks --cut corpus --c
n_checks=$((n_checks + 2))
[ "$(bash try.bash train --preset = t)" = tiny ] || fail "bash: --preset=t"
[ "$(bash try.bash train --preset = | head -n 1)" = paper ] || fail "bash: --preset="
n_checks=$((n_checks + 1))
bash try.bash train --out fo | grep -qx folder || fail "bash: no folder"

# Numbers are not completed with the names of files.
n_checks=$((n_checks + 1))
[ -z "$(bash try.bash translate --beam te)" ] || fail "bash: a file as a number"
for value in "'(-m)--method=[which links" "'(--method)-m+[which links" "'--preset=[" "'*:word:(train translate" "'--no-escape[" \
    "4-completion) compadd bash zsh fish" "3-bpe) compadd learn apply undo" "compadd paper base tiny demo align" "FILE:_files" "DIR:_files -/" 'compadd $(rela info --attention'; do
    n_checks=$((n_checks + 1))
    grep -qF -- "$value" complete.zsh || fail "zsh: no '$value'"
done

# Help ends with a line end, everywhere, and every command has a task.
rela help commands | while read -r command; do
    [ "$(rela $command --help | tail -c 1 | od -An -c | tr -d ' ')" = '\n' ] || fail "$command --help: no line end"
done >lost
[ ! -s lost ] || fail "$(cat lost)"
rela --help | grep -q '^More:' && fail "a command has no task in cli/overview.c"
finish
