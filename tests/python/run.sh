#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [MODULE]: installs the package into a scratch folder and runs its tests there. $RELA_PYTHON is the interpreter.
set -eu
python=${RELA_PYTHON:-python3}
module=${1:-test_package}
command -v "$python" >/dev/null || { echo "skipped: no python" && exit 0; }
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: no numpy" && exit 0; }
[ "$module" != test_torch ] || "$python" -c 'import torch' 2>/dev/null || { echo "skipped: no torch" && exit 0; }
# PyTorch does not stand being watched.
[ "$module" != test_torch ] || [ -z "$RELA_SANITIZE" ] || { echo "skipped: no torch under sanitizers" && exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
export RELA_LIBRARY="$RELA_BUILD/librela.so"
# pip as a user calls it, but without a network: what builds the package must be there already.
cp -r "$RELA_SOURCE/python" "$scratch/source"
if "$python" -m pip install -q --no-deps --no-build-isolation --no-index --disable-pip-version-check \
    --root-user-action ignore --target "$scratch/site" "$scratch/source" 2>"$scratch/pip"; then
    echo "installed with pip"
else
    echo "not installed, pip cannot build here: $(tail -n 1 "$scratch/pip")"
    cp -r "$RELA_SOURCE/python" "$scratch/site"
fi
export PYTHONPATH="$scratch/site:$RELA_SOURCE/tests/python" PYTHONDONTWRITEBYTECODE=1
cd "$scratch"
[ "$module" = test_torch ] || "$RELA_SOURCE/tests/tiny_model" "$RELA" "$scratch"
# The interpreter knows nothing of sanitizers: they must be there first. What it keeps to the end is
# no leak.
if [ -n "$RELA_SANITIZE" ]; then
    LD_PRELOAD=$(gcc -print-file-name=libasan.so) RELA_NO_TORCH=1 \
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 "$python" -m unittest "$module"
else
    "$python" -m unittest "$module"
fi
