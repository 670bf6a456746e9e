# SPDX-License-Identifier: MIT
"""Model files: conversion and the mean of several."""
from __future__ import annotations

import os
from ctypes import byref, c_char_p
from typing import Any, Callable, Literal, Sequence

from . import _structs as structs
from ._library import call, choice, options, set_options
from .translator import Path

_FORMAT = {"rela": 0, "safetensors": 1, "ctranslate2": 2, "int8": 3, "mapped": 4}
Origin = Literal["rela", "safetensors"]
Target = Literal["rela", "safetensors", "ctranslate2", "int8", "mapped"]
Log = Callable[[str], Any]


def convert(path: Path, out: Path, to: Target = "rela", *, from_: Origin = "rela", threads: int = 0,
            log: Log | None = None) -> None:
    """Converts a model, as ``rela convert`` does: to plain weights in a directory ("safetensors") and back, to
    a directory for CTranslate2 (softmax attention only), or to a file that only translates ("int8" and
    "mapped"). The input is checked completely before anything is written. log gets warnings."""
    o = options(structs.ConvertOptions)
    set_options(o, {"from": choice("from_", from_, _FORMAT), "to": choice("to", to, _FORMAT), "n_threads": threads})
    o.notice = _notice(log)
    call("rela_model_convert", os.fsencode(out), os.fsencode(path), byref(o))


def average(paths: Path | Sequence[Path], out: Path, *, last: int = 0, threads: int = 0,
            log: Log | None = None) -> None:
    """Writes a model whose parameters are the mean of those of several models or checkpoints, as ``rela
    average`` does. A directory stands for the checkpoints in it, oldest first; last: use only so many from
    the end; 0: all. log gets warnings."""
    o = options(structs.AverageOptions)
    set_options(o, {"last": last, "n_threads": threads})
    o.notice = _notice(log)
    names = [os.fsencode(p) for p in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    call("rela_model_average", os.fsencode(out), (c_char_p * len(names))(*names), len(names), byref(o))


def _notice(log: Log | None) -> Any:
    if log is None:
        return structs.NOTICE()
    return structs.NOTICE(lambda _ctx, line: log(line.decode("utf-8", "replace")))
