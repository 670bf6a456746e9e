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
from functools import partial
from typing import Any, Iterable, Sequence, Union, overload

from . import _structs as structs
from ._library import Caught, Handle, appended, lib, options, set_options, share
from .text import Lines, each, strings
from .vocab import word_counts

Path = Union[str, "os.PathLike[str]"]


class Codes:
    """BPE merges in the order in which they were learned. Threads may share an object; their calls are
    serialised. ``text`` is the content of the codes file."""

    def __init__(self, text: str, name: str = "codes", *, merges: int = -1, separator: str = "@@",
                 glossaries: Sequence[str] = (), dropout: float = 0.0, seed: int = 1) -> None:
        self.text, self.separator = text, separator
        self._settings = {"merges": merges, "separator": separator, "glossaries": tuple(glossaries),
                          "dropout": dropout, "seed": seed}
        coded = text.encode("utf-8", "replace")
        o = options(structs.BpeOptions)
        _alive = set_options(o, {"merges": merges, "separator": separator, "dropout": dropout, "seed": seed})
        o.glossaries, o.n_glossaries = strings(glossaries), len(glossaries)
        self._codes = Handle("rela_bpe_parse", "rela_bpe_free", os.fsencode(name), coded, len(coded), byref(o))
        self._create()
        share(self)

    def after_fork(self) -> None:
        """What another thread was using is left alone."""
        if self._lock.locked():
            self._create()

    def _create(self) -> None:
        self._scratch = Handle("rela_bpe_scratch_create", "rela_bpe_scratch_destroy", self._codes.value)
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Codes, self.text, **self._settings), ()

    def __repr__(self) -> str:
        return f"<rela.bpe.Codes: {len(self)} merges>"

    def __len__(self) -> int:
        return lib.rela_bpe_n_merges(self._codes.value)

    def __del__(self) -> None:
        self._scratch = None  # before the codes, which it uses

    @overload
    def apply(self, text: str, first_line: int = 0) -> str: ...  # type: ignore[overload-overlap]

    @overload
    def apply(self, text: Iterable[str], first_line: int = 0) -> list[str]: ...

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
    counts = word_counts(text, threads)
    o = options(structs.BpeLearnOptions)
    set_options(o, {"n_symbols": merges, "min_frequency": min_frequency, "total_symbols": int(total_symbols)})
    return Codes(_learn(counts, o))


def load(path: Path, **settings: Any) -> Codes:
    """Loads a codes file of ``rela bpe learn`` or subword-nmt. settings are those of Codes: merges (use
    only the first N), separator, glossaries (regular expressions of words to keep whole), dropout, seed."""
    with open(path, encoding="utf-8", newline="\n") as file:
        return Codes(file.read(), os.fspath(path), **settings)


@overload
def apply(codes: Codes | Path, text: str) -> str: ...  # type: ignore[overload-overlap]


@overload
def apply(codes: Codes | Path, text: Iterable[str]) -> list[str]: ...


def apply(codes: Codes | Path, text: Lines) -> Any:
    """Splits a line, or each line of a list, into subwords. codes may be the path of a codes file."""
    return (codes if isinstance(codes, Codes) else load(codes)).apply(text)


@overload
def restore(text: str, separator: str = "@@") -> str: ...  # type: ignore[overload-overlap]


@overload
def restore(text: Iterable[str], separator: str = "@@") -> list[str]: ...


def restore(text: Lines, separator: str = "@@") -> Any:
    """Joins the subwords of a line, or of each line of a list, back into words."""
    mark = separator.encode("utf-8", "replace")
    return each(text, lambda line: appended("rela_bpe_undo", None, mark, line, len(line)))


def _learn(counts: Handle, o: Any) -> str:
    caught = Caught()
    o.progress = caught.progress(structs.PROGRESS)
    return appended("rela_bpe_learn", None, 0, counts.value, byref(o), through=caught.call)
