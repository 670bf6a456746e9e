#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bleu_speed.py RELA TEXT [LINES]: time of corpus BLEU and chrF beside sacrebleu.

Run it with a Python that has sacrebleu. TEXT is any text file, plain or gzip; its lines are repeated
until there are LINES of them (100,000). The translation to be scored is made from them by dropping,
doubling and lower-casing words. Prints one JSON line per tool and metric: best wall time of three
runs, reading included (sacrebleu: one run).
"""
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time


def read(path, n):
    with open(path, "rb") as f:
        is_gzip = f.read(2) == b"\x1f\x8b"
    with (gzip.open if is_gzip else open)(path, "rt", encoding="utf-8", newline="\n") as f:
        lines = [line.rstrip("\n") for line in f][:n]
    return (lines * (n // len(lines) + 1))[:n]


def spoil(rng, line):
    out = []
    for word in line.split():
        x = rng.random()
        if x < 0.1:
            continue
        out.append(word.lower() if x < 0.2 else word)
        if x > 0.95:
            out.append(word)
    return " ".join(out)


def best(command, runs):
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds.append(time.perf_counter() - start)
    return min(seconds), float(done.stdout.split()[0])


def main():
    rela, text = sys.argv[1:3]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 100000
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        ref, hyp = os.path.join(scratch, "ref"), os.path.join(scratch, "hyp")
        lines = read(text, n)
        with open(ref, "w", encoding="utf-8") as f:
            f.write("".join(line + "\n" for line in lines))
        with open(hyp, "w", encoding="utf-8") as f:
            f.write("".join(spoil(rng, line) + "\n" for line in lines))
        for metric in ("bleu", "chrf"):
            tools = [
                ("rela", [rela, metric, "-b", "-w", "12", "-i", hyp, ref, "--quiet"], 3),
                ("rela, 1 thread", [rela, metric, "-b", "-w", "12", "-i", hyp, ref, "-t", "1", "--quiet"], 3),
                ("sacrebleu", [sys.executable, "-m", "sacrebleu", ref, "-i", hyp, "-m", metric,
                               "-b", "-w", "12"], 1),
            ]
            for tool, command, runs in tools:
                seconds, score = best(command, runs)
                print(json.dumps({"bench": metric, "tool": tool, "lines": n,
                                  "seconds": round(seconds, 3), "score": score}), flush=True)


if __name__ == "__main__":
    main()
