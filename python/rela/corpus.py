# SPDX-License-Identifier: MIT
"""The built-in corpus and the check of a corpus, as ``rela corpus`` and ``rela corpus check`` do them."""
from __future__ import annotations

import json
from contextlib import ExitStack
from ctypes import byref, pointer, sizeof
from typing import Any, Literal

from . import _structs as structs
from ._library import Caught, appended, choice, options, set_options
from .corpora import Text, files
from .translator import Path

_LEVEL = {"hard": 0, "easy": 1}
Level = Literal["hard", "easy"]


def make(out: Path, size: int = 20000, *, valid: int = 500, test: int = 500, seed: int = 1, level: Level = "hard",
         tokenised: bool = False, threads: int = 0) -> dict[str, Any]:
    """Writes simplified English and German with gold word alignments to a directory: train, valid and test,
    each as .src, .tgt and .align. The same seed gives the same corpus on every machine. Returns what
    ``rela corpus --json`` prints."""
    o, caught = options(structs.CorpusMakeOptions), Caught()
    _alive = set_options(o, {"dir": out, "train": size, "valid": valid, "test": test, "seed": seed,
                             "level": choice("level", level, _LEVEL), "tokenised": int(tokenised),
                             "n_threads": threads})
    o.progress = caught.progress(structs.PROGRESS)
    made = structs.CorpusMade(struct_size=sizeof(structs.CorpusMade))
    caught.call("rela_corpus_make", byref(made), byref(o))
    return json.loads(appended("rela_corpus_made_json", None, byref(made)))


def check(src: Text, tgt: Text | None = None, *, batch_tokens: int | None = None, seed: int | None = None,
          memory: int | None = None, scratch_dir: Path | None = None, threads: int = 0,
          **rules: Any) -> dict[str, Any]:
    """Reads parallel text as training does, and returns what ``rela corpus check --json`` prints: how many
    pairs are kept, why others are dropped, lengths, and the share of padding.

    src and tgt are files or lists of lines; without tgt, src has two columns. rules: members of
    rela_corpus_rules: max_line, max_tokens, cut, max_ratio, drop_identical, any_expansion.
    """
    with ExitStack() as stack:
        o, caught, own = options(structs.CorpusCheckOptions), Caught(), options(structs.CorpusRules)
        set_options(own, rules)
        texts = files(stack, {"src": src} | ({} if tgt is None else {"tgt": tgt}))
        _alive = set_options(o, texts | {"batch_tokens": batch_tokens, "seed": seed, "memory": memory,
                                         "scratch_dir": scratch_dir, "n_threads": threads})
        o.rules, o.progress = pointer(own), caught.progress(structs.PROGRESS)
        report = structs.CorpusReport(struct_size=sizeof(structs.CorpusReport))
        stats = structs.CorpusStats(struct_size=sizeof(structs.CorpusStats))
        caught.call("rela_corpus_check", byref(report), byref(stats), byref(o))
    return json.loads(appended("rela_corpus_stats_json", None, byref(report), byref(stats)))
