#!/bin/sh
# SPDX-License-Identifier: MIT
# use.sh SOURCE PART...: uses an installed rela as its users do, in the current directory. Parts: program (a short training,
# a translation, an alignment; the first to run), c (a C program), python (a Python program). All must give the same
# translations. $RELA, $CC and $PYTHON name other commands than rela, cc and python3.
set -eu
source=$1
shift
rela=${RELA:-rela}
sentences=sentences.txt

use_program() {
    "$source/tests/tiny_model" "$rela" .
    head -n 3 corpus/test.src >$sentences
    "$rela" translate -q model.rela <$sentences >program.out
    [ "$(grep -c . program.out)" -eq 3 ]
    "$rela" align -q model.rela --src corpus/test.src --tgt corpus/test.tgt >links.out
    [ "$(grep -c '^[0-9]*-[0-9]' links.out)" -gt 0 ] && [ "$(wc -l <links.out)" -eq "$(wc -l <corpus/test.src)" ]
    echo "program: $("$rela" --version) translates and aligns"
}

# The example of the sources, and the alignment of docs/api.md; with the static library too, where there is one.
use_c() {
    awk '/^```c$/ { getline; wanted = $2 == "align.c" } /^```$/ { wanted = 0 } wanted' "$source/docs/api.md" >align.c
    cp "$source/examples/c/translate.c" .
    for program in translate align; do
        ${CC:-cc} -Wall -Werror $program.c $(pkg-config --cflags --libs rela) -o $program
    done
    ./translate model.rela <$sentences >c.out
    cmp program.out c.out
    ./align model.rela corpus/test.src corpus/test.tgt >c.links 2>/dev/null
    [ "$(wc -l <c.links)" -eq "$(wc -l <links.out)" ]
    archive=$(pkg-config --variable=libdir rela)/librela.a
    if [ -f "$archive" ]; then
        ${CC:-cc} $(pkg-config --cflags rela) translate.c "$archive" -Wl,--as-needed $(pkg-config --static --libs rela) -o static
        ./static model.rela <$sentences >static.out
        cmp program.out static.out
    fi
    echo "C: translates and aligns with $(ldd ./translate | sed -n 's/.*=> \(.*librela[^ ]*\).*/\1/p')"
}

use_python() {
    "${PYTHON:-python3}" - $sentences >python.out <<'END'
import sys
import rela
from rela import _library
model = rela.Translator("model.rela")
for line in open(sys.argv[1], encoding="utf-8"):
    found = model.translate(line.rstrip("\n"), attention=True)
    assert found.links, line
    print(found.text)
print("Python: translates and aligns with", _library.lib._name, file=sys.stderr)
END
    cmp program.out python.out
}

for part; do
    use_"$part"
done
