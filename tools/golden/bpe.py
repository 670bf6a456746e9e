#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes tests/golden/bpe with subword-nmt: codes, segmentations and vocabularies.

    python tools/golden/bpe.py              writes the golden files
    python tools/golden/bpe.py --data DIR   prints the check sums of tests/e2e/bpe-data

The cases are repeated in tests/unit/test_bpe.c and tests/e2e/bpe-golden/run.sh.
"""
import argparse
import codecs
import contextlib
import gzip
import hashlib
import io
import os
import sys

sys.argv, arguments = sys.argv[:1], sys.argv[1:]
from subword_nmt import apply_bpe, get_vocab, learn_bpe  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "..", "..", "tests", "golden", "bpe")

# Invented sentences; the last ones hold what tends to go wrong.
CORPUS = [
    "The baker bakes bread before the bakery opens , and the butter melts better .",
    "She sells seventy-seven shells near the lighthouse ; nobody buys the seventy-eighth .",
    "Lower , lowest , newer , newest , wider , widest : the longer the better .",
    "In 2019 we walked 1024 steps , in 2020 only 512 , in 2021 about 2048 .",
    "Die Donaudampfschiffe fahren langsamer als die Dampfschiffe der Elbe .",
    "Der größere Bäcker backt größere Brötchen , der größte backt die größten .",
    "Les élèves élevaient des chèvres près de l' église où naîtront les étés .",
    "Žluťoučký kůň příliš pěl ďábelské ódy , kůň pěl příliš .",
    "Маленькая мышка мылась мылом , мышка мыла маленькую миску .",
    "Море шумит , а корабли идут в море , и корабль за кораблём тонет в тумане .",
    "Η θάλασσα είναι ήσυχη και οι θάλασσες είναι μεγάλες .",
    "今日は 天気が いい ので 公園へ 行きます 。 今日も 公園で 遊びます 。",
    "这个 苹果 很 红 , 那个 苹果 很 绿 , 苹果树 下 有 苹果 。",
    "Cafe\u0301 and cafe\u0301s serve nai\u0308ve coffee ; the cafe\u0301 closes early .",
    "Party 🎉🎉🎉 with 👩‍👩‍👧 and 👍🏽👍🏽 , then 🎉 again 🎉🎉 !",
    "aaaa aaa aa a aaaaa baaab abaaba ababab abab ab ...... .... ...",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa abcabcabc bcabcabca cabcab",
    "non\u00a0breaking\u00a0blanks non\u00a0breaking blanks wide\u3000blank wide\u3000blanks",
    "tab\tinside tab\toutside back\\slash back\\slashes dot.* dot.* (x) (x) [y] [y]",
    "</w> x</w> </w>x w> /w> <w < <<>> literal</w> marks</w>",
    "line\u2028separator line\u2028separators next\u0085line next\u0085lines",
    "  two blanks before , two  between ,   three   here   and after  ",
    "",
    "   ",
    "z",
    "New York and Los Angeles , USA ; 1934USABUSA USA's USAUSA in-USA-based",
    "http://example.org/a?b=c http://example.org/a <tag> </tag> <tag>",
    "Schifffahrt Schifffahrtsgesellschaft Flussschifffahrt Bettuch Betttuch",
]

# name, merges, lowest frequency, subtract characters
LEARN = [
    ("default", 10000, 2, False),
    ("short", 60, 2, False),
    ("rare", 10000, 1, False),
    ("frequent", 10000, 6, False),
    ("total", 330, 2, True),
]

# name, codes, merges, separator, vocabulary threshold (None: no vocabulary), glossaries
APPLY = [
    ("default", "default", -1, "@@", None, []),
    ("merges", "rare", 100, "@@", None, []),
    ("separator", "short", -1, "\uffed", None, []),
    ("threshold", "rare", -1, "@@", 3, []),
    ("vocabulary", "default", -1, "@@", 0, []),
    ("glossary", "rare", -1, "@@", None, ["USA", "<[^>]*>", "[0-9]+", "(New|Los)(er)?"]),
    ("both", "default", -1, "@@", 4, ["USA", "a|b", "http.*", "z*"]),
    ("old", "old", -1, "@@", None, []),
    ("oldthreshold", "old", -1, "@@", 3, []),
]


def reader(text):
    """Lines end where they end for the command line of subword-nmt."""
    return codecs.getreader("utf-8")(io.BytesIO(text.encode()))


def learn(text, symbols, frequency, total, dictionary=False):
    out = io.StringIO()
    learn_bpe.tqdm = lambda iterator, *args, **kwargs: iterator
    with contextlib.redirect_stderr(io.StringIO()):
        learn_bpe.learn_bpe(reader(text), out, symbols, frequency, is_dict=dictionary,
                            total_symbols=total)
    return out.getvalue()


def apply(text, bpe):
    return "".join(bpe.process_line(line) for line in reader(text))


def vocab(text):
    out = io.StringIO()
    get_vocab.get_vocab(reader(text), out)
    return out.getvalue()


def old_codes(codes):
    """Codes of version 0.1, without a version line: the end mark is a symbol of its own."""
    seen, out = set(), []
    for line in codes.split("\n")[1:-1]:
        last = line.split(" ")[1]
        if last.endswith("</w>") and len(last) == 5 and last not in seen:
            seen.add(last)
            out.append(last[0] + " </w>")
        out.append(line)
    return "\n".join(out) + "\n"


def write(name, text):
    with open(os.path.join(OUT, name), "w", encoding="utf-8", newline="\n") as f:
        f.write(text)


def make_golden():
    os.makedirs(OUT, exist_ok=True)
    # Repeated with shifts, so that pairs reach frequencies worth merging.
    text = "\n".join(CORPUS + [s for s in CORPUS[::-1] if len(s) % 2] + CORPUS[3:12]) + "\n"
    write("corpus.txt", text)
    codes = {name: learn(text, *how) for name, *how in LEARN}
    codes["old"] = old_codes(codes["rare"])
    for name, lines in codes.items():
        write("codes-" + name, lines)
    # A vocabulary file of subword-nmt cannot hold words with line separators inside.
    segmented = apply(text, apply_bpe.BPE(reader(codes["default"])))
    pieces = "".join(line + "\n" for line in vocab(segmented).split("\n")
                     if line and not set(line) & set("\u2028\u0085"))
    write("vocab-pieces", pieces)
    write("vocab-words", vocab(text))
    write("codes-dictionary", learn(pieces, 200, 2, False, dictionary=True))
    for name, which, merges, separator, threshold, glossaries in APPLY:
        allowed = None
        if threshold is not None:
            allowed = apply_bpe.read_vocabulary(reader(pieces), threshold)
        bpe = apply_bpe.BPE(reader(codes[which]), merges, separator, allowed, glossaries)
        write("apply-" + name, apply(text, bpe))


def read(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as f:
        return f.read()


def check_sums(data):
    for name, files, symbols in [
        ("multi30k", ["multi30k/train.en.gz", "multi30k/train.de.gz"], 10000),
        ("europarl", ["europarl-deen/train.de.gz", "europarl-deen/train.en.gz"], 32000),
    ]:
        texts = [read(os.path.join(data, f)) for f in files]
        codes = learn("".join(texts), symbols, 2, False)
        rows = [("codes", codes)]
        for i, text in enumerate(texts):
            pieces = apply(text, apply_bpe.BPE(reader(codes)))
            counts = vocab(pieces)
            allowed = apply_bpe.read_vocabulary(reader(counts), 50)
            checked = apply(text, apply_bpe.BPE(reader(codes), vocab=allowed))
            rows += [(f"bpe{i}", pieces), (f"vocab{i}", counts), (f"checked{i}", checked)]
        for row, text in rows:
            print(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}.{row}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", metavar="DIR")
    options = parser.parse_args(arguments)
    check_sums(options.data) if options.data else make_golden()
