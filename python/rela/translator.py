# SPDX-License-Identifier: MIT
"""Translates and scores with a model, and shows its attention."""
from __future__ import annotations

import ctypes
import json
import os
from contextlib import contextmanager
from ctypes import byref, c_void_p, sizeof
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Literal, Sequence, TypedDict, Union, overload

import numpy as np

from . import _structs as structs
from ._engine import Engine
from ._library import Caught, appended, call, choice, lib, options, set_options, text_array
from .results import PairAttention, Score, Translation, table

if TYPE_CHECKING:
    from typing_extensions import Unpack

_PENALTY = {"gnmt": 0, "power": 1, "none": 2}
_UNK = {"allow": 0, "forbid": 1, "replace": 2}
_LONG = {"split": 0, "cut": 1}
_SPLIT = {"never": 0, "auto": 1, "always": 2}
_NOT_FINITE = {"fail": 0, "mark": 1}
_LINKS = {"hard": 0, "soft": 1}
Path = Union[str, "os.PathLike[str]"]
#: Input of one sentence: a text or, for models with several sources, a tuple with one text per source
Source = Union[str, "tuple[str, ...]"]
Penalty = Literal["gnmt", "power", "none"]
Unknown = Literal["allow", "forbid", "replace"]
LongSentence = Literal["split", "cut"]
Split = Literal["never", "auto", "always"]
NotFinite = Literal["fail", "mark"]
Links = Literal["hard", "soft"]
Progress = Callable[[int, int], Any]


class Settings(TypedDict, total=False):
    """Settings of Translator.translate that do not change the type of its result."""

    sample: bool
    temperature: float
    top_k: int
    top_p: float
    seed: int
    penalty: Penalty
    length_penalty: float | None
    max_factor: float | None
    max_extra: int | None
    unk: Unknown
    long_sentence: LongSentence
    prefix: str | Sequence[str] | None
    links: Links
    layer: int | None
    head: int | None
    first_line: int
    batch_sentences: int | None
    batch_tokens: int | None
    shortlist: bool
    source: int
    split: Split
    src_lang: str | None
    progress: Progress | None


class ScoreSettings(TypedDict, total=False):
    """Settings of Translator.score."""

    first_line: int
    batch_tokens: int | None
    not_finite: NotFinite
    progress: Progress | None


def info(path: Path) -> dict[str, Any]:
    """What a model file contains, as ``rela info --json`` prints it: "card", "config", "parameters" ...
    Of a pair of models, "parts" has these of both.

    Reads and checks the whole file.
    """
    o = options(structs.ModelInfoOptions)
    o.json = True
    return json.loads(appended("rela_model_info", None, os.fsencode(path), byref(o)))


class Translator:
    """A loaded model, or an ensemble.

    path     model file, or a list of them (an ensemble: probabilities are averaged)
    threads  0: every core this process may use
    log      called with messages, for example about a sentence that had to be cut
    int8     int8 weights: faster, a quarter of the memory; only for translate, not for score and
             attention
    shortlist  file made by ``rela shortlist`` for this model: restricts translations to likely
             words, which is faster; translate(..., shortlist=False) ignores it

    Threads may share a translator, and their calls run at the same time: with threads=1 each on one
    core. ``close`` or a ``with`` block frees the memory early. Copying and unpickling load the files again.
    """

    def __init__(self, path: Path | Sequence[Path], threads: int = 0,
                 log: Callable[[str], None] | None = None, int8: bool = False,
                 shortlist: Path | None = None) -> None:
        paths = [path] if isinstance(path, (str, bytes, os.PathLike)) else list(path)
        self._engine = Engine(paths, threads, log, int8, shortlist)
        self._arguments = ([os.path.abspath(p) for p in paths], threads, log, int8,
                           None if shortlist is None else os.path.abspath(shortlist))

    def close(self) -> None:
        """Frees the model, after the calls of other threads have ended. Further calls raise ValueError."""
        self._engine.close()

    def __enter__(self) -> Translator:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return Translator, self._arguments

    def __repr__(self) -> str:
        return f"<rela.Translator {', '.join(map(_name, self._arguments[0]))}: {self._summary()}>"

    def _repr_html_(self) -> str:
        rows = self.shape if self._engine.is_open else {"closed": True}
        return table("rela.Translator " + ", ".join(map(_name, self._arguments[0])), rows.items())

    def _summary(self) -> str:
        if not self._engine.is_open:
            return "closed"
        s = self.shape
        kinds = "/".join(dict.fromkeys(s["attention"].values()))
        return f"{s['enc_layers']}+{s['dec_layers']} layers, width {s['width']}, {s['heads']} heads, {kinds}"

    @property
    def shape(self) -> dict[str, Any]:
        """Hyper-parameters of the (first) model, and its kinds of attention."""
        s = structs.ModelShape(struct_size=sizeof(structs.ModelShape))
        with self.lent() as model:
            call("rela_model_shape_get", byref(s), model)
        sizes = {name: getattr(s, name) for name, _ in s._fields_[1:] if name != "attention"}
        kinds = [kind.value.decode() for kind in s.attention]
        return sizes | {"attention": dict(zip(("encoder", "decoder", "cross"), kinds))}

    @overload
    def translate(self, text: Source, beam: int = 4, n_best: Literal[1] = 1, *,  # type: ignore[overload-overlap]
                  details: Literal[False] = False, attention: Literal[False] = False,
                  not_finite: Literal["fail"] = "fail", **settings: Unpack[Settings]) -> str: ...

    @overload
    def translate(self, text: Source, beam: int = 4, n_best: Literal[1] = 1, *,  # type: ignore[overload-overlap]
                  details: Literal[False] = False, attention: Literal[False] = False,
                  not_finite: Literal["mark"], **settings: Unpack[Settings]) -> str | None: ...

    @overload
    def translate(self, text: Source, beam: int = 4, n_best: Literal[1] = 1, *,  # type: ignore[overload-overlap]
                  details: Literal[True], attention: bool = False, not_finite: NotFinite = "fail",
                  **settings: Unpack[Settings]) -> Translation: ...

    @overload
    def translate(self, text: Source, beam: int = 4, n_best: Literal[1] = 1, *,  # type: ignore[overload-overlap]
                  details: bool = False, attention: Literal[True], not_finite: NotFinite = "fail",
                  **settings: Unpack[Settings]) -> Translation: ...

    @overload
    def translate(self, text: Source, beam: int = 4, *, n_best: int,  # type: ignore[overload-overlap]
                  details: bool = False, attention: bool = False, not_finite: NotFinite = "fail",
                  **settings: Unpack[Settings]) -> list[Translation]: ...

    @overload
    def translate(self, text: Iterable[Source], beam: int = 4,  # type: ignore[overload-overlap]
                  n_best: Literal[1] = 1, *, details: Literal[False] = False, attention: Literal[False] = False,
                  not_finite: Literal["fail"] = "fail", **settings: Unpack[Settings]) -> list[str]: ...

    @overload
    def translate(self, text: Iterable[Source], beam: int = 4,  # type: ignore[overload-overlap]
                  n_best: Literal[1] = 1, *, details: Literal[False] = False, attention: Literal[False] = False,
                  not_finite: Literal["mark"], **settings: Unpack[Settings]) -> list[str | None]: ...

    @overload
    def translate(self, text: Iterable[Source], beam: int = 4,  # type: ignore[overload-overlap]
                  n_best: Literal[1] = 1, *, details: Literal[True], attention: bool = False,
                  not_finite: NotFinite = "fail", **settings: Unpack[Settings]) -> list[Translation]: ...

    @overload
    def translate(self, text: Iterable[Source], beam: int = 4,  # type: ignore[overload-overlap]
                  n_best: Literal[1] = 1, *, details: bool = False, attention: Literal[True],
                  not_finite: NotFinite = "fail", **settings: Unpack[Settings]) -> list[Translation]: ...

    @overload
    def translate(self, text: Iterable[Source], beam: int = 4, *, n_best: int, details: bool = False,
                  attention: bool = False, not_finite: NotFinite = "fail",
                  **settings: Unpack[Settings]) -> list[list[Translation]]: ...

    def translate(self, text: Source | Iterable[Source], beam: int = 4, n_best: int = 1, *,
                  details: bool = False, attention: bool = False, sample: bool = False,
                  temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, seed: int = 1,
                  penalty: Penalty = "gnmt", length_penalty: float | None = None,
                  max_factor: float | None = None, max_extra: int | None = None,
                  unk: Unknown = "allow", long_sentence: LongSentence = "split",
                  prefix: str | Sequence[str] | None = None, links: Links = "hard",
                  layer: int | None = None, head: int | None = None, first_line: int = 0,
                  batch_sentences: int | None = None, batch_tokens: int | None = None,
                  shortlist: bool = True, not_finite: NotFinite = "fail", source: int = 0,
                  split: Split = "auto", src_lang: str | None = None,
                  progress: Progress | None = None) -> Any:
        """Translates a text (returns one translation) or a list of texts (returns a list).

        For a model with several sources, a sentence is a tuple with one text per source, some of
        which may be empty; source tokens, attention and links are those of source number ``source``,
        from 0.

        A translation is a str. With n_best > 1 it is a list of Translation, best first; with
        details or attention it is one Translation. sample: sample at random instead of beam search.
        prefix: what each translation must begin with. Links are taken from layer and head (from 0;
        None: mean of all), with weights if links is "soft". first_line is the position of the first
        text, from 0; line numbers in messages and random numbers of sampling depend on it.
        shortlist=False: use all words even if a shortlist is loaded. If the model overflows on a
        text, NotFiniteError is raised; with not_finite="mark" its translation is
        None, or a Translation without tokens whose score is NaN.

        A text of several sentences is translated sentence by sentence and joined again; its
        log-probability is then the sum, and its tokens have one <eos> per sentence. split="auto"
        treats a text as one sentence if a prefix is given, the model has several sources, or
        attention is requested; "never" always does. src_lang: language of the abbreviations used to
        split; None: that of the model.

        progress(done, total) is called with numbers of sentences about ten times a second, on the
        calling thread; total is 0 while it is unknown. An exception in it, or Control-C, ends the call
        within a second.
        """
        single = isinstance(text, (str, tuple))
        if not single and not hasattr(text, "__iter__"):
            raise TypeError(f"expected a text or a list of texts, got {type(text).__name__}")
        sentences: list[Any] = [text] if single else list(text)
        texts = self._flatten(sentences)
        o, heads, _alive = _settings(
            beam, n_best, attention, not_finite, sample=sample, temperature=temperature, top_k=top_k, top_p=top_p,
            seed=seed, penalty=penalty, length_penalty=length_penalty, max_factor=max_factor, max_extra=max_extra,
            unk=unk, long_sentence=long_sentence, links=links, layer=layer, head=head, first_line=first_line,
            batch_sentences=batch_sentences, batch_tokens=batch_tokens, source=source, split=split, src_lang=src_lang)
        if prefix is not None:
            prefixes = [prefix] * len(sentences) if isinstance(prefix, str) else list(prefix)
            if len(prefixes) != len(sentences):
                raise ValueError(f"{len(prefixes)} prefixes for {len(sentences)} texts")
            o.prefix, o.prefix_len = text_array(prefixes)
        with self._results(texts, len(sentences), o, shortlist, progress) as result:
            plain = n_best == 1 and not (details or attention)
            found = [self._read(result, i, plain, n_best, heads) for i in range(len(sentences))]
        return found[0] if single else found

    async def translate_async(self, text: Source, beam: int = 4, n_best: int = 1, *, details: bool = False,
                              attention: bool = False, not_finite: NotFinite = "fail", seconds: float = 0,
                              **settings: Unpack[Settings]) -> Any:
        """translate for asyncio, of one text: ``await model.translate_async(text)``; many at once with
        ``asyncio.gather``. The texts of all tasks share the threads of the translator, and each ends as if
        it were alone.

        Settings and result are those of translate; batch_sentences, batch_tokens and progress have no
        effect. seconds: after which CancelledError of this package is raised; 0: never. Cancelling the task
        cancels the translation.
        """
        if not isinstance(text, (str, tuple)):
            raise TypeError(f"expected a text, got {type(text).__name__}")
        words: dict[str, Any] = dict(settings)
        prefix, shortlist = words.pop("prefix", None), words.pop("shortlist", True)
        words.pop("progress", None)
        o, heads, _alive = _settings(beam, n_best, attention, not_finite, **words)
        if prefix is not None:
            o.prefix, o.prefix_len = text_array([prefix] if isinstance(prefix, str) else list(prefix))
        if shortlist:
            o.shortlist = self._engine.shortlist
        plain = n_best == 1 and not (details or attention)
        return await self._engine.waiting().translate(
            self._flatten([text]), o, seconds, lambda result: self._read(result, 0, plain, n_best, heads))

    @overload
    def score(self, src: Source, tgt: str,  # type: ignore[overload-overlap]
              **settings: Unpack[ScoreSettings]) -> Score: ...

    @overload
    def score(self, src: Iterable[Source], tgt: Iterable[str], **settings: Unpack[ScoreSettings]) -> list[Score]: ...

    def score(self, src: Source | Iterable[Source], tgt: str | Iterable[str], *, first_line: int = 0,
              batch_tokens: int | None = None, not_finite: NotFinite = "fail",
              progress: Progress | None = None) -> Any:
        """Scores tgt as a translation of src; returns a Score, or a list for lists.

        not_finite: as in translate; the logp of a marked pair is not finite. progress: as in translate,
        with numbers of pairs.
        """
        sentences, targets = _pairs(src, tgt)
        sources = self._flatten(sentences)
        o = options(structs.ScoreOptions)
        set_options(o, {"first_line": first_line, "batch_tokens": batch_tokens,
                        "not_finite": choice("not_finite", not_finite, _NOT_FINITE)})
        scores, caught = c_void_p(), Caught()
        o.progress = caught.progress(structs.PROGRESS, progress)
        with self._engine.session() as session:  # until all is read, since the tokens are lent by the model
            pairs = structs.Pairs(*text_array(sources), *text_array(targets), len(targets))
            try:
                caught.call("rela_score", byref(scores), session, byref(pairs), byref(o))
                found = [_read_score(scores, i) for i in range(len(targets))]
            finally:
                lib.rela_scores_free(scores)
        return found[0] if isinstance(src, (str, tuple)) else found

    def attention(self, src: Source, tgt: str) -> PairAttention:
        """All attention weights of a pair, with tgt teacher-forced."""
        sizes = self.shape
        texts = self._flatten([src])
        sources = [self._source_tokens(src, k) for k in range(sizes["sources"])]
        target = self.score(src, tgt).tokens
        n, number = len(target), ["" if len(sources) == 1 else str(k) for k in range(len(sources))]
        shapes = {f"encoder{number[k]}": (sizes["enc_layers"], len(s), len(s))
                  for k, s in enumerate(sources)}
        shapes["decoder"] = (sizes["dec_layers"], n, n)
        shapes |= {f"cross{number[k]}": (sizes["dec_layers"], n, len(s))
                   for k, s in enumerate(sources)}
        arrays = [np.zeros((layers, sizes["heads"], queries, keys), np.float32)
                  for layers, queries, keys in shapes.values()]

        def on_row(_ctx: Any, row: Any) -> None:
            r = row.contents
            if r.n:
                keys = np.ctypeslib.as_array(r.keys, (r.n,))
                arrays[r.stack][r.layer, r.head, r.query, keys] = np.ctypeslib.as_array(
                    r.weights, (r.n,))

        caught = Caught()
        with self._engine.session() as session:
            pairs = structs.Pairs(*text_array(texts), *text_array([tgt]), 1)
            caught.call("rela_attend", session, byref(pairs), caught.callback(structs.ON_ROW, on_row), None)
        return PairAttention(sources, target, dict(zip(shapes, arrays)))

    def _flatten(self, sentences: Sequence[Any]) -> list[str]:
        """All texts in one list, the sources of a sentence next to each other, as the library takes them."""
        n = self.shape["sources"]
        if n == 1:
            return [s[0] if isinstance(s, tuple) and len(s) == 1 else s for s in sentences]
        for s in sentences:
            if isinstance(s, str) or len(s) != n:
                raise ValueError(f"the model has {n} sources: a sentence is a tuple of {n} texts")
        return [text for s in sentences for text in s]

    @contextmanager
    def lent(self) -> Iterator[c_void_p]:
        """Lends the (first) model to other library calls; it stays open until the block ends."""
        with self._engine.used():
            yield self._engine.models[0]

    @contextmanager
    def _results(self, texts: list[str], n: int, o: Any, shortlist: bool = True,
                 progress: Progress | None = None) -> Iterator[c_void_p]:
        """Keeps the model while the result is read, since its tokens are lent by it."""
        result, caught = c_void_p(), Caught()
        o.progress = caught.progress(structs.PROGRESS, progress)
        with self._engine.session() as session:
            if shortlist:
                o.shortlist = self._engine.shortlist
            try:
                caught.call("rela_translate", byref(result), session, *text_array(texts), n, byref(o))
                yield result
            finally:
                lib.rela_result_free(result)

    def _read(self, result: c_void_p, i: int, plain: bool, n_best: int, heads: Any) -> Any:
        if plain:
            return _text(result, i, 0) if lib.rela_result_finite(result, i) else None
        ranks = range(lib.rela_result_n_best(result, i))
        found = [self._translation(result, i, rank, heads) for rank in ranks]
        return found if n_best > 1 else found[0]

    def _translation(self, result: c_void_p, i: int, rank: int, heads: Any) -> Translation:
        tokens = range(lib.rela_result_n_tokens(result, i, rank))
        found = Translation(
            text=_text(result, i, rank), score=lib.rela_result_score(result, i, rank),
            logp=lib.rela_result_logp(result, i, rank),
            tokens=[_str(lib.rela_result_token(result, i, rank, k)) for k in tokens],
            token_logps=[lib.rela_result_token_logp(result, i, rank, k) for k in tokens],
            source_tokens=_source(result, i))
        weights = lib.rela_result_attention(result, i, rank)
        if weights:
            sizes = self.shape
            shape = (len(tokens), sizes["dec_layers"], sizes["heads"], len(found.source_tokens))
            found.attention = np.ctypeslib.as_array(weights, shape).copy()
            found.links = _links(result, i, rank, heads)
        return found

    def _source_tokens(self, sentence: Source, source: int) -> list[str]:
        """Source tokens as score sees them, from the shortest possible translation."""
        o = options(structs.TranslateOptions)
        set_options(o, {"beam_size": 1, "max_factor": 0, "max_extra": 1,
                        "long_sentence": _LONG["cut"], "source": source})
        with self._results(self._flatten([sentence]), 1, o, shortlist=False) as result:
            return _source(result, 0)


def _settings(beam: int, n_best: int, attention: bool, not_finite: NotFinite, *, sample: bool = False,
              seed: int = 1, penalty: Penalty = "gnmt", unk: Unknown = "allow", long_sentence: LongSentence = "split",
              links: Links = "hard", layer: int | None = None, head: int | None = None, split: Split = "auto",
              src_lang: str | None = None, **numbers: Any) -> tuple[Any, Any, Any]:
    """Options of a translation and of its links, and what must outlive them."""
    o, heads = options(structs.TranslateOptions), options(structs.LinkOptions)
    whole = attention and split == "auto"
    alive = set_options(o, {
        "method": int(sample), "beam_size": beam, "n_best": n_best, "seed": seed,
        "penalty": choice("penalty", penalty, _PENALTY), "unk": choice("unk", unk, _UNK),
        "long_sentence": choice("long_sentence", long_sentence, _LONG),
        "not_finite": choice("not_finite", not_finite, _NOT_FINITE), "attention": int(attention),
        "split": choice("split", "never" if whole else split, _SPLIT), "src_language": src_lang, **numbers})
    set_options(heads, {"layer": layer, "head": head, "soft": choice("links", links, _LINKS)})
    return o, heads, alive


def _name(path: Any) -> str:
    return os.fsdecode(os.path.basename(path))


def _pairs(src: Source | Iterable[Source],
           tgt: str | Iterable[str]) -> tuple[list[Source], list[str]]:
    if isinstance(src, (str, tuple)) != isinstance(tgt, str):
        raise TypeError("src and tgt must both be texts or both be lists")
    sources: list[Any] = [src] if isinstance(tgt, str) else list(src)
    targets = [tgt] if isinstance(tgt, str) else list(tgt)
    if len(sources) != len(targets):
        raise ValueError(f"{len(sources)} sources, but {len(targets)} targets")
    return sources, targets


def _str(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _text(result: c_void_p, i: int, rank: int) -> str:
    length = lib.rela_result_text_len(result, i, rank)
    return _str(ctypes.string_at(lib.rela_result_text(result, i, rank), length))


def _source(result: c_void_p, i: int) -> list[str]:
    return [_str(lib.rela_result_source_token(result, i, k))
            for k in range(lib.rela_result_n_source(result, i))]


def _links(result: c_void_p, i: int, rank: int, heads: Any) -> list[Any]:
    buffer = structs.Buffer()
    try:
        call("rela_result_links", byref(buffer), result, i, rank, byref(heads))
        text = ctypes.string_at(buffer.data, buffer.len).decode() if buffer.data else ""
    finally:
        lib.rela_buffer_free(byref(buffer))
    pairs = [link.partition(":")[0].split("-") for link in text.split()]
    if heads.soft:
        weights = [float(link.partition(":")[2]) for link in text.split()]
        return [(int(a), int(b), w) for (a, b), w in zip(pairs, weights)]
    return [(int(a), int(b)) for a, b in pairs]


def _read_score(scores: c_void_p, i: int) -> Score:
    tokens = range(lib.rela_scores_n_tokens(scores, i))
    return Score(lib.rela_scores_logp(scores, i),
                 [_str(lib.rela_scores_token(scores, i, k)) for k in tokens],
                 [lib.rela_scores_token_logp(scores, i, k) for k in tokens])
