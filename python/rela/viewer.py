# SPDX-License-Identifier: MIT
"""The attention viewer: as a page, as its data, in a notebook."""
from __future__ import annotations

import os
from contextlib import ExitStack
from ctypes import byref, c_char_p, c_void_p, sizeof, string_at
from html import escape
from typing import Any, Literal, Sequence, Union

from . import _structs as structs
from ._library import Caught, choice, lib, options, set_options, text_array
from .corpora import Model, Text, _load, files
from .translator import Path, Source, Translator

_FORMS = {"page": 0, "document": 1, "inseq": 2}
Form = Literal["page", "document", "inseq"]
#: Targets of a sentence: one, or several with or without scores
Target = Union[str, Sequence[str], "Sequence[tuple[str, float]]"]


class View:
    """A page of the attention viewer. Notebooks show it; ``save`` writes it to a file, which any browser opens."""

    def __init__(self, html: str, height: int = 900) -> None:
        self.html = html
        self.height = height

    def save(self, path: Path) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __repr__(self) -> str:
        return f"<rela.View: a page of {len(self.html.encode())} bytes>"

    def _repr_html_(self) -> str:
        """The page in a frame of its own, which cannot reach the notebook."""
        return (f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{escape(self.html)}" '
                f'style="width: 100%; height: {int(self.height)}px; border: 1px solid #ccc"></iframe>')


def show(models: Model | Sequence[Model], src: Source | Sequence[Source], tgt: Target | Sequence[Target], *,
         height: int = 900, **settings: Any) -> View:
    """The attention of models on sentences, as a page that a notebook shows. For one sentence, src and tgt may
    be texts. settings: those of ``view``.
    """
    single = isinstance(tgt, str)
    return View(view(models, [src] if single else src, [tgt] if single else tgt, **settings), height)


def view(models: Model | Sequence[Model], src: Any, tgt: Any, *, form: Form = "page", names: Sequence[str] | None = None,
         gold: Sequence[str] | None = None, threads: int = 0, **settings: Any) -> str:
    """The page of the attention viewer for models on sentences, as ``rela view`` writes it; with form="document" its
    data, with form="inseq" what inseq loads, both JSON.

    src is a list of texts (for models with several sources of tuples), tgt a list with a text for each, or with a list
    of texts, or of pairs of text and score. gold: links of the first sentences ("0-0 1-2"). settings: other members of
    rela_view_options, such as worth, title and gold_base.
    """
    several = not isinstance(models, (str, os.PathLike, Translator))
    with ExitStack() as stack:
        each = [_load(stack, m, threads) for m in (models if several else [models])]
        if names is not None and len(names) != len(each):
            raise ValueError(f"names: {len(names)}; expected {len(each)}, one for each model")
        sentences = list(src)
        targets = list(tgt)
        if len(sentences) != len(targets):
            raise ValueError(f"{len(sentences)} sources, but {len(targets)} targets")
        sources, lens = text_array([text for s in sentences for text in ((s,) if isinstance(s, str) else s)])
        list_of_targets, _alive_targets = _targets(targets)
        text = structs.ViewText(struct_size=sizeof(structs.ViewText), src=sources, src_lens=lens, n=len(sentences),
                                targets=list_of_targets, n_targets=len(list_of_targets))
        if gold is not None:
            text.gold, text.n_gold = _texts(gold), len(gold)
        o, caught = options(structs.ViewOptions), Caught()
        _alive = set_options(o, settings | {"form": choice("form", form, _FORMS)})
        if names is not None:
            o.names = _texts(names)
        o.progress = caught.progress(structs.PROGRESS)
        handles = (c_void_p * len(each))(*[m.value for m in each])
        return _called(stack, caught, "rela_view", handles, len(each), byref(text), byref(o))


def view_file(path: Path, src: Text | None = None, tgt: Text | None = None, *, form: Form = "page",
              **settings: Any) -> str:
    """The page of the attention viewer for attention that another program has written: lines of Marian's
    ``--alignment soft`` (with src and tgt, files or lists of lines), a JSON file of inseq, or a dump of
    ``rela analyse``. settings: other members of rela_view_import, such as limit, gold and title.
    """
    with ExitStack() as stack:
        o = structs.ViewImport(struct_size=sizeof(structs.ViewImport))
        texts = {name: text for name, text in (("src", src), ("tgt", tgt)) if text is not None}
        _alive = set_options(o, files(stack, texts | settings) | {
            "path": path, "form": choice("form", form, _FORMS)})
        return _called(stack, Caught(), "rela_view_open", byref(o))


def _called(stack: ExitStack, caught: Caught, name: str, *arguments: Any) -> str:
    buffer = structs.Buffer()
    stack.callback(lib.rela_buffer_free, byref(buffer))
    caught.call(name, byref(buffer), *arguments)
    return string_at(buffer.data, buffer.len).decode()


def _texts(texts: Sequence[str]) -> Any:
    return (c_char_p * len(texts))(*[t.encode("utf-8", "replace") for t in texts])


def _targets(targets: Sequence[Any]) -> tuple[Any, list[bytes]]:
    """The structs of all targets, and the texts that they point to."""
    flat = [(number, item) for number, each in enumerate(targets)
            for item in ([each] if isinstance(each, str) else each)]
    found = (structs.ViewTarget * len(flat))()
    texts = []
    for struct, (number, item) in zip(found, flat):
        text, score = (item, None) if isinstance(item, str) else item
        texts.append(text.encode("utf-8", "replace"))
        struct.sentence, struct.text, struct.len = number, texts[-1], len(texts[-1])
        struct.scored, struct.score = score is not None, score or 0
    return found, texts
