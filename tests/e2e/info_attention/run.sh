# SPDX-License-Identifier: MIT
# rela info --attention lists every kind once, with a line about it, for people and as JSON.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

accepts info --attention
grep -v '^ ' lib.out >list # indented: the numbers of a kind
grep -qF ':alpha=X  near 1 softmax, 2 sparsemax [1.01..4; default 1.5]' lib.out || fail "no numbers of entmax"
for kind in softmax sparsemax entmax15 entmax entmax-learned relu relu-rms rela-i rela-g rela-g-ln \
    gelu-g leaky-g relu2-g rela-t topk fusedmax local strided linear performer performer-relu current previous next \
    left right start end reluformer rela-tl softmax-n softmax-zero; do
    [ "$(grep -c "^$kind  *[^ ]" list)" -eq 1 ] || fail "$kind is not listed once"
    grep -qF "\`$kind\`" "$RELA_SOURCE/docs/attention.md" || fail "docs/attention.md lacks $kind"
done
awk '{ print $1 }' list | sort | uniq -d >twice
[ ! -s twice ] || fail "listed twice: $(cat twice)"
accepts info --attention --json
[ "$(grep -c '"name": ' lib.out)" -eq "$(wc -l <list)" ] || fail "JSON lists another number"
refuses 2 "--attention goes without a model file" info --attention model.rela
finish
