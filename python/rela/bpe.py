# SPDX-License-Identifier: MIT
"""Byte pair encoding with the same codes and subwords as subword-nmt.

    codes = rela.bpe.learn(["the old house", "the small house"], merges=100)
    rela.bpe.apply(codes, "the houses")          # "the house@@ s"
    rela.bpe.restore("the house@@ s")            # "the houses"
    codes.save("codes"); codes = rela.bpe.load("codes")
"""
from __future__ import annotations

import os
import threading
from ctypes import byref
from typing import Any, Sequence, Union

from . import _structs as structs
from ._library import Caught, Handle, appended, call, lib, options, set_options
from .text import Lines, each, strings

Path = Union[str, "os.PathLike[str]"]


class Codes:
    """BPE merges in the order in which they were learned. Threads may share an object; their calls are
    serialised. ``text`` is the content of the codes file."""

    def __init__(self, text: str, name: str = "codes", *, merges: int = -1, separator: str = "@@",
                 glossaries: Sequence[str] = (), dropout: float = 0.0, seed: int = 1) -> None:
        self.text, self.separator = text, separator
        coded = text.encode("utf-8", "replace")
        o = options(structs.BpeOptions)
        _alive = set_options(o, {"merges": merges, "separator": separator, "dropout": dropout, "seed": seed})
        o.glossaries, o.n_glossaries = strings(glossaries), len(glossaries)
        self._codes = Handle("rela_bpe_parse", "rela_bpe_free", os.fsencode(name), coded, len(coded), byref(o))
        self._scratch = Handle("rela_bpe_scratch_create", "rela_bpe_scratch_destroy", self._codes.value)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return lib.rela_bpe_n_merges(self._codes.value)

    def __del__(self) -> None:
        self._scratch = None  # before the codes, which it uses

    def apply(self, text: Lines, first_line: int = 0) -> Any:
        """Splits a line, or each line of a list, into subwords. first_line: position of the first line
        in its text, from 0; dropout depends on it."""
        numbers = iter(range(first_line + 1, 2**63))
        with self._lock:
            return each(text, lambda line: appended("rela_bpe_apply", None, self._scratch.value, line,
                                                    len(line), next(numbers)))

    def save(self, path: Path) -> None:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(self.text)


def learn(text: Path | Sequence[str], merges: int = 10000, *, min_frequency: int = 2,
          total_symbols: bool = False, threads: int = 0) -> Codes:
    """Learns merges from the space-separated words of a file (a path) or of a list of lines."""
    counts = Handle("rela_word_counts_create", "rela_word_counts_destroy")
    if isinstance(text, (str, os.PathLike)):
        call("rela_word_counts_add_file", counts.value, os.fsencode(text), threads)
    else:
        coded = "".join(line + "\n" for line in text).encode("utf-8", "replace")
        call("rela_word_counts_add_text", counts.value, coded, len(coded))
    o = options(structs.BpeLearnOptions)
    set_options(o, {"n_symbols": merges, "min_frequency": min_frequency, "total_symbols": int(total_symbols)})
    return Codes(_learn(counts, o))


def load(path: Path, **settings: Any) -> Codes:
    """Loads a codes file of ``rela bpe learn`` or subword-nmt. settings are those of Codes: merges (use
    only the first N), separator, glossaries (regular expressions of words to keep whole), dropout, seed."""
    with open(path, encoding="utf-8", newline="\n") as file:
        return Codes(file.read(), os.fspath(path), **settings)


def apply(codes: Codes | Path, text: Lines) -> Any:
    """Splits a line, or each line of a list, into subwords. codes may be the path of a codes file."""
    return (codes if isinstance(codes, Codes) else load(codes)).apply(text)


def restore(text: Lines, separator: str = "@@") -> Any:
    """Joins the subwords of a line, or of each line of a list, back into words."""
    mark = separator.encode("utf-8", "replace")
    return each(text, lambda line: appended("rela_bpe_undo", None, mark, line, len(line)))


def _learn(counts: Handle, o: Any) -> str:
    caught = Caught()
    o.progress = structs.LEARN_PROGRESS(lambda *_: caught.run(lambda: None))  # lets Control-C through
    try:
        return appended("rela_bpe_learn", None, 0, counts.value, byref(o))
    finally:
        if caught.exception is not None:
            raise caught.exception
