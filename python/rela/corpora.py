# SPDX-License-Identifier: MIT
"""Models applied to parallel text: word alignment, measures of attention, filtering."""
from __future__ import annotations

import json
import os
import tempfile
from contextlib import ExitStack
from ctypes import byref, c_char_p, c_void_p, sizeof, string_at
from dataclasses import dataclass, field
from typing import Any, Iterator, Literal, Sequence, Union, overload

from . import _structs as structs
from ._library import Caught, choice, lib, options, set_options
from ._engine import loaded
from .results import table
from .translator import Path, Translator

_SYMMETRISE = {"intersect": 0, "union": 1, "grow-diag": 2, "grow-diag-final": 3, "grow-diag-final-and": 4,
               "mean": 5}
_BY = {"combined": 0, "null": 1, "uncovered": 2, "logprob": 3}
_DUPLICATES = {"keep": 0, "pair": 1, "source": 2, "target": 3}
Symmetrise = Literal["intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and", "mean"]
By = Literal["combined", "null", "uncovered", "logprob"]
Duplicates = Literal["keep", "pair", "source", "target"]
#: A file, or a list of lines
Text = Union[Path, Sequence[str]]
#: The path of a model, or a loaded model
Model = Union[Path, Translator]


@dataclass(repr=False)
class Alignment:
    """Word links of parallel text."""

    #: for each pair, links (source, target) of words from 0; with soft=True (source, target, weight)
    links: list[list[Any]] = field(repr=False)
    layer: int  #: from 0; -1: mean of all
    head: int
    shift: bool
    aer: float  #: 0..1, on the lines of best_on; 0 without best_on
    empty: int  #: pairs with an empty side, which have no links
    too_long: int  #: pairs that are too long for the model

    def __repr__(self) -> str:
        return f"<rela.Alignment: {len(self)} pairs, {sum(map(len, self.links))} links>"

    def _repr_html_(self) -> str:
        """The first pairs."""
        shown = enumerate(" ".join(f"{link[0]}-{link[1]}" for link in links) for links in self.links[:20])
        return table(repr(self)[1:-1], ((str(i), links) for i, links in shown))

    def __len__(self) -> int:
        return len(self.links)

    def __getitem__(self, i: Any) -> Any:
        return self.links[i]

    def __iter__(self) -> Iterator[list[Any]]:
        return iter(self.links)


@overload
def align(src: Text, tgt: Text, /, **settings: Any) -> Alignment: ...


@overload
def align(model: Model, src: Text, tgt: Text, **settings: Any) -> Alignment: ...


def align(*operands: Any, src: Text | None = None, tgt: Text | None = None, reverse: Model | None = None,
          symmetrise: Symmetrise = "intersect", soft: bool = False, threads: int = 0, save: Path | None = None,
          **settings: Any) -> Alignment:
    """Aligns the words of parallel text, as ``rela align`` does: ``align(src, tgt)`` learns both directions
    from the text itself, ``align(model, src, tgt)`` uses the cross attention of a model.

    src and tgt are files or lists of lines. A model is a translation model, or the pair of models that
    ``save`` names when learning from the text. reverse is a model of the other direction, whose links
    are combined with those of the first (symmetrise). settings: other members of rela_align_options,
    such as layer and head (from 0; -1, the default: mean of all), shift, threshold, best_on (a file
    of gold links: uses the layer, head and shift with the lowest error on its lines), src_2 and
    source; without a model also those of rela_align_learn_options: tokenise, src_lang, tgt_lang,
    merges, updates, seed.
    """
    model, src, tgt = _operands(operands, src, tgt)
    learning = {name: settings.pop(name) for name in _LEARNING if name in settings}
    if model is not None and (learning or save is not None):
        name = next(iter(learning), "save")
        raise TypeError(f"'{name}' is for learning from the text, without a model")
    with ExitStack() as stack:
        o, texts = options(structs.AlignOptions), files(stack, {"src": src, "tgt": tgt} | settings)
        if model is None:
            model = save or os.path.join(stack.enter_context(tempfile.TemporaryDirectory(prefix="rela-")), "pair.rela")
            _learn(model, {name: texts[name] for name in ("src", "tgt")} | learning | {"threads": threads})
        pair = not isinstance(model, Translator) and lib.rela_model_is_pair(os.fsencode(model))
        if pair and reverse is not None:
            raise ValueError("reverse goes with a model of one direction, not with a pair")
        first = _load(stack, model, threads, part=1 if pair else 0)
        alive = set_options(o, texts | {
            "soft": int(soft), "symmetrise": choice("symmetrise", symmetrise, _SYMMETRISE)})
        if pair or reverse is not None:
            o.reverse = _load(stack, model if pair else reverse, threads, part=2 if pair else 0)
        report = structs.AlignReport(struct_size=sizeof(structs.AlignReport))
        caught, links = Caught(), []
        on_line = caught.callback(structs.ALIGNED, lambda _ctx, line: links.append(_links(line.contents, soft)))
        caught.call("rela_align", byref(report), first, byref(o), on_line, None)
        del alive
    return Alignment(links, report.layer, report.head, bool(report.shift), report.aer, report.empty,
                     report.too_long)


_LEARNING = ("tokenise", "src_lang", "tgt_lang", "merges", "updates", "seed")


def _operands(operands: Sequence[Any], src: Text | None, tgt: Text | None) -> list[Any]:
    """Model or None, source and target, from positions and names."""
    given = [*operands, *(text for text in (src, tgt) if text is not None)]
    if len(given) not in (2, 3):
        raise TypeError("expected align(src, tgt) or align(model, src, tgt)")
    return given if len(given) == 3 else [None, *given]


def _learn(out: Path, values: dict[str, Any]) -> None:
    """Trains the models of both directions and writes them to one file."""
    o, caught = options(structs.AlignLearnOptions), Caught()
    alive = set_options(o, values)
    o.progress = caught.callback(structs.ALIGN_LEARN_PROGRESS, lambda *_: None)
    caught.call("rela_align_learn", os.fsencode(out), byref(o))
    del alive


def analyse(models: Model | Sequence[Model], src: Text, tgt: Text, out: Path, *,
            names: Sequence[str] | None = None, threads: int = 0, **settings: Any) -> dict[str, Any]:
    """Measures the attention of one or more models on parallel text, as ``rela analyse`` does.

    Writes tables and report.html to the directory out (only the program draws figures) and returns
    the content of analysis.json. settings: other members of rela_analyse_options, such as gold, tags,
    seed, limit, example (a line, from 0) and layer (from 0).
    """
    several = not isinstance(models, (str, os.PathLike, Translator))
    with ExitStack() as stack:
        each = [_load(stack, m, threads) for m in (models if several else [models])]
        if names is not None and len(names) != len(each):
            raise ValueError(f"names: {len(names)}; expected {len(each)}, one for each model")
        o, caught = options(structs.AnalyseOptions), Caught()
        alive = set_options(o, files(stack, {"src": src, "tgt": tgt} | settings) | {"out": out})
        if names is not None:
            o.names = (c_char_p * len(names))(*[n.encode("utf-8", "replace") for n in names])
        o.progress = caught.progress(structs.PROGRESS)
        buffer = structs.Buffer()
        stack.callback(lib.rela_buffer_free, byref(buffer))
        handles = (c_void_p * len(each))(*[m.value for m in each])
        caught.call("rela_analyse", None, byref(buffer), handles, len(each), byref(o))
        del alive
        return json.loads(string_at(buffer.data, buffer.len))


def filter(src: Text, tgt: Text, out_src: Path | None = None, out_tgt: Path | None = None,
           model: Model | None = None, *, by: By = "combined", duplicates: Duplicates = "pair",
           heads: Sequence[tuple[int, int]] | None = None, threads: int = 0, **settings: Any) -> dict[str, Any]:
    """Removes pairs that are not translations from parallel text, as ``rela filter`` does.

    Without a model only rules apply; without out_src and out_tgt nothing is written. Returns a dict
    with "read", "counts" by reason (including "kept"), and with a model "cut", "calibrated", "auc" and
    "mean_score". heads: the heads that count for the null rate, as pairs (layer, head) from 0; None:
    all. settings: other members of rela_filter_options, such as scores (a file), min_score, keep,
    max_words, max_ratio.
    """
    with ExitStack() as stack:
        scorer = None if model is None else _load(stack, model, threads)
        o, caught = options(structs.FilterOptions), Caught()
        alive = set_options(o, files(stack, {"src": src, "tgt": tgt} | settings) | {
            "out_src": out_src, "out_tgt": out_tgt, "by": choice("by", by, _BY), "n_threads": threads,
            "duplicates": choice("duplicates", duplicates, _DUPLICATES)})
        if heads is not None:
            o.heads, o.n_heads = (structs.Head * len(heads))(*heads), len(heads)
        o.progress = caught.callback(structs.FILTER_PROGRESS, lambda *_: None)
        report = structs.FilterReport(struct_size=sizeof(structs.FilterReport))
        caught.call("rela_filter", byref(report), scorer, byref(o))
        del alive
    return _report(report, model is not None)


def shortlist(model: Model, src: Text, tgt: Text, out: Path, *, links: Text | None = None, threads: int = 0,
              **settings: Any) -> dict[str, int]:
    """Learns from parallel text which target subwords translate each source subword, as ``rela shortlist``
    does, and writes the file for Translator(..., shortlist=out).

    links: word links of the text ("0-0 1-2"), a file or a list of lines; None: those of the attention of
    the model. settings: other members of rela_shortlist_options: frequent and best (numbers of target
    subwords: the most frequent, and per source subword), layer, head, shift, threshold. Returns the
    numbers of pairs, of empty and too long ones, links, and entries ("frequent", "words").
    """
    with ExitStack() as stack:
        o, caught = options(structs.ShortlistOptions), Caught()
        texts = {"src": src, "tgt": tgt} | ({} if links is None else {"links": links})
        alive = set_options(o, files(stack, texts) | settings | {"out": out})
        o.progress = caught.callback(structs.FILTER_PROGRESS, lambda *_: None)
        report = structs.ShortlistReport(struct_size=sizeof(structs.ShortlistReport))
        caught.call("rela_shortlist_learn", byref(report), _load(stack, model, threads), byref(o))
        del alive
    counts = {name: getattr(report, name) for name, _ in report._fields_[1:]}
    return {"pairs": counts.pop("lines")} | counts


def _load(stack: ExitStack, model: Model, threads: int, part: int = 0) -> c_void_p:
    """A model until the stack is unwound; the (first) one of a translator, which is locked until then."""
    return stack.enter_context(model.lent() if isinstance(model, Translator) else loaded(model, threads, part))


def files(stack: ExitStack, values: dict[str, Any]) -> dict[str, Any]:
    """Writes lists of lines to temporary files, since the library reads files."""
    return {name: _write(stack, name, value) if isinstance(value, (list, tuple)) else value
            for name, value in values.items()}


def _write(stack: ExitStack, name: str, lines: Sequence[str]) -> str:
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise TypeError(f"{name}: line {number} is {type(line).__name__}; expected a text (str)")
        if "\n" in line:
            raise ValueError(f"{name}: line {number} has a line break")
    file = stack.enter_context(tempfile.NamedTemporaryFile(prefix=f"rela-{name}-"))
    file.write("".join(line + "\n" for line in lines).encode("utf-8", "replace"))
    file.flush()
    return file.name


def _links(line: Any, soft: bool) -> list[Any]:
    found: list[Any] = []
    for link in line.links.decode().split():
        places, _, weight = link.partition(":")
        i, j = map(int, places.split("-"))
        found.append((i, j, float(weight)) if soft else (i, j))
    return found


def _report(report: Any, scored: bool) -> dict[str, Any]:
    counts = {}
    for reason, n in enumerate(report.count):
        key = lib.rela_filter_reason_key(reason)
        if key is None:
            break
        counts[key.decode()] = n
    found = {"read": report.read, "counts": counts}
    names = ("cut", "calibrated", "auc", "mean_score") if scored else ()
    return found | {name: getattr(report, name) for name in names}
