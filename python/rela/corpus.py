# SPDX-License-Identifier: MIT
"""The built-in corpus and the check of a corpus, as ``rela corpus`` and ``rela corpus check`` do them."""
from __future__ import annotations

import json
import os
from contextlib import ExitStack
from ctypes import byref, pointer, sizeof
from pathlib import Path as FilePath
from shutil import which
from subprocess import run
from typing import Any, Literal

from . import _structs as structs
from ._library import Caught, appended, error, options, set_options
from .corpora import Text, files
from .translator import Path

Level = Literal["hard", "easy"]
_STATUS = {1: "IO", 2: "ARG", 3: "FORMAT"}  # by exit code


def _program() -> str:
    """The program: beside this file in a wheel, elsewhere on the PATH."""
    own = FilePath(__file__).parent / "bin" / "rela"
    found = str(own) if own.exists() else which("rela")
    if not found:
        raise error("UNSUP", "the program rela, which has the built-in corpus, is not on the PATH")
    return found


def make(out: Path, size: int = 20000, *, valid: int = 500, test: int = 500, seed: int = 1, level: Level = "hard",
         tokenised: bool = False, threads: int = 0) -> dict[str, Any]:
    """Writes simplified English and German with gold word alignments to a directory: train, valid and test,
    each as .src, .tgt and .align. The same seed gives the same corpus on every machine. Runs ``rela corpus
    --json`` and returns what it prints."""
    numbers = {"size": size, "valid": valid, "test": test, "seed": seed, "threads": threads}
    words = [_program(), "corpus", "--quiet", "--json", "--level", level, "--out", os.fspath(out)]
    words += [word for name, n in numbers.items() for word in (f"--{name}", str(n))]
    done = run(words + ["--tokenised"] * tokenised, capture_output=True, text=True)
    if done.returncode:
        raise error(_STATUS.get(done.returncode, "CANCEL"), done.stderr.strip())
    return json.loads(done.stdout)


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
