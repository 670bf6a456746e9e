#!/bin/sh
# SPDX-License-Identifier: MIT
# A study that is killed and stopped at random, moved to another folder, and continued by other engines, with other numbers
# of jobs and threads, has the same results, byte for byte. STUDY_STOPS: how often (`make test-study`: 20).
# shellcheck disable=SC2154 # code is set by study of study.sh
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/study.sh"
stops=${STUDY_STOPS:-4}
write_study s.yml
study run s.yml --dir reference
[ "$code" -eq 0 ] || fail "exit code $code: $(cat err)"

# random LIMIT: a number below it; a fixed sequence.
state=1
random() {
    state=$(((state * 1103515245 + 12345) % 2147483648))
    number=$((state / 65536 % $1))
}

# once ENGINE SETTING: a run by an engine, with a fault (RELA_FAULT) or none.
once() {
    case $1 in
    one) RELA_FAULT=$2 "$RELA" study run s.yml --dir "$dir" --threads 2 ;;
    two) RELA_FAULT=$2 "$RELA" study run s.yml --dir "$dir" --jobs 2 ;;
    next) RELA_FAULT=$2 "$RELA" study run s.yml --dir "$dir" --next --threads 1 ;;
    make) "$RELA" study plan s.yml --dir "$dir" --format make >study.mk && RELA_FAULT=$2 make -k -j2 -f study.mk ;;
    xargs) "$RELA" study plan s.yml --dir "$dir" --format xargs >study.args &&
        RELA_FAULT=$2 xargs -n 1 -P 2 "$RELA" study run s.yml --dir "$dir" --job <study.args ;;
    esac >>log 2>&1
}

i=0
dir=w0
while [ "$i" -lt "$stops" ]; do
    n_checks=$((n_checks + 1))
    random 5
    engine=$(echo one two next make xargs | cut -d ' ' -f $((number + 1)))
    random 4
    how=$number
    random 120
    case $how in
    0) once "$engine" "signal9:$((number + 5))" || true ;;   # killed at a file call: claims, results, saves
    1) once "$engine" "signal15:$((number + 20))" || true ;; # so are its jobs
    *)
        "$RELA" study run s.yml --dir "$dir" --jobs $((how - 1)) >>log 2>&1 &
        pid=$!
        sleep "0.$(printf '%03d' $((number * 8)))"
        kill -s "$(echo KILL TERM USR1 INT | cut -d ' ' -f $((number % 4 + 1)))" "$pid" 2>/dev/null || true
        wait "$pid" || true
        ;;
    esac
    i=$((i + 1))
    if [ $((i % 2)) -eq 0 ]; then # to another folder
        mkdir "w$i"
        mv "$dir" "w$i/here"
        dir=w$i/here
    fi
    [ "$(cat "$dir"/jobs/*/claim 2>/dev/null | wc -c)" -eq 0 ] || echo "$i: a claim is left" >>log
done
study run s.yml --dir "$dir" --jobs 2
[ "$code" -eq 0 ] || fail "the last run: exit code $code: $(cat err) $(tail -n 30 log)"
study verify s.yml --dir "$dir"
[ "$code" -eq 0 ] || fail "verify: $(cat out err)"
same_results reference/results "$dir/results"
find "$dir" -name claim -o -name work | grep . && fail "left behind (above)"
for model in reference/jobs/*/out/model.rela; do
    cmp "$model" "$dir/${model#reference/}" || fail "another model"
done
finish
