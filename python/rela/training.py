# SPDX-License-Identifier: MIT
"""Training a model from raw parallel text."""
from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Sequence, Union

from . import _structs as structs
from ._library import Caught, options, set_options

_KINDS = ("log", "update", "report", "validated", "saved", "joined")
_ANSWERS = {None: 0, "stop": 1, "save": 2}


@dataclass
class TrainEvent:
    """Passed to the callback of train; numbers that do not apply to the kind are 0."""

    kind: str  #: "log", "update", "report", "validated", "saved" or "joined"
    text: str  #: message of "log"; path of "saved"
    update: int
    updates: int  #: total number of updates
    epoch: int
    loss: float  #: training objective; NaN if all updates since the last report were skipped
    nll: float  #: negative log-likelihood per target token
    rate: float
    grad_norm: float
    tokens_per_second: float
    padding: float
    perplexity: float  #: exp(nll)
    bleu: float  #: below 0: not measured
    is_best: bool
    rank: int = 0  #: of this process
    ranks: int = 1  #: number of processes


_Name = Union[str, "os.PathLike[str]"]
_Names = Union[_Name, Sequence[_Name]]


def train(train_src: _Names, train_tgt: _Names, out: _Name,
          callback: Callable[[TrainEvent], str | None] | None = None,
          preset: str | None = None, **settings: Any) -> Path:
    """Trains a model, or resumes the run in the directory ``out``.

    Returns the path of the model. Lists of files are concatenated. A model with several sources also
    takes train_src_2 and so on (a file, or a list of the same length), and valid_src_2 and so on.
    ``settings`` are members of rela_train_options in ``rela/train.h``: valid_src, valid_tgt,
    attention, width, heads, updates, batch_tokens, lr ...; None means the value of the preset
    ("paper", "base", "tiny", "demo", "align"). The callback is called for every event, including each
    update; it may return "save" to write a checkpoint, or "stop" to end the run so that it can be
    resumed, which raises Error with status "CANCEL". An exception in the callback, or Control-C,
    stops the run in the same way and is re-raised here.
    """
    o = options(structs.TrainOptions)
    texts = {"train_src": train_src, "train_tgt": train_tgt} | {
        name: settings.pop(name) for name in _SOURCES[1:] if settings.get(name) is not None}
    files = {name: _list(names) for name, names in texts.items()}
    alive = set_options(o, {name: names[0] for name, names in files.items()} | {
        "out": out, "preset": preset} | settings)
    more = _more(files)
    o.more, o.n_more = more, len(more)
    caught = Caught()

    def on_event(_ctx: Any, event: Any) -> int:
        answer = callback(_read(event.contents)) if callback else None
        if answer not in _ANSWERS:
            raise ValueError(f"a callback answered {answer!r}; expected None, 'save' or 'stop'")
        return _ANSWERS[answer]

    caught.call("rela_train", ctypes.byref(o), caught.callback(structs.ON_EVENT, on_event), None)
    del alive, more
    return Path(out) / "model.rela"


_SOURCES = ["train_src"] + [f"train_src_{k}" for k in range(2, structs.SOURCES_MAX + 1)]


def _list(names: _Names) -> list[_Name]:
    return [names] if isinstance(names, (str, os.PathLike)) else list(names)


def _more(files: dict[str, list[_Name]]) -> Any:
    """All files after the first of each list."""
    counts = {name: len(names) for name, names in files.items()}
    n = counts["train_src"]
    if n == 0 or set(counts.values()) != {n}:
        raise ValueError("as many files of each, and at least one, are needed; there are " +
                         ", ".join(f"{count} of {name}" for name, count in counts.items()))
    more = (structs.TrainText * (n - 1))()
    sources = [name for name in _SOURCES if name in files]
    for i, text in enumerate(more, 1):
        text.tgt = os.fsencode(files["train_tgt"][i])
        text.src = (ctypes.c_char_p * len(sources))(*[os.fsencode(files[name][i]) for name in sources])
    return more


def _read(e: Any) -> TrainEvent:
    values = {name: getattr(e, name) for name, _ in e._fields_}
    values["kind"] = _KINDS[e.kind]
    values["text"] = (e.text or b"").decode("utf-8", "replace")
    return TrainEvent(**values)
