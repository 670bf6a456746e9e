#!/bin/sh
# SPDX-License-Identifier: MIT
# rela serve: the bytes of rela translate for 64 clients, hostile requests over sockets, a flood, slow
# clients, SIGTERM and SIGHUP, real clients if they are installed.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
here=$RELA_SOURCE/tests/e2e/serve
command -v python3 >/dev/null || { echo "skipped: no Python"; exit 0; }

"$RELA" corpus --quiet --size 600 --seed 3 --out corpus
"$RELA" train --quiet --preset demo --width 32 --ffn 64 --batch-tokens 512 --updates 60 --warmup 20 --lr 5e-3 \
    --save-every 60 --average 1 --threads 2 --train-src corpus/train.src --train-tgt corpus/train.tgt --out run \
    --merges 200 --max-length 100 --tokenise --src-lang en --tgt-lang de
M=run/model.rela

server=
stop_server() { # the exit code of the server becomes $code
    code=0
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" || code=$?
    server=
}
trap '[ -z "$server" ] || kill -KILL "$server" 2>/dev/null' EXIT
serve() { # OPTION...: $port is its port
    : >serve.err # of the server before
    "$RELA" serve "$@" --port 0 >serve.out 2>serve.err </dev/null &
    server=$!
    tries=200
    while [ $tries -gt 0 ] && ! grep -q 'serving' serve.err; do
        sleep 0.1
        tries=$((tries - 1))
    done
    port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' serve.err)
    [ -n "$port" ] || { cat serve.err; fail "the server does not start"; finish; }
}
client() {
    n_checks=$((n_checks + 1))
    python3 "$here/client.py" "$@" >client.out 2>&1 || fail "$*: $(cat client.out)"
    cat client.out
}

serve $M -t 2 --access-log access --metrics
head -n 200 corpus/test.src >in
"$RELA" translate -q $M <in >want
client same "$port" in want
client hostile "$port"
client slow "$port"
# The curl blocks of the page.
awk '/^```sh$/ { n++; inside = 1; next } /^```$/ { inside = 0 } inside { print > ("block." n) }' "$RELA_SOURCE/docs/serve.md"
for block in block.*; do
    grep -q '^curl' "$block" || continue
    command -v curl >/dev/null || { echo "partly skipped: no curl"; break; }
    n_checks=$((n_checks + 1))
    sed "s/:8080/:$port/; s/curl -s/curl -sf/" "$block" | sh -eu >block.out || fail "$block: $(cat "$block" block.out)"
    grep -q 'EE\|text' block.out || fail "$block: $(cat block.out)"
done
grep -q '"/translate" 200' access || fail "no access log"
! grep -q 'old man\|translatedText' access || fail "text in the access log: $(grep -m 1 'old man\|translatedText' access)"
kill -HUP "$server"
sleep 1
grep -q 'loading the models anew' serve.err || fail "no reload: $(cat serve.err)"
client same "$port" in want
kill -0 "$server" || fail "the server ended: $(tail -n 3 serve.err)"
stop_server
[ "$code" -eq 0 ] || fail "SIGTERM: exit code $code: $(tail -n 3 serve.err)"

serve $M -t 1 --queue-tokens 3000
client flood "$port"
client drain "$port" running &
waiting=$!
tries=100
while [ $tries -gt 0 ] && [ ! -e running ]; do
    sleep 0.1
    tries=$((tries - 1))
done
stop_server
wait $waiting || fail "drain"
[ "$code" -eq 0 ] || fail "SIGTERM under load: exit code $code: $(tail -n 3 serve.err)"

serve $M -t 1 --access-log /dev/full
client hostile "$port"
[ "$(grep -c 'access log has gaps' serve.err)" -eq 1 ] || fail "full disk: $(cat serve.err)"
"$RELA" serve $M --port "$port" >out 2>err && fail "two servers on a port"
grep -q 'address already in use' err || fail "two servers: $(cat err)"
stop_server

cp $M other.rela
serve $M $M other.rela -t 1
stop_server
[ "$(grep -c 'warning: more than one model is called model: by that name requests get the first' serve.err)" -eq 1 ] ||
    fail "two models of one name: $(cat serve.err)"

# Clients that people use, unmodified.
for name in libretranslatepy deep_translator deepl; do
    if python3 -c "import $name" 2>/dev/null; then
        [ -n "$server" ] || serve $M -t 2
        n_checks=$((n_checks + 1))
        python3 "$here/real_clients.py" $name "http://127.0.0.1:$port" || fail "$name"
    else
        echo "partly skipped: no $name"
    fi
done
[ -z "$server" ] || stop_server

refuses 1 "missing.rela: No such file" serve missing.rela --port 0 --quiet
refuses 2 "option --address: 'localhost' is not an address; expected numbers like 127.0.0.1 or ::1" serve $M --address localhost
refuses 2 "--deadline 20 is more than --max-deadline 10" serve $M --deadline 20 --max-deadline 10
printf 'key -5\n' >keys
refuses 3 "keys: line 1: expected a key and a number" serve $M --keys keys
finish
