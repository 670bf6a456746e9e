# SPDX-License-Identifier: MIT
"""Loads the shared library, declares its functions and turns failures into exceptions."""
from __future__ import annotations

import ctypes
import os
import shutil
import sys
import threading
import weakref
from contextlib import contextmanager
from ctypes import (POINTER, byref, c_bool, c_char_p, c_double, c_float, c_int32, c_int64, c_size_t, c_uint32,
                    c_uint64, c_void_p)
from pathlib import Path
from typing import Any, Callable, Iterator

from . import _structs as structs

VERSION = (0, 2)
STATUS = {0: "OK", -1: "NOMEM", -2: "IO", -3: "FORMAT", -4: "ARG", -5: "STATE", -6: "UNSUP",
          -7: "CANCEL", -8: "CLOSED", -9: "NOTFINITE"}


class Error(Exception):
    """Raised by calls that fail. ``status`` is the name of the status ("FORMAT", "IO" ...), ``message``
    one line with the place and the reason. Each status has a subclass, which is also a subclass of the
    closest exception of Python."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.message)


class FileError(Error, OSError):
    """IO: a file cannot be read or written."""


class FormatError(Error, ValueError):
    """FORMAT: a file or text is malformed, or of the wrong kind."""


class ArgumentError(Error, ValueError):
    """ARG: an argument is out of range."""


class NoMemoryError(Error, MemoryError):
    """NOMEM: there is not enough memory."""


class StateError(Error, RuntimeError):
    """STATE: the call is not allowed in this state."""


class UnsupportedError(Error, NotImplementedError):
    """UNSUP: this build, machine or model cannot do it."""


class CancelledError(Error):
    """CANCEL: a callback has stopped the call."""


class ClosedError(Error, BrokenPipeError):
    """CLOSED: the reader of the output went away."""


class NotFiniteError(Error, ArithmeticError):
    """NOTFINITE: numbers of the model overflow for a text."""


_ERRORS = {"NOMEM": NoMemoryError, "IO": FileError, "FORMAT": FormatError, "ARG": ArgumentError,
           "STATE": StateError, "UNSUP": UnsupportedError, "CANCEL": CancelledError, "CLOSED": ClosedError,
           "NOTFINITE": NotFiniteError}


def _folders() -> Iterator[Path]:
    """Folders outside the search path of the loader: that of the package, then those of `make install`."""
    yield Path(__file__).parent
    program = shutil.which("rela")
    if program:
        prefix = Path(program).resolve().parent.parent
        yield from (prefix / "lib", prefix / "lib64", *sorted(prefix.glob("lib/*-linux-*")))
    yield Path(os.path.expanduser("~/.local/lib"))
    yield Path("/usr/local/lib")


def _places() -> Iterator[str]:
    """Where the library may be, in order of preference."""
    named = os.environ.get("RELA_LIBRARY")
    if named:
        yield named
        return
    name = f"librela.so.{VERSION[0]}.{VERSION[1]}"
    yield from (str(folder / name) for folder in _folders() if (folder / name).exists())
    yield name


def _open(place: str) -> ctypes.CDLL:
    library = ctypes.CDLL(place)
    library.rela_version.restype = c_uint32
    version = library.rela_version()
    if (version >> 16, version >> 8 & 255) != VERSION:
        raise OSError(f"{place}: version {version >> 16}.{version >> 8 & 255}; "
                      f"expected {VERSION[0]}.{VERSION[1]}")
    return library


def _load() -> ctypes.CDLL:
    reasons = []
    for place in _places():
        try:
            return _open(place)
        except (OSError, AttributeError) as e:
            reasons.append(str(e))
    raise ImportError("librela was not found: install it, or set RELA_LIBRARY to its path "
                      f"({'; '.join(reasons)})")


_TEXTS, _LENS = POINTER(c_char_p), POINTER(c_size_t)
_ERR = POINTER(structs.Error)
_OUT = POINTER(c_void_p)
_LINE = [POINTER(structs.Buffer), c_void_p, c_char_p, c_size_t]


def _p(struct: Any) -> Any:
    return POINTER(struct)


# Functions that return a status take the error as last argument; call() adds it.
_CALLS = {
    "rela_runtime_create": [_OUT, _p(structs.RuntimeOptions)],
    "rela_model_load_with": [_OUT, c_void_p, c_char_p, _p(structs.ModelOptions)],
    "rela_session_create_ensemble": [_OUT, POINTER(c_void_p), c_size_t],
    "rela_shortlist_load": [_OUT, c_void_p, c_char_p],
    "rela_translate": [_OUT, c_void_p, _TEXTS, _LENS, c_size_t, _p(structs.TranslateOptions)],
    "rela_async_create": [_OUT, POINTER(c_void_p), c_size_t, c_void_p],
    "rela_async_submit": [c_void_p, POINTER(c_uint64), _p(structs.AsyncRequest)],
    "rela_score": [_OUT, c_void_p, _p(structs.Pairs), _p(structs.ScoreOptions)],
    "rela_attend": [c_void_p, _p(structs.Pairs), structs.ON_ROW, c_void_p],
    "rela_result_links": [_p(structs.Buffer), c_void_p, c_size_t, c_size_t, _p(structs.LinkOptions)],
    "rela_train": [_p(structs.TrainOptions), structs.ON_EVENT, ctypes.c_void_p],
    "rela_model_shape_get": [_p(structs.ModelShape), c_void_p],
    "rela_attention_create": [_OUT, _p(structs.AttentionOptions)],
    "rela_attention_learned_get": [_p(structs.AttentionLearned), c_void_p],
    "rela_attention_forward": [_p(structs.AttentionOutput), c_void_p, _p(structs.AttentionInput)],
    "rela_attention_back": [_p(structs.AttentionGradient), c_void_p, _p(structs.AttentionInput)],
    "rela_tokeniser_create": [_OUT, _p(structs.TokeniserOptions)],
    "rela_tokenise": _LINE,
    "rela_detokeniser_create": [_OUT, _p(structs.DetokeniserOptions)],
    "rela_detokenise": _LINE,
    "rela_normaliser_create": [_OUT, _p(structs.NormaliserOptions)],
    "rela_normalise": _LINE,
    "rela_splitter_create": [_OUT, _p(structs.SplitterOptions)],
    "rela_word_counts_create": [_OUT],
    "rela_word_counts_add_file": [c_void_p, c_char_p, c_int32],
    "rela_word_counts_add_text": [c_void_p, c_char_p, c_size_t],
    "rela_bpe_learn": [_p(structs.Buffer), c_void_p, c_void_p, _p(structs.BpeLearnOptions)],
    "rela_bpe_parse": [_OUT, c_char_p, c_char_p, c_size_t, _p(structs.BpeOptions)],
    "rela_bpe_load": [_OUT, c_char_p, _p(structs.BpeOptions)],
    "rela_bpe_scratch_create": [_OUT, c_void_p],
    "rela_bpe_apply": [_p(structs.Buffer), c_void_p, c_char_p, c_size_t, c_uint64],
    "rela_bpe_undo": [_p(structs.Buffer), c_char_p, c_char_p, c_size_t],
    "rela_metric_create_bleu": [_OUT, _p(structs.BleuOptions)],
    "rela_metric_create_chrf": [_OUT, _p(structs.ChrfOptions)],
    "rela_metric_count": [c_void_p, c_void_p, _p(structs.Segment), c_size_t, c_int32],
    "rela_bleu_figures_get": [_p(structs.BleuFigures), c_void_p, c_void_p],
    "rela_metric_signature": [_p(structs.Buffer), c_void_p, _p(structs.Signature)],
    "rela_align": [_p(structs.AlignReport), c_void_p, _p(structs.AlignOptions), structs.ALIGNED, c_void_p],
    "rela_align_learn": [c_char_p, _p(structs.AlignLearnOptions)],
    "rela_model_info": [_p(structs.Buffer), c_char_p, _p(structs.ModelInfoOptions)],
    "rela_analyse": [_p(structs.Buffer), _p(structs.Buffer), _OUT, c_size_t, _p(structs.AnalyseOptions)],
    "rela_view": [_p(structs.Buffer), _OUT, c_size_t, _p(structs.ViewText), _p(structs.ViewOptions)],
    "rela_view_open": [_p(structs.Buffer), _p(structs.ViewImport)],
    "rela_filter": [_p(structs.FilterReport), c_void_p, _p(structs.FilterOptions)],
    "rela_shortlist_learn": [_p(structs.ShortlistReport), c_void_p, _p(structs.ShortlistOptions)],
    "rela_model_average": [c_char_p, _TEXTS, c_size_t, _p(structs.AverageOptions)],
    "rela_model_convert": [c_char_p, c_char_p, _p(structs.ConvertOptions)],
    "rela_word_counts_stats_get": [_p(structs.WordStats), c_void_p],
    "rela_word_counts_sort": [c_void_p, c_int32],
    "rela_vocab_build": [_OUT, _LENS, c_void_p, c_size_t, c_uint64],
    "rela_vocab_load": [_OUT, c_char_p],
    "rela_vocab_parse": [_OUT, c_char_p, c_char_p, c_size_t],
    "rela_vocab_import": [_OUT, c_char_p, c_int32],
    "rela_vocab_save": [c_void_p, c_char_p],
    "rela_vocab_write": [_p(structs.Buffer), c_void_p],
    "rela_links_parse": [_p(structs.Links), c_char_p, c_size_t, _p(structs.LinkFormat)],
    "rela_aer_figures_get": [_p(structs.AerFigures), c_void_p],
    "rela_bootstrap": [_p(structs.Interval), _p(structs.Scored), _p(structs.Resampling)],
    "rela_bootstrap_paired": [POINTER(c_double), _p(structs.Interval), _p(structs.Scored), _p(structs.Scored),
                              _p(structs.Resampling)],
    "rela_randomise_paired": [POINTER(c_double), _p(structs.Scored), _p(structs.Scored), _p(structs.Resampling)],
    "rela_corpus_check": [_p(structs.CorpusReport), _p(structs.CorpusStats), _p(structs.CorpusCheckOptions)],
    "rela_corpus_stats_json": [_p(structs.Buffer), _p(structs.CorpusReport), _p(structs.CorpusStats)],
}
_RESULT = [c_void_p, c_size_t, c_size_t]
_GETTERS = {
    "rela_result_n_best": (c_size_t, [c_void_p, c_size_t]),
    "rela_result_finite": (c_bool, [c_void_p, c_size_t]),
    "rela_result_text": (c_void_p, _RESULT),
    "rela_result_text_len": (c_size_t, _RESULT),
    "rela_result_score": (c_double, _RESULT),
    "rela_result_logp": (c_double, _RESULT),
    "rela_result_n_tokens": (c_size_t, _RESULT),
    "rela_result_token": (c_char_p, _RESULT + [c_size_t]),
    "rela_result_token_logp": (c_double, _RESULT + [c_size_t]),
    "rela_result_n_source": (c_size_t, [c_void_p, c_size_t]),
    "rela_result_source_token": (c_char_p, _RESULT),
    "rela_result_attention": (POINTER(c_float), _RESULT),
    "rela_scores_logp": (c_double, [c_void_p, c_size_t]),
    "rela_scores_n_tokens": (c_size_t, [c_void_p, c_size_t]),
    "rela_scores_token": (c_char_p, _RESULT),
    "rela_scores_token_logp": (c_double, _RESULT),
    "rela_attention_name": (c_char_p, [c_size_t]),
    "rela_attention_summary": (c_char_p, [c_size_t]),
    "rela_runtime_destroy": (None, [c_void_p]),
    "rela_model_free": (None, [c_void_p]),
    "rela_session_destroy": (None, [c_void_p]),
    "rela_shortlist_free": (None, [c_void_p]),
    "rela_result_free": (None, [c_void_p]),
    "rela_scores_free": (None, [c_void_p]),
    "rela_async_cancel": (None, [c_void_p, c_uint64]),
    "rela_async_destroy": (None, [c_void_p]),
    "rela_attention_destroy": (None, [c_void_p]),
    "rela_buffer_free": (None, [_p(structs.Buffer)]),
    "rela_tokeniser_patterns": (POINTER(c_char_p), [POINTER(c_size_t), c_char_p]),
    "rela_split_next": (c_bool, [_p(structs.Sentence), POINTER(c_size_t), c_void_p, c_char_p, c_size_t]),
    "rela_tokeniser_destroy": (None, [c_void_p]),
    "rela_detokeniser_destroy": (None, [c_void_p]),
    "rela_normaliser_destroy": (None, [c_void_p]),
    "rela_splitter_destroy": (None, [c_void_p]),
    "rela_word_counts_destroy": (None, [c_void_p]),
    "rela_bpe_free": (None, [c_void_p]),
    "rela_bpe_n_merges": (c_size_t, [c_void_p]),
    "rela_bpe_scratch_destroy": (None, [c_void_p]),
    "rela_metric_destroy": (None, [c_void_p]),
    "rela_metric_n_stats": (c_size_t, [c_void_p]),
    "rela_metric_name": (c_char_p, [c_void_p]),
    "rela_metric_score": (c_double, [c_void_p, c_void_p]),
    "rela_filter_reason_key": (c_char_p, [c_int32]),
    "rela_model_is_pair": (c_int32, [c_char_p]),
    "rela_word_counts_get": (c_void_p, [c_void_p, c_size_t, _LENS, POINTER(c_uint64)]),
    "rela_vocab_free": (None, [c_void_p]),
    "rela_vocab_size": (c_size_t, [c_void_p]),
    "rela_vocab_token": (c_char_p, [c_void_p, c_int32]),
    "rela_vocab_id": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "rela_links_free": (None, [_p(structs.Links)]),
    "rela_aer_count": (None, [c_void_p, _p(structs.Links), _p(structs.Links)]),
    "rela_aer_score_fn": (c_double, [c_void_p, c_void_p]),
    "rela_metric_score_fn": (c_double, [c_void_p, c_void_p]),
}

lib = _load()
for _name, _arguments in _CALLS.items():
    getattr(lib, _name).argtypes = _arguments + [_ERR]
    getattr(lib, _name).restype = c_int32
for _name, (_restype, _arguments) in _GETTERS.items():
    getattr(lib, _name).argtypes = _arguments
    getattr(lib, _name).restype = _restype


def error(status: str, message: str) -> Error:
    return _ERRORS.get(status, Error)(status, message)


def call(name: str, *arguments: Any) -> None:
    """Calls a function that returns a status; raises Error if it fails."""
    err = structs.Error()
    status = getattr(lib, name)(*arguments, ctypes.byref(err))
    if status:
        key = STATUS.get(status, str(status))
        raise error(key, err.message.decode("utf-8", "replace"))


def options(struct: Any) -> Any:
    """A struct of options with the library's defaults."""
    o = struct()
    init = getattr(lib, struct.INIT)
    init.argtypes, init.restype = [POINTER(struct), c_size_t], None
    init(ctypes.byref(o), ctypes.sizeof(o))
    return o


def set_options(o: Any, values: dict[str, Any]) -> list[bytes]:
    """Sets members from Python values; None keeps the default. Returns objects that must outlive o."""
    types = dict(o._fields_)
    alive = []
    for name, value in values.items():
        if name not in types or name == "struct_size":
            raise TypeError(f"unknown option '{name}'")
        if value is None:
            continue
        if types[name] is c_char_p:
            value = os.fsencode(value)
            if b"\0" in value:
                raise ValueError(f"{name}: NUL byte")
            alive.append(value)
        elif types[name] in (c_int32, c_int64, c_uint64, c_size_t):
            value = _integer(name, value, types[name])
        elif types[name] is c_double:
            value = float(value)
        setattr(o, name, value)
    return alive


def _integer(name: str, value: Any, kind: Any) -> int:
    """Checks the range, since ctypes silently truncates."""
    number = value.__index__()
    if kind(number).value != number:
        raise ValueError(f"{name}: {number} is out of range")
    return number


def text_array(texts: list[str]) -> tuple[Any, Any]:
    """Texts as the library takes them: UTF-8 with lengths. Lone surrogates become '?'."""
    for t in texts:
        if not isinstance(t, str):
            raise TypeError(f"expected a text (str), got {type(t).__name__}: {t!r:.40}")
    coded = [t.encode("utf-8", "replace") for t in texts]
    return (c_char_p * len(coded))(*coded), (c_size_t * len(coded))(*map(len, coded))


class Handle:
    """Owns an object of the library and destroys it. It cannot be copied."""

    def __init__(self, create: str, destroy: str, *arguments: Any) -> None:
        self.value = c_void_p()
        self._destroy = getattr(lib, destroy)
        call(create, byref(self.value), *arguments)

    def __reduce__(self) -> Any:
        raise TypeError("an object of the library cannot be copied or pickled")

    def __del__(self) -> None:
        if getattr(self, "value", None):
            self._destroy(self.value)


def appended(name: str, *arguments: Any, through: Callable[..., None] = call) -> str:
    """Calls a function that appends to a buffer and returns its text; None stands for the buffer."""
    buffer = structs.Buffer()
    try:
        through(name, *(byref(buffer) if a is None else a for a in arguments))
        return ctypes.string_at(buffer.data, buffer.len).decode("utf-8", "replace") if buffer.len else ""
    finally:
        lib.rela_buffer_free(byref(buffer))


def choice(name: str, value: str, values: dict[str, int]) -> int:
    if value not in values:
        raise ValueError(f"{name} '{value}' is not one of {', '.join(values)}")
    return values[value]


class Caught:
    """Keeps an exception of a callback, or of a signal handler such as Control-C, and raises it after
    the call, since exceptions cannot pass through C."""

    STOP = 1  #: what stops the library, in every kind of callback

    def __init__(self) -> None:
        self.exception: BaseException | None = None

    def callback(self, kind: Any, function: Callable[..., int | None]) -> Any:
        """A callback for the library. function returns what the library gets; None: 0, go on."""

        def run(*arguments: Any) -> int:
            if self.exception is None:
                try:
                    return function(*arguments) or 0
                except BaseException as e:
                    self.exception = e
            return self.STOP

        return kind(run)

    def progress(self, kind: Any, function: Callable[[int, int], Any] | None = None) -> Any:
        """A callback (context, done, total) that calls function, and in any case lets Control-C through."""

        def run(_ctx: Any, *numbers: int) -> None:
            if function is not None:
                function(*numbers)

        return self.callback(kind, run)

    def call(self, name: str, *arguments: Any) -> None:
        with self._signals():
            try:
                call(name, *arguments)
            except Error:
                if self.exception is None:
                    raise
        if self.exception is not None:
            raise self.exception

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Python runs signal handlers when a callback starts, before its first line: what they raise is
        in no frame of ours, and ctypes would only print it."""
        thread, before = threading.get_ident(), sys.unraisablehook
        if thread != threading.main_thread().ident:  # where no handlers run
            yield
            return

        def hook(unraisable: Any) -> None:
            if threading.get_ident() == thread and "ctypes callback" in (unraisable.err_msg or ""):
                self.exception = unraisable.exc_value
            else:
                before(unraisable)

        sys.unraisablehook = hook
        try:
            yield
        finally:
            sys.unraisablehook = before


_shared: weakref.WeakSet[Any] = weakref.WeakSet()


def share(thing: Any) -> None:
    """Its method after_fork is called in every child of fork: locks of threads that do not exist there
    would never be released."""
    _shared.add(thing)


def _after_fork() -> None:
    for thing in _shared:
        thing.after_fork()


os.register_at_fork(after_in_child=_after_fork)
