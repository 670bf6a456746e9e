#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How well rela finds the ends of sentences: precision, recall and F1 by corpus and language.

    bench/split.py PROGRAM [DATA] [--part train|dev|test] [--lines N] [--limit N] [--peer] [--show N]

Joins consecutive lines of the corpora in DATA ($RELA_DATA) to paragraphs of --lines lines, splits the paragraphs, and
compares where sentences end with where lines ended. Lines that hold several sentences, or that end without an end mark,
count as errors of every splitter. --peer does the same with sentence-splitter 1.4 (the rules of Moses); --show prints
the first errors. Prints to the screen only.
"""
import argparse
import gzip
import os
import subprocess
import time

FILES = [  # name, languages, part: file without its language
    ("multi30k", "en de fr cs", {"train": "multi30k/train.{}.gz", "dev": "multi30k/val.{}.gz",
                                 "test": "multi30k/test_2016_flickr.{}.gz"}),
    ("tatoeba", "en de", {p: f"tatoeba-ende/{p}.{{}}.gz" for p in ("train", "dev", "test")}),
    ("europarl", "en de", {"train": "europarl-deen/train.{}.gz", "dev": "europarl-deen/mt-dev.{}.gz",
                           "test": "europarl-deen/mt-test.{}.gz"}),
    ("europarl", "fr", {"train": "europarl-enfr/train.{}.gz", "dev": "europarl-enfr/mt-dev.{}.gz",
                        "test": "europarl-enfr/mt-test.{}.gz"}),
    ("pud", "en de", {"test": "pos-pud/{}.txt"}),
]


def read(path, limit):
    with (gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")) as f:
        lines = [" ".join(line.split()) for line in f]
    return [line for line in lines if line][:limit]


def ends(sentences):
    """Where sentences end: characters before, blanks not counted. The end of the paragraph is none."""
    places, n = set(), 0
    for s in sentences:
        n += len("".join(s.split()))
        places.add(n)
    places.discard(n)
    return places


def split_rela(program, language, paragraphs):
    out = subprocess.run([program, "split", "--quiet", "--paragraphs", "--language", language], check=True,
                         input=("\n".join(paragraphs) + "\n").encode(), stdout=subprocess.PIPE).stdout.decode()
    return [block.split("\n") for block in out.split("\n\n")[:-1]]


def split_peer(_program, language, paragraphs):
    from sentence_splitter import SentenceSplitter
    splitter = SentenceSplitter(language=language)
    return [splitter.split(p) for p in paragraphs]


def measure(split, args, language, groups):
    start = time.perf_counter()
    found = split(args.program, language, [" ".join(g) for g in groups])
    seconds = time.perf_counter() - start
    assert len(found) == len(groups), (len(found), len(groups))
    right = wrong = missed = 0
    for group, sentences in zip(groups, found):
        want, got = ends(group), ends(sentences)
        right, wrong, missed = right + len(want & got), wrong + len(got - want), missed + len(want - got)
        if args.show and want != got:
            show(args, "".join("".join(group).split()), want, got)
    precision, recall = right / max(right + wrong, 1), right / max(right + missed, 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9), seconds


def show(args, text, want, got):
    for sign, places in (("+", got - want), ("-", want - got)):
        for p in sorted(places):
            if args.show > 0:
                print(f"  {sign} {text[max(p - 30, 0):p]} | {text[p:p + 20]}")
                args.show -= 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data", nargs="?", default=os.environ.get("RELA_DATA"))
    parser.add_argument("--part", default="test", choices=["train", "dev", "test"])
    parser.add_argument("--lines", type=int, default=5)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--show", type=int, default=0)
    args = parser.parse_args()
    if not args.data:
        parser.error("no corpora: give DATA or set RELA_DATA")
    systems = [("rela", split_rela)] + [("moses", split_peer)] * args.peer
    print("corpus\tlanguage\tsystem\tprecision\trecall\tF1\tseconds")
    for name, languages, parts in FILES:
        for language in languages.split() if args.part in parts else ():
            lines = read(os.path.join(args.data, parts[args.part].format(language)), args.limit)
            groups = [lines[i:i + args.lines] for i in range(0, len(lines), args.lines)]
            for system, split in systems:
                p, r, f, seconds = measure(split, args, language, groups)
                print(f"{name}\t{language}\t{system}\t{100 * p:.2f}\t{100 * r:.2f}\t{100 * f:.2f}\t{seconds:.2f}")


if __name__ == "__main__":
    main()
