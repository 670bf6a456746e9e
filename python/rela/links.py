# SPDX-License-Identifier: MIT
"""Word links compared with gold links."""
from __future__ import annotations

import os
from ctypes import byref, c_void_p, cast, sizeof
from dataclasses import dataclass
from typing import Any, Iterable, Sequence, Union

import numpy as np

from . import _structs as structs
from ._library import Error, call, lib, options, set_options
from .corpora import Alignment
from .results import table

#: A file, an Alignment, or for each pair a line like "0-0 1-2" or a list of tuples (source, target)
Links = Union[str, "os.PathLike[str]", Alignment, Sequence[Union[str, Sequence["tuple[Any, ...]"]]]]


@dataclass
class Aer:
    """Alignment error rate and its parts, 0..1."""

    aer: float
    precision: float
    recall: float
    f1: float
    links: int
    sure: int
    possible: int  #: gold links that are not sure
    interval: tuple[float, float] | None  #: 95 % of aer, by bootstrap

    def __float__(self) -> float:
        return self.aer

    def _repr_html_(self) -> str:
        """All figures."""
        return table(f"AER {100 * self.aer:.1f} %", vars(self).items())


def aer(gold: Links, links: Links, *, base: int = 0, gold_base: int = 0, reverse: bool = False,
        gold_reverse: bool = False, samples: int = 1000, seed: int = 1, threads: int = 0) -> Aer:
    """Compares word links with gold links, as ``rela aer`` does, of as many pairs as gold has.

    In lines i-j is a sure gold link, i?j and ipj are possible ones. base and gold_base: number of the
    first word, 0 or 1; reverse and gold_reverse: the target word comes first; these apply to lines, not
    to tuples. samples: of the bootstrap; 0: no interval.
    """
    want, found = _lines(gold, gold_base, gold_reverse), _lines(links, base, reverse)
    if len(want) > len(found) or not want:
        raise ValueError(f"{len(want)} pairs of gold links, but {len(found)} of links")
    stats = np.zeros((len(want), structs.AER_STATS), np.uint32)
    a, b = structs.Links(), structs.Links()
    try:
        for i, row in enumerate(stats):
            _parse(a, want[i], "gold", i, gold_base, gold_reverse)
            _parse(b, found[i], "links", i, base, reverse)
            lib.rela_aer_count(row.ctypes.data, byref(a), byref(b))
    finally:
        lib.rela_links_free(byref(a))
        lib.rela_links_free(byref(b))
    sums, f = stats.sum(0, dtype=np.uint64), structs.AerFigures(struct_size=sizeof(structs.AerFigures))
    call("rela_aer_figures_get", byref(f), sums.ctypes.data)
    interval = _interval(stats, samples, seed, threads) if samples else None
    return Aer(f.aer, f.precision, f.recall, f.f1, f.n_links, f.n_sure, f.n_gold - f.n_sure, interval)


def _lines(links: Links, base: int, reverse: bool) -> list[str]:
    if isinstance(links, (str, os.PathLike)):
        with open(links, encoding="utf-8", newline="\n") as file:
            return [line.rstrip("\r\n") for line in file]
    return [pair if isinstance(pair, str) else _line(pair, base, reverse) for pair in links]


def _line(pair: Iterable[tuple[Any, ...]], base: int, reverse: bool) -> str:
    return " ".join("-".join(str(place + base) for place in (link[1::-1] if reverse else link[:2])) for link in pair)


def _parse(out: Any, line: str, name: str, i: int, base: int, reverse: bool) -> None:
    form, coded = options(structs.LinkFormat), line.encode("utf-8", "replace")
    set_options(form, {"base": base, "reverse": int(reverse)})
    try:
        call("rela_links_parse", byref(out), coded, len(coded), byref(form))
    except Error as e:
        raise type(e)(e.status, f"{name}: line {i + 1}: {e.message}") from None


def _interval(stats: np.ndarray, samples: int, seed: int, threads: int) -> tuple[float, float]:
    scored = structs.Scored(stats.ctypes.data, *stats.shape, cast(lib.rela_aer_score_fn, c_void_p), None)
    r, interval = options(structs.Resampling), structs.Interval()
    set_options(r, {"samples": samples, "seed": seed, "n_threads": threads})
    call("rela_bootstrap", byref(interval), byref(scored), byref(r))
    return interval.low / 100, interval.high / 100
