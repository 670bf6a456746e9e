#!/bin/sh
# SPDX-License-Identifier: MIT
# The six commands that run a model, in less and less address space (ulimit -v): each run gives the
# result of a run without a limit, or ends with exit code 1, one line that says what there was no
# memory for, and no part of an output. RELA_LIMITS: how many limits (default 12; make test-limits
# takes 300), from what it takes to load the program to a little more than all six need.
# shellcheck disable=SC3045 # ulimit -v: not POSIX, but in dash and bash
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
if ldd "$RELA" | grep -q 'lib[at]san'; then
    echo "skipped: sanitizers reserve more address space than a limit leaves"
    exit 0
fi
"$RELA_SOURCE/tests/tiny_model" "$RELA" . 4
n_limits=${RELA_LIMITS:-12}
for side in src tgt; do
    head -n 60 corpus/test.$side >$side
done

# under KIB COMMAND: runs it in so much address space (0: no limit); outputs go to out/.
under() {
    kib=$1 command=$2
    rm -rf out
    mkdir out
    case $command in
    train)
        set -- --preset demo --width 32 --ffn 48 --merges 100 --max-length 60 --tokenise --src-lang en --tgt-lang de --batch-tokens 512 --updates 2 \
            --save-every 2 --average 1 --train-src corpus/train.src --train-tgt corpus/train.tgt --out out/run ;;
    translate) set -- model.rela -i src -o out/text ;;
    score) set -- model.rela --src src --tgt tgt -o out/scores ;;
    align) set -- model.rela --src src --tgt tgt -o out/links ;;
    analyse) set -- model.rela --src src --tgt tgt --out out/report ;;
    filter) set -- model.rela --src src --tgt tgt --out-src out/a --out-tgt out/b --keep 0.5 ;;
    esac
    code=0
    (
        [ "$kib" -eq 0 ] || ulimit -v "$kib"
        exec "$RELA" "$command" --quiet --threads 4 "$@" >/dev/null 2>err
    ) || code=$?
}

# The outputs of a command in a folder: all files, but logs and settings of training.
results() {
    (cd "$2" && find . -type f) | if [ "$1" = train ]; then grep '[.]rela$' || true; else sort; fi
}

loads() {
    (ulimit -v "$1" && exec "$RELA" --version >/dev/null 2>&1)
}

commands='train translate score align analyse filter'
low=0 high=4194304
while [ $((high - low)) -gt 64 ]; do
    kib=$(((low + high) / 2))
    if loads $kib; then high=$kib; else low=$kib; fi
done
low=$high
high=$((low + 65536))
for command in $commands; do
    under 0 $command
    [ $code -eq 0 ] || fail "$command without a limit: exit code $code: $(cat err)"
    mv out "want-$command"
    results $command "want-$command" >"names-$command"
    while under $high $command && [ $code -ne 0 ] && [ $high -lt 4194304 ]; do
        high=$((high + 16384))
    done
    [ $code -eq 0 ] || fail "$command: fails in 4 GiB: $(cat err)"
done
high=$((high + (high - low) / 10))

for command in $commands; do
    i=0 good=0
    while [ $i -lt "$n_limits" ]; do
        kib=$((low + (high - low) * i / (n_limits - 1)))
        i=$((i + 1)) n_checks=$((n_checks + 1))
        under $kib $command
        what="$command in $kib KiB"
        case $code in
        0)
            good=$((good + 1))
            [ ! -s err ] || fail "$what: success with a message: $(cat err)" ;;
        1)
            [ "$(wc -l <err)" -eq 1 ] && grep -q "^rela $command: .*\(memory\|threads\)" err ||
                fail "$what: exit code 1: $(cat err)" ;;
        *) fail "$what: exit code $code: $(cat err)" ;;
        esac
        results $command out >names
        [ $code -ne 0 ] || cmp -s names "names-$command" || fail "$what: success without all outputs"
        while read -r name; do # a temporary file is other than all that is wanted
            [ -e "want-$command/$name" ] && cmp -s "out/$name" "want-$command/$name" || fail "$what: exit code $code leaves $name"
        done <names
    done
    echo "$command: $n_limits limits of $low to $high KiB, $good of them enough"
done
finish
