# SPDX-License-Identifier: MIT
"""Evaluates translations; scores equal those of sacrebleu."""
from __future__ import annotations

import ctypes
from ctypes import byref, c_void_p, sizeof
from dataclasses import dataclass, field
from typing import Any, Literal, Sequence, Union

import numpy as np

from . import _structs as structs
from ._library import Handle, appended, call, choice, lib, options, set_options, text_array
from .results import table

_TOKENS = {"13a": 0, "intl": 1, "char": 2, "none": 3}
_SMOOTHING = {"exp": 0, "floor": 1, "add-k": 2, "none": 3}
MetricName = Literal["bleu", "chrf"]
Tokens = Literal["13a", "intl", "char", "none"]
Smoothing = Literal["exp", "floor", "add-k", "none"]
#: One reference for each hypothesis, or a list of such lists
References = Union[Sequence[str], Sequence[Sequence[str]]]


@dataclass
class Metric:
    """The score of a test set, 0..100."""

    name: str
    score: float
    signature: str  #: everything the score depends on, as in sacrebleu
    sentences: list[float] = field(repr=False)  #: scores of the segments, if requested

    def __float__(self) -> float:
        return self.score

    def _repr_html_(self) -> str:
        """The score and all it depends on."""
        return table(f"{self.name} {self.score:.2f}", [("signature", self.signature)])


@dataclass
class Bleu(Metric):
    """The score and its parts; precisions are in percent, of order 1, 2, ..."""

    precisions: list[float]
    brevity: float
    hyp_len: int
    ref_len: int


def bleu(hypotheses: Sequence[str], references: References, *, tokenize: Tokens = "13a", lowercase: bool = False,
         smooth: Smoothing = "exp", smooth_value: float | None = None, max_order: int = 4,
         effective_order: bool = False, sentences: bool = False, threads: int = 0) -> Bleu:
    """BLEU of translations against one or more references, as computed by ``rela bleu`` and sacrebleu.

    Texts should be detokenised. Sentence scores use the effective order: n-grams longer than the
    segment are left out.
    """
    values = {"tokens": choice("tokenize", tokenize, _TOKENS), "lowercase": int(lowercase),
              "smoothing": choice("smooth", smooth, _SMOOTHING), "smooth_value": smooth_value,
              "max_order": max_order, "effective_order": int(effective_order)}
    metric = _metric("bleu", structs.BleuOptions, values)
    stats, n_refs = _count(metric, hypotheses, references, threads)
    sums = stats.sum(0, dtype=np.uint64)
    figures = structs.BleuFigures(struct_size=sizeof(structs.BleuFigures))
    call("rela_bleu_figures_get", byref(figures), metric.value, c_void_p(sums.ctypes.data))
    single = _metric("bleu", structs.BleuOptions, values | {"effective_order": 1})
    return Bleu(**_result(metric, n_refs, sums, _scores(single, stats) if sentences else []),
                precisions=list(figures.precision[:max_order]), brevity=figures.brevity,
                hyp_len=figures.hyp_len, ref_len=figures.ref_len)


def chrf(hypotheses: Sequence[str], references: References, *, char_order: int = 6, word_order: int = 0,
         beta: float = 2.0, lowercase: bool = False, whitespace: bool = False, eps_smoothing: bool = False,
         sentences: bool = False, threads: int = 0) -> Metric:
    """chrF of translations, as computed by ``rela chrf`` and sacrebleu; word_order=2 gives chrF++."""
    metric = _metric("chrf", structs.ChrfOptions, {
        "char_order": char_order, "word_order": word_order, "beta": beta, "lowercase": int(lowercase),
        "whitespace": int(whitespace), "eps_smoothing": int(eps_smoothing)})
    stats, n_refs = _count(metric, hypotheses, references, threads)
    return Metric(**_result(metric, n_refs, stats.sum(0, dtype=np.uint64),
                            _scores(metric, stats) if sentences else []))


@dataclass
class Comparison:
    """A system against a baseline, on the same segments and references."""

    name: str
    baseline: float  #: score of the baseline, 0..100
    score: float  #: score of the system
    interval: tuple[float, float]  #: 95 % of the score of the system, by bootstrap
    p_bootstrap: float  #: that the difference is chance, by paired bootstrap resampling
    p_randomisation: float  #: the same by paired approximate randomisation
    signature: str

    @property
    def difference(self) -> float:
        return self.score - self.baseline


def compare(baseline: Sequence[str], system: Sequence[str], references: References, metric: MetricName = "bleu", *,
            samples: int = 1000, trials: int = 10000, seed: int = 1, threads: int = 0, **settings: Any) -> Comparison:
    """Compares two systems, as ``rela compare`` does. settings: those of bleu or chrf that name the metric,
    such as tokenize, lowercase or word_order."""
    if len(system) != len(baseline):
        raise ValueError(f"{len(baseline)} translations of the baseline, but {len(system)} of the system")
    if "tokenize" in settings:
        settings["tokens"] = choice("tokenize", settings.pop("tokenize"), _TOKENS)
    which = choice("metric", metric, {"bleu": 0, "chrf": 1})
    m = _metric(metric, (structs.BleuOptions, structs.ChrfOptions)[which], settings)
    (a, n_refs), (b, _) = (_count(m, texts, references, threads) for texts in (baseline, system))
    function = ctypes.cast(lib.rela_metric_score_fn, c_void_p)
    first, second = (structs.Scored(x.ctypes.data, *x.shape, function, m.value) for x in (a, b))
    r, interval = options(structs.Resampling), structs.Interval()
    p_bootstrap, p_randomisation = ctypes.c_double(), ctypes.c_double()
    set_options(r, {"samples": samples, "seed": seed, "n_threads": threads})
    call("rela_bootstrap_paired", byref(p_bootstrap), byref(interval), byref(first), byref(second), byref(r))
    set_options(r, {"samples": trials})
    call("rela_randomise_paired", byref(p_randomisation), byref(first), byref(second), byref(r))
    base, own = (_score(m, x.sum(0, dtype=np.uint64)) for x in (a, b))
    return Comparison(lib.rela_metric_name(m.value).decode(), base, own, (interval.low, interval.high),
                      p_bootstrap.value, p_randomisation.value,
                      _signature(m, n_refs, bootstrap=samples, randomise=trials, seed=seed))


def _metric(name: str, struct: Any, values: dict[str, Any]) -> Handle:
    o = options(struct)
    set_options(o, values)
    return Handle(f"rela_metric_create_{name}", "rela_metric_destroy", byref(o))


def _count(metric: Handle, hypotheses: Sequence[str], references: References,
           threads: int) -> tuple[np.ndarray, int]:
    """Statistics (segments, n_stats), and the number of references per segment."""
    hypotheses = _list("hypotheses", hypotheses)
    streams = _streams(hypotheses, references)
    n, rows = len(hypotheses), list(zip(*streams))
    segments = (structs.Segment * n)()
    texts, lens = text_array(hypotheses)
    alive = [text_array(list(row)) for row in rows]
    for i, (refs, ref_lens) in enumerate(alive):
        segments[i] = structs.Segment(texts[i], lens[i], refs, ref_lens, len(streams))
    stats = np.zeros((n, lib.rela_metric_n_stats(metric.value)), np.uint32)
    call("rela_metric_count", c_void_p(stats.ctypes.data), metric.value, segments, n, threads)
    return stats, len(streams)


def _list(name: str, texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str):
        raise TypeError(f"{name}: expected a list of texts, not one text")
    return list(texts)


def _streams(hypotheses: list[str], references: References) -> list[list[str]]:
    given = _list("references", references)  # type: ignore[arg-type]
    streams = [given] if all(isinstance(r, str) for r in given) else [_list("references", r) for r in given]
    for stream in streams:
        if len(stream) != len(hypotheses):
            raise ValueError(f"{len(hypotheses)} hypotheses, but {len(stream)} references")
    if not hypotheses:
        raise ValueError("no hypotheses")
    return streams


def _result(metric: Handle, n_refs: int, sums: np.ndarray, sentences: list[float]) -> dict[str, Any]:
    return {"name": lib.rela_metric_name(metric.value).decode(), "score": _score(metric, sums),
            "signature": _signature(metric, n_refs), "sentences": sentences}


def _signature(metric: Handle, n_refs: int, **resampling: int) -> str:
    s = options(structs.Signature)
    set_options(s, {"n_refs": n_refs} | resampling)
    return appended("rela_metric_signature", None, metric.value, byref(s))


def _scores(metric: Handle, stats: np.ndarray) -> list[float]:
    return [_score(metric, row) for row in stats.astype(np.uint64)]


def _score(metric: Handle, sums: np.ndarray) -> float:
    return lib.rela_metric_score(metric.value, ctypes.c_void_p(sums.ctypes.data))
