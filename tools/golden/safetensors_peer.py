#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""safetensors_peer.py BUILD_DIR [FILES]: our container code against the reference package.

1. Random files are written by the reference, copied by our reader and writer, and read by the
   reference again: names, types, shapes, bytes and texts must be equal, and where the reference has
   one way to write a file (at most one text) the bytes too.
2. The same files are damaged at random. Whatever we accept the reference must accept with the same
   contents. What only we refuse is listed with our reasons: it must be one of our documented limits.

Needs: safetensors, numpy; librela.a in BUILD_DIR, a C compiler. Not part of the tests.
"""
import collections
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import numpy
import safetensors
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

DTYPES = ["float32", "float64", "int8", "int32", "int64", "uint8"]
LETTERS = "abcxyz.019_-/ \\\"\u00e9\u4e2d\U0001f600\n\t\x01\x7f"
# Where we are stricter on purpose; see docs/formats.md.
LIMITS = ["dtype '", "a tensor without a name", "a tensor name", "unknown key", "appears twice",
          "more than 8 dimensions", "not a model file"]


def random_text(rng, least, most):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(least, most)))


def random_file(rng):
    tensors = {}
    for _ in range(rng.randint(0, 12)):
        shape = [rng.choice([0, 1, 1, 2, 3, 5]) for _ in range(rng.randint(0, 5))]
        dtype = rng.choice(DTYPES)
        n = int(numpy.prod(shape))
        data = rng.randbytes(n * numpy.dtype(dtype).itemsize)
        name = random_text(rng, 1, 20)
        if name != "__metadata__":
            tensors[name] = numpy.frombuffer(data, dtype=dtype).reshape(shape)
    texts = {random_text(rng, 0, 8): random_text(rng, 0, 40) for _ in range(rng.choice([0, 0, 1, 4]))}
    return save(tensors, texts or None), texts


def read(path):
    with safe_open(path, framework="numpy") as f:
        tensors = {name: f.get_tensor(name) for name in f.keys()}
        return ({name: (str(t.dtype), t.shape, t.tobytes()) for name, t in tensors.items()},
                f.metadata() or {})


def damage(rng, data):
    length = struct.unpack("<Q", data[:8])[0]
    data = bytearray(data)
    for _ in range(rng.randint(1, 2)):
        kind = rng.randint(0, 5) if len(data) > 8 else 5
        at = rng.randrange(8, max(9, min(len(data), 8 + length)))
        if kind == 0:
            data[at] ^= 1 << rng.randint(0, 7)
        elif kind == 1:
            data[at] = rng.choice(b'{}[],:"0123456789eE-+. \\')
        elif kind == 2:
            data.insert(at, rng.choice(b'{}[],:"0123456789eE-+. \n'))
            data[:8] = struct.pack("<Q", struct.unpack("<Q", data[:8])[0] + 1)
        elif kind == 3:
            del data[at]
            data[:8] = struct.pack("<Q", max(0, struct.unpack("<Q", data[:8])[0] - 1))
        elif kind == 4:
            del data[rng.randrange(len(data)):]
            data = data if len(data) >= 8 else bytearray(8)
        else:
            data += rng.randbytes(rng.randint(1, 9))
    return bytes(data)


def build(build_dir, work):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = os.path.join(work, "copy")
    subprocess.run(["cc", "-std=c11", "-O1", "-D_GNU_SOURCE", "-fopenmp", "-I", f"{root}/src", "-I",
                    f"{root}/include", "-o", program, f"{root}/tools/golden/safetensors_copy.c",
                    os.path.join(build_dir, "librela.a"), "-lz", "-lzstd", "-lxxhash", "-lm"],
                   check=True)
    return subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def main():
    build_dir, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rng = random.Random(1)
    counts, reasons = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as work:
        ours = build(build_dir, work)
        a, b = os.path.join(work, "a"), os.path.join(work, "b")

        def copy(data):
            with open(a, "wb") as f:
                f.write(data)
            ours.stdin.write(f"{a}\t{b}\n".encode())
            ours.stdin.flush()
            return ours.stdout.readline().decode("utf-8", "replace").strip()

        for _ in range(n):
            data, texts = random_file(rng)
            said = copy(data)
            assert said == "ok", said
            assert read(a) == read(b), "contents differ"
            counts["copied, equal contents"] += 1
            if len(texts) <= 1:
                with open(b, "rb") as f:
                    assert f.read() == data, "bytes differ"
                counts["copied, equal bytes"] += 1
        for _ in range(n * 10):
            data = damage(rng, random_file(rng)[0])
            said = copy(data)
            try:
                theirs = read(a)
            except (SafetensorError, TypeError, AttributeError) as e:
                theirs = None
                assert said != "ok", f"we accept what the reference refuses: {e} {data!r}"
            if said == "ok":
                assert read(b) == theirs, "contents differ"
            counts["damaged: " + ("both accept" if said == "ok" else
                                  "both refuse" if theirs is None else "only we refuse")] += 1
            if said != "ok" and theirs is not None:
                reason = re.sub(r"'[^']*'|\d+", "#", said.split("header: ")[-1])
                reasons[reason] += 1
                assert any(x in said for x in LIMITS), f"no limit of ours: {said} {data!r}"
        ours.stdin.close()
    print(f"safetensors {safetensors.__version__}")
    for what, k in sorted(counts.items()):
        print(f"{k:7d} {what}")
    for what, k in reasons.most_common():
        print(f"{k:7d}   only ours: {what}")


if __name__ == "__main__":
    main()
