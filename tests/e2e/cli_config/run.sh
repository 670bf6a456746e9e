# SPDX-License-Identifier: MIT
# Configuration files: what is wrong is named with its line.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

# config CODE MESSAGE TEXT: the text as a configuration of `rela info`; code 0 accepts it.
config() {
    printf -- "$3" >c.yml
    if [ "$1" -eq 0 ]; then accepts info --config c.yml; else refuses "$1" "$2" info --config c.yml; fi
}

config 0 '' ''
config 0 '' '# only a comment\n'
config 0 '' '---\nthreads: 3\n...\n'
config 0 '' 'threads: 3 # comment\nquiet: true\njson: false\n'
config 0 '' '{threads: 3, "quiet": "true"}\n'
config 0 '' '\357\273\277threads: 3\n'
config 0 '' 'threads: 3\r\nseed: 5\r\n'
config 2 "c.yml: line 2: unknown key 'bogus'" 'threads: 1\nbogus: 2\n'
config 2 "c.yml: line 1: unknown key 'thread'; did you mean 'threads'?" 'thread: 1\n'
config 2 "c.yml: line 3: key 'threads' is given twice" 'threads: 1\nseed: 2\nthreads: 1\n'
config 2 "c.yml: line 1: option --threads: 'many' is not a whole number" 'threads: many\n'
config 2 "c.yml: line 1: option --threads: '' is not a whole number" 'threads:\n'
config 2 "c.yml: line 1: option --threads: 300 is out of range; expected 0..256" 'threads: 300\n'
config 2 "c.yml: line 1: option --threads: '.nan' is not a whole number" 'threads: .nan\n'
config 2 "c.yml: line 1: option --quiet: 'yes' is not true or false" 'quiet: yes\n'
config 2 "c.yml: line 1: option --log: the name is empty" 'log: ""\n'
config 2 "c.yml: line 1: the key does not take a list" 'threads: [1, 2]\n'
config 2 "c.yml: line 2: expected a value or a list" 'threads:\n  more: 1\n'
config 2 "c.yml: line 1: expected 'key: value' lines" 'threads\n'
config 2 "c.yml: line 1: expected 'key: value' lines" '[threads, 1]\n'
config 2 "c.yml: line 1: expected a key" '? [a, b]\n: 1\n'
config 2 "c.yml: line 1: NUL byte in a key" '"threads\\0": 1\n'
config 2 "c.yml: line 1: NUL byte in a value" 'log: "a\\0b"\n'
config 2 "c.yml: line 2: expected the end of the file" 'threads: 1\n---\nseed: 2\n'
config 2 "c.yml: line 1: key 'config' belongs on the command line" 'config: other.yml\n'
config 2 "c.yml: line 1: key 'help' belongs on the command line" 'help: true\n'
config 2 "c.yml: line " 'threads: "1\n'
config 2 "c.yml: line " 'threads: 1\n\tseed: 2\n'
config 2 "c.yml: line " '{threads: 1\n'
config 2 "c.yml: line " '\377\376\001'
config 2 "c.yml: line " 'a: *b\n'
config 2 "c.yml: line " '\000'

# Deep nesting ends in a message, not in a crash.
awk 'BEGIN { printf "threads: "; for (i = 0; i < 100000; i++) printf "["; print "" }' >c.yml
refuses 2 "c.yml: line 1: the key does not take a list" info --config c.yml
# Large files are refused before they are parsed.
awk 'BEGIN { for (i = 0; i < 300000; i++) print "# a line of sixteen" }' >c.yml
refuses 3 "c.yml: more than 4194304 bytes" info --config c.yml

# The command line wins; the file may be compressed or come from standard input.
# info OPTION...: without the free memory, which changes from moment to moment.
info() {
    rela info "$@" | sed 's/"memory_free": [0-9]*/"memory_free": N/'
}
printf 'threads: 3\njson: true\n' >c.yml
[ "$(info --config c.yml --threads 2)" = "$(info --threads 2 --json)" ] || fail "the command line does not win"
gzip -c c.yml >c.gz
[ "$(info --config c.gz)" = "$(info --threads 3 --json)" ] || fail "c.gz"
[ "$(info --config - <c.yml)" = "$(info --threads 3 --json)" ] || fail "stdin"
printf 'threads: nonsense\n' >c.yml
accepts info --config c.yml --threads 2
finish
