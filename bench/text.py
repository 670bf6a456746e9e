#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed and memory of the text commands beside subword-nmt, Hugging Face tokenizers and sacremoses.

    bench/text.py --data DIR --python PYTHON [--rela PROGRAM] [--rounds N] [--threads N]

DIR holds europarl-deen/train.{de,en}.gz; PYTHON is an interpreter that has the three packages. Whole
processes are timed, from text file to text file, one after the other in turns; the fast ones several
times, of which the median counts. Processor time is shown beside it: its ratio says more on a busy
machine. Peak memory is that of the largest process of a program.
"""
import argparse
import filecmp
import gzip
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MERGES = 32000
MOSES_LINES = 50000


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--data", required=True)
    p.add_argument("--python", required=True)
    p.add_argument("--rela", default=os.path.join(HERE, "..", "build", "release", "rela"))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--threads", type=int, default=2)
    return p.parse_args()


def run(command, threads, stdin=None, stdout=None):
    """Seconds, seconds of processor time and peak megabytes of a command."""
    environment = dict(os.environ, RAYON_NUM_THREADS=str(threads), TOKENIZERS_PARALLELISM="true")
    with open(stdin or os.devnull, "rb") as i, open(stdout or os.devnull, "wb") as o:
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=i, stdout=o, stderr=subprocess.PIPE,
                                 env=environment)
        message = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)}: exit {child.returncode}: {message.decode()[-500:]}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(title, systems, rounds, threads):
    """systems: name, fast, command, stdin, stdout. The first is ours."""
    results = {name: [] for name, *_ in systems}
    for turn in range(rounds):
        for name, fast, command, stdin, stdout in systems:
            if fast or turn == 0:
                results[name].append(run(command, threads, stdin, stdout))
    ours = None
    print(f"\n{title}\n{'':24} {'seconds':>9} {'ratio':>8} {'processor':>9} {'ratio':>8}"
          f" {'peak MB':>8}  runs")
    for name, rows in results.items():
        wall, busy = (statistics.median(r[i] for r in rows) for i in (0, 1))
        ours = ours or (wall, busy)
        print(f"{name:24} {wall:9.2f} {wall / ours[0]:7.1f}x {busy:9.2f} {busy / ours[1]:7.1f}x"
              f" {max(r[2] for r in rows):8.0f}  {len(rows)}")
    sys.stdout.flush()


def same(a, b):
    print("identical" if filecmp.cmp(a, b, shallow=False) else "DIFFERENT", end="; ")


def main():
    a = parse_arguments()
    peers = [a.python, os.path.join(HERE, "peers", "text.py")]
    n = str(a.threads)
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)

        files = []
        with open(at("all"), "wb") as joint:
            for language in ("de", "en"):
                source = os.path.join(a.data, "europarl-deen", f"train.{language}.gz")
                with gzip.open(source) as f, open(at(language), "wb") as out:
                    shutil.copyfileobj(f, out)
                with open(at(language), "rb") as f:
                    shutil.copyfileobj(f, joint)
                files.append(at(language))
        subword = [a.python, "-m"]
        compare(f"learning {MERGES} merges, {n} threads", [
            ("rela bpe learn", True, [a.rela, "bpe", "learn", "-q", "-t", n, "-s", str(MERGES),
                                      at("all"), "-o", at("codes")], None, None),
            ("tokenizers", True, peers + ["train", str(MERGES), at("all"), at("hf.json")], None,
             None),
            ("subword-nmt", False, subword + ["subword_nmt.learn_bpe", "-s", str(MERGES), "-i",
                                              at("all"), "-o", at("codes.ref")], None, None),
            ("subword-nmt, workers", False, subword + ["subword_nmt.learn_bpe", "-s", str(MERGES),
             "--num-workers", n, "-i", at("all"), "-o", at("codes.workers")], None, None),
        ], a.rounds, a.threads)
        same(at("codes"), at("codes.ref"))
        print("codes of rela and subword-nmt")
        apply = ["subword_nmt.apply_bpe", "-c", at("codes.ref"), "-i", at("all")]
        compare(f"applying them, {n} threads", [
            ("rela bpe apply", True, [a.rela, "bpe", "apply", "-q", "-t", n, "-c", at("codes"),
                                      at("all")], None, at("bpe")),
            ("tokenizers", True, peers + ["encode", at("hf.json"), at("all"), at("bpe.hf")], None,
             None),
            ("subword-nmt", False, subword + apply + ["-o", at("bpe.ref")], None, None),
            ("subword-nmt, workers", False,
             subword + apply + ["--num-workers", n, "-o", at("bpe.workers")], None, None),
        ], a.rounds, a.threads)
        same(at("bpe"), at("bpe.ref"))
        print("segmentations of rela and subword-nmt")
        compare("counting tokens", [
            ("rela vocab", True, [a.rela, "vocab", "-q", "-t", n, at("bpe")], None, at("vocab")),
            ("subword-nmt get-vocab", False, subword + ["subword_nmt.get_vocab", "-i",
             at("bpe.ref"), "-o", at("vocab.ref")], None, None),
        ], a.rounds, a.threads)
        same(at("vocab"), at("vocab.ref"))
        print("counts of rela and subword-nmt")

        commands = subprocess.run([a.rela, "help", "commands"], capture_output=True, text=True)
        if "tokenise" not in commands.stdout.split("\n"):
            return
        with open(at("en"), "rb") as f, open(at("some"), "wb") as out:
            out.writelines(f.readline() for _ in range(MOSES_LINES))
        compare(f"tokenising {MOSES_LINES} lines of English, {n} threads", [
            ("rela tokenise", True, [a.rela, "tokenise", "-q", "-t", n, "-l", "en", at("some")],
             None, at("tok")),
            ("sacremoses", False, peers + ["tokenise", n, "en"], at("some"), at("tok.ref")),
        ], a.rounds, a.threads)


if __name__ == "__main__":
    main()
