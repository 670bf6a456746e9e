#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh MODULE...: installs the package into a scratch folder and runs its tests there. $RELA_PYTHON names
# the interpreter; without it the first one that has what is needed is used, python3 or else Debian's.
set -eu
needs="setuptools, pip, numpy" setup=test
case $* in *torch*) needs="$needs, torch" setup=torch ;; esac

usable() {
    "$1" -c "import $needs" 2>/dev/null
}

python=
for candidate in "${RELA_PYTHON:-python3}" "${RELA_PYTHON:-/usr/bin/python3}"; do
    [ -n "$python" ] || ! usable "$candidate" || python=$candidate
done
if [ -z "$python" ]; then
    echo "${RELA_PYTHON:-python3} cannot import $needs: 'tools/setup $setup' installs Debian's, RELA_PYTHON names another"
    exit 1
fi
"$python" -W ignore -c "import sys, $needs
print(sys.executable, sys.version.split()[0], *(f'{m.__name__} {m.__version__}' for m in ($needs)))"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
PATH=$(dirname "$RELA"):$PATH
export RELA_LIBRARY="$RELA_BUILD/librela.so" PATH
# pip as a user calls it, but without a network: what builds the package must be there already.
cp -r "$RELA_SOURCE/python" "$scratch/source"
"$python" -m pip install -q --no-deps --no-build-isolation --no-index --disable-pip-version-check \
    --root-user-action ignore --target "$scratch/site" "$scratch/source"
export PYTHONPATH="$scratch/site:$RELA_SOURCE/tests/python" PYTHONDONTWRITEBYTECODE=1
cd "$scratch"
case $* in *test_package* | *test_tools* | *test_objects*) "$RELA_SOURCE/tests/tiny_model" "$RELA" "$scratch" ;; esac
# The interpreter knows nothing of sanitizers: they must be there first. What it keeps to the end is
# no leak.
if [ -n "$RELA_SANITIZE" ]; then
    LD_PRELOAD=$(gcc -print-file-name=libasan.so) \
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 "$python" -m unittest "$@"
else
    "$python" -m unittest "$@"
fi
