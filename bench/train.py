#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training beside PyTorch on the same batches: speed and memory, or the loss over the first updates.

    bench/train.py --peers DIR --data TOK_DIR --work DIR --python PYTHON [--build DIR] [--sizes tiny,base]
                   [--kinds softmax,rela-g] [--threads 2] [--rounds 3] [--curve UPDATES]

--peers is a folder with train_speed.py and nmt_torch.py, the PyTorch side; PYTHON an interpreter that has
torch. Rounds are taken in turn, each case in a process of its own, and medians of the rounds compared.
--curve writes the batches of so many updates and prints our loss on them, every hundred updates.
"""
import argparse
import json
import os
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

DUMP = """
import random, sys
import numpy
sys.path.insert(0, sys.argv[1])
import nmt_torch
from train_speed import pairs
data, work, tokens, updates, path = sys.argv[2], sys.argv[3], *map(int, sys.argv[4:6]), sys.argv[6]
rows = pairs(data, work, 10000)
rng = random.Random(1)
n = 0
with open(path, "wb") as f:
    while n < updates:
        for src, tgt in nmt_torch.batches(rows, tokens, rng):
            s, t = ([[i for i in r if i != nmt_torch.PAD] for r in x.tolist()] for x in (src, tgt))
            record = [len(s)]
            for a, b in zip(s, t):
                record += [len(a), len(b)]
            for r in s + t:
                record += r
            f.write(numpy.array(record, dtype=numpy.int32).tobytes())
            n += 1
            if n == updates:
                break
"""


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("peers", "data", "work", "python"):
        p.add_argument("--" + name, required=True)
    p.add_argument("--build", default=os.path.join(HERE, "..", "build", "release"))
    p.add_argument("--sizes", default="tiny,base")
    p.add_argument("--kinds", default="softmax,rela-g")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--curve", type=int)
    return p.parse_args()


def ours(a, program, *parameters):
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:a.threads]))
    command = ["taskset", "-c", cores, os.path.join(a.build, "bench", program), *map(str, parameters)]
    return [json.loads(line) for line in
            subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()]


def theirs(a, size, kind, updates):
    command = [a.python, os.path.join(a.peers, "train_speed.py"), a.data, a.work, "--sizes", size, "--threads",
               str(a.threads), "--kinds", kind, "--variants", "eager", "--updates", str(updates)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def dump(a, updates):
    path = os.path.join(a.work, f"batches.{updates}")
    if not os.path.exists(path):
        subprocess.run([a.python, "-c", DUMP, a.peers, a.data, a.work, "4096", str(updates), path], check=True)
    return path


def main():
    a = arguments()
    os.makedirs(a.work, exist_ok=True)
    if a.curve:
        for kind in a.kinds.split(","):
            for row in ours(a, "bench_curve", kind, a.threads, dump(a, a.curve)):
                print(json.dumps(row), flush=True)
        return
    print(f"{'':16} {'rela tok/s':>18} {'torch tok/s':>18} {'ratio':>6} {'share':>6} {'rela MB':>8}"
          f" {'torch MB':>8}")
    for size in a.sizes.split(","):
        updates = 8 if size == "tiny" else 3
        rows = {}
        for _ in range(a.rounds):
            for kind in a.kinds.split(","):
                rows.setdefault(kind, []).append(
                    (ours(a, "bench_step", size, kind, a.threads, updates, dump(a, 20))[0],
                     theirs(a, size, kind, updates)))
        for kind, turns in rows.items():
            def spread(side, key):
                x = [t[side][key] for t in turns]
                return statistics.median(x), f"({min(x):.0f}-{max(x):.0f})"
            (r, rs), (t, ts) = spread(0, "tok_s"), spread(1, "tokens_per_s")
            print(f"{size + ' ' + kind:16} {r:7.0f} {rs:>12} {t:7.0f} {ts:>12} {r / t:6.2f}"
                  f" {spread(0, 'share')[0]:6.3f} {max(x[0]['rss_mb'] for x in turns):8}"
                  f" {max(x[1]['rss_mb'] for x in turns):8}", flush=True)
        first = statistics.median(x[0]["tok_s"] for x in rows[a.kinds.split(",")[0]])
        for kind, turns in rows.items():
            print(f"{size}: {kind} over {a.kinds.split(',')[0]}:"
                  f" {statistics.median(x[0]['tok_s'] for x in turns) / first:.3f}")


if __name__ == "__main__":
    main()
