#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares rela with sacremoses on corpora: share of equal lines, differences by cause, time.

    bench/tokenise_diff.py PROGRAM FILE:LANGUAGE... [--lines N] [--show N] [--speed]

Each file (.gz or plain) goes through tokenise, detokenise, normalise, truecase learn and apply. Prints to the
screen only. Needs sacremoses 0.2.0.
"""
import argparse
import collections
import gzip
import os
import re
import subprocess
import tempfile
import time

from sacremoses import (MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer, MosesTruecaser)

CAUSES = [  # first that fits the input
    ("placeholder words of the reference in the text", re.compile(r"(?:DOT)+MULTI|THISISPROTECTED")),
    ("line breaks inside a line", re.compile("[\v\f\x85\u2028\u2029]")),
    ("control characters", re.compile(r"[\x00-\x1f\x7f]")),
    ("letters beyond the basic plane", re.compile("[\U00010000-\U0010ffff]")),
    ("marks of a script", re.compile("[\u0e31-\u0e4e\u0900-\u0dff\u1000-\u17ff]")),
    ("Czech decimal rule of the reference", re.compile(r"[0-9]+ [.,]\s*$")),
]


def cause(line):
    for name, pattern in CAUSES:
        if pattern.search(line):
            return name
    return "other"


def read(path, limit):
    with (gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")) as f:
        lines = f.read().decode("utf-8").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    return lines[:limit] if limit else lines


def run(program, arguments, lines):
    data = ("\n".join(lines) + "\n").encode("utf-8")
    start = time.perf_counter()
    out = subprocess.run([program, *arguments, "--quiet"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return out.decode("utf-8").split("\n")[:-1], time.perf_counter() - start


def reference(function, lines):
    start = time.perf_counter()
    out = [function(line) for line in lines]
    return out, time.perf_counter() - start


def report(name, lines, want, got, show, seconds=None):
    assert len(want) == len(got), "%s: %d lines, expected %d" % (name, len(got), len(want))
    groups = collections.defaultdict(list)
    for line, a, b in zip(lines, want, got):
        if a != b:
            groups[cause(line)].append((line, a, b))
    different = sum(len(x) for x in groups.values())
    note = "" if seconds is None else "; %.2f s against %.2f s" % seconds
    print("%-60s %9d lines, %8.4f %% equal%s" % (name, len(lines), 100 - 100 * different / max(1, len(lines)), note))
    for key, cases in sorted(groups.items(), key=lambda x: -len(x[1])):
        print("    %6d  %s" % (len(cases), key))
        for line, a, b in cases[:show]:
            print("            in        %s\n            reference %s\n            rela      %s" % (line, a, b))


def compare(program, path, language, options):
    lines = read(path, options.lines)
    name = "/".join(path.split("/")[-2:])
    tokeniser, detokeniser = MosesTokenizer(language), MosesDetokenizer(language)
    normaliser = MosesPunctNormalizer(language)

    want, slow = reference(lambda s: " ".join(tokeniser.tokenize(s)), lines)
    tokens, fast = run(program, ["tokenise", "-l", language], lines)
    report("tokenise " + name, lines, want, tokens, options.show, (fast, slow))
    if options.speed:
        return
    want, _ = reference(lambda s: detokeniser.detokenize(s.split()), tokens)
    back, _ = run(program, ["detokenise", "-l", language], tokens)
    report("detokenise " + name, tokens, want, back, options.show)
    bare = sum("".join(a.split()) == "".join(b.split()) for a, b in zip(lines, back))
    blanks = sum(" ".join(a.split()) == " ".join(b.split()) for a, b in zip(lines, back))
    print("%-60s %8.4f %% equal up to blanks, %8.4f %% with the blanks" %
          ("there and back " + name, 100 * bare / len(lines), 100 * blanks / len(lines)))
    want, _ = reference(normaliser.normalize, lines)
    got, _ = run(program, ["normalise", "-l", language], lines)
    report("normalise " + name, lines, want, got, options.show)

    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        truecaser = MosesTruecaser()
        truecaser.train([s.split() for s in tokens], save_to=model)
        learnt, _ = run(program, ["truecase", "learn"], tokens)
        want = read(model, 0)
        print("%-60s %s" % ("truecase learn " + name, "equal" if want == learnt else "DIFFERENT"))
        truecaser = MosesTruecaser(model)
        want, _ = reference(lambda s: truecaser.truecase(s, return_str=True, use_known=True), tokens)
        got, _ = run(program, ["truecase", "-m", model], tokens)
        report("truecase " + name, tokens, want, got, options.show)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("files", nargs="+", metavar="FILE:LANGUAGE")
    parser.add_argument("--lines", type=int, default=0, help="use the first N lines")
    parser.add_argument("--show", type=int, default=0, help="show N differences per cause")
    parser.add_argument("--speed", action="store_true", help="only tokenise")
    options = parser.parse_args()
    for item in options.files:
        path, language = item.rsplit(":", 1)
        compare(options.program, path, language, options)


if __name__ == "__main__":
    main()
