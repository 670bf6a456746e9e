# SPDX-License-Identifier: MIT
# Functions of the cases with jobs: after lib.sh and ranks/lib.sh.
# shellcheck disable=SC2086,SC2046,SC2034,SC2154 # lists of options are split; variables of one file are used in the other
model=run/model.rela
jobs='translate score align filter analyse'

# A model that maps words to themselves, another one, text in which something is wrong here and there, and what commands want beside it.
make_jobs() {
    make_text
    train='train --quiet --preset demo --merges 20 --width 32 --heads 2 --ffn 48 --batch-tokens 256 --lr 0.01 --warmup 20
        --train-src text --train-tgt text'
    "$RELA" $train --updates 60 --valid-src valid --valid-tgt valid --out run
    "$RELA" $train --updates 5 --out small
    cp small/model.rela run/other.rela
    head -n 300 text | sed '7s/$/ ?/; 20s/.*//; 31s/.*/w1 w2/; 33s/.*/w1 w2/' >in # an unknown word, an empty line, twice the same
    sed '9s/.*/w3 w4 w5 w6 w7/; 11s/^[^ ]*/W/; 50s/.*//; 120s/^/w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 /' in >in.2
    "$RELA" align $model in in.2 --quiet >links
    head -n 40 links >gold
    sed 's/w[0-9]*[02468]/A/g; s/w[0-9]*/B/g; s/[^AB ]*/C/g' in.2 >tags
}

# command_of JOB OPTION...: its command line; what it writes goes below out, or to standard output.
command_of() {
    job=$1
    shift
    case $job in
    translate) echo translate $model -i in --read-bytes 300 "$@" ;;
    score) echo score $model --src in --tgt in.2 --read-bytes 500 "$@" ;;
    align) echo align $model in in.2 "$@" ;;
    filter) echo filter $model --src in --tgt in.2 --out-src out/src --out-tgt out/tgt.gz --scores out/scores --max-overlap 1 --keep-copies "$@" ;;
    analyse) echo analyse $model --src in --tgt in.2 --out out "$@" ;;
    esac
}

# run_job RANKS JOB OPTION...
run_job() {
    n_ranks=$1
    shift
    mkdir -p out
    ranks $n_ranks $(command_of "$@")
}

# writes RANKS PLACE JOB OPTION...: runs a job; all that it writes, its messages too, is in PLACE then.
writes() {
    rm -rf out "$2"
    where=$2
    run_job "$1" "$3" $4 >report 2>messages || { fail "$1 ranks: $3 $4: $(cat messages)"; return 0; }
    mkdir -p out
    mv report messages out
    mv out "$where"
}

# as_one NUMBERS JOB OPTION...: on so many ranks, like "2 3".
as_one() {
    numbers=$1 name=$2
    shift 2
    case $name in translate | score | align) case "$*" in *--json*) set -- "$@" -o out/text ;; esac ;; esac
    writes 1 one $name "$*"
    for n in $numbers; do
        n_checks=$((n_checks + 1))
        writes $n many $name "$*"
        diff -r one many >difference || fail "$n ranks: $name $*: $(head -c 1000 difference)"
    done
}

draw() { # a number below N; the generator of Park and Miller, so that a failure can be repeated
    seed=$((seed * 48271 % 2147483647))
    drawn=$((seed / 7 % $1))
}

# stop_and_resume JOB TIMES: each time it is ended twice at some file call, and goes on until it is done, on any number of ranks.
stop_and_resume() {
    writes 1 one $1 -q
    find_calls $1
    time=0
    while [ $time -lt "$2" ]; do
        time=$((time + 1))
        n_checks=$((n_checks + 1))
        rm -rf out record
        story=
        for stop in 1 2; do
            draw 2 && signal=$((9 + 6 * drawn))
            draw 3 && n=$((drawn + 1))
            draw $((last - first)) && at=$((first + drawn))
            at_call signal$signal:$at run_job $n $1 -q --resume record >/dev/null 2>&1 || true
            story="$story $n ranks by signal $signal at file call $at;"
            [ $signal -eq 9 ] || [ -z "$(find . -name '*.tmp-*')" ] || fail "$1 after$story files are left"
            find . -name '*.tmp-*' -exec rm {} +
        done
        [ ! -e record ] || n_records=$((n_records + 1))
        draw 3 && n=$((drawn + 1))
        writes $n resumed $1 "-q --resume record"
        grep -v 'are there: going on' resumed/messages >quiet || true
        mv quiet resumed/messages
        diff -r one resumed >difference || fail "$1 ended:$story resumed by $n ranks: $(head -c 1000 difference)"
        [ ! -e record ] || fail "$1: the record is left"
    done
}
n_records=0

# at_call FAULT FUNCTION...: with this setting of RELA_FAULT.
at_call() {
    export RELA_FAULT="$1"
    shift
    code=0
    "$@" || code=$?
    unset RELA_FAULT
    return $code
}

# find_calls JOB: the first file call after which it has a record, and the last of all; both about.
find_calls() {
    low=1 high=1024 step=16
    while [ $((high - low)) -gt $step ]; do
        last=$(((low + high) / 2))
        try_call $1
        if [ $ended -eq 0 ]; then high=$last; else low=$last; fi
    done
    calls=$high high=$low low=1
    while [ $((high - low)) -gt $step ]; do
        last=$(((low + high) / 2))
        try_call $1
        if [ $kept -eq 1 ]; then high=$last; else low=$last; fi
    done
    first=$high last=$calls
}
try_call() {
    ended=0 kept=0
    rm -rf record out
    at_call signal9:$last run_job 1 $1 -q --resume record >/dev/null 2>&1 || ended=1
    [ ! -e record ] || kept=1
    find . -name '*.tmp-*' -exec rm {} +
}
