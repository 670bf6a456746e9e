# SPDX-License-Identifier: MIT
"""Training a model from raw parallel text."""
from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from . import _structs as structs
from ._library import Error, call, options, set_options

_KINDS = ("log", "update", "report", "validated", "saved")
_GO_ON, _STOP, _SAVE = range(3)
_ANSWERS = {None: _GO_ON, "stop": _STOP, "save": _SAVE}


@dataclass
class TrainEvent:
    """What a callback is told; numbers that do not belong to the kind are 0."""

    kind: str  #: "log", "update", "report", "validated" or "saved"
    text: str  #: of "log"; the path of "saved"
    update: int
    updates: int  #: in all
    epoch: int
    loss: float  #: what is minimised; NaN if all updates of an interval were skipped
    nll: float  #: negative log-likelihood, mean of target tokens
    rate: float
    grad_norm: float
    tokens_per_second: float
    padding: float
    perplexity: float  #: exp(nll)
    bleu: float  #: below 0: not measured
    is_best: bool


def train(train_src: str | os.PathLike[str], train_tgt: str | os.PathLike[str],
          out: str | os.PathLike[str],
          callback: Callable[[TrainEvent], str | None] | None = None,
          preset: str | None = None, **settings: Any) -> Path:
    """Trains a model, or goes on where the run in the directory ``out`` stopped.

    Gives the path of the model. ``settings`` are the members of rela_train_options in
    ``rela/train.h``: valid_src, valid_tgt, attention, width, heads, updates, batch_tokens, lr ...;
    None means as the preset ("paper", "base", "tiny", "demo", "align") says. The callback is told of every
    update; it may answer "save", or "stop", which ends the run so that it can be resumed: then
    Error with status "CANCEL" is raised. An exception of the callback, or Control-C, stops the
    run in the same way and is raised here.
    """
    o = options(structs.TrainOptions)
    alive = set_options(o, {"train_src": train_src, "train_tgt": train_tgt, "out": out,
                            "preset": preset} | settings)
    failed: list[BaseException] = []

    def tell(_ctx: Any, event: Any) -> int:
        if failed:
            return _STOP
        try:
            answer = callback(_read(event.contents)) if callback else None
            if answer not in _ANSWERS:
                raise ValueError(f"a callback answered {answer!r}; expected None, 'save' or 'stop'")
            return _ANSWERS[answer]
        except BaseException as e:  # it cannot pass through the library
            failed.append(e)
            return _STOP

    listener = structs.TrainListener(structs.TELL(tell), None)
    try:
        call("rela_train", ctypes.byref(o), ctypes.byref(listener))
    except Error:
        if not failed:
            raise
    del alive
    if failed:
        raise failed[0]
    return Path(out) / "model.rela"


def _read(e: Any) -> TrainEvent:
    values = {name: getattr(e, name) for name, _ in e._fields_}
    values["kind"] = _KINDS[e.kind]
    values["text"] = (e.text or b"").decode("utf-8", "replace")
    return TrainEvent(**values)
