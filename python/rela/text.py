# SPDX-License-Identifier: MIT
"""Text processing as in the Moses tools, and sentence splitting."""
from __future__ import annotations

from ctypes import byref, c_char_p, c_size_t
from functools import lru_cache
from typing import Any, Callable, Iterable, Literal, Sequence, TypeVar, Union, overload

from . import _structs as structs
from ._library import Handle, appended, choice, lib, options, set_options

_FORM = {"as-is": 0, "nfc": 1, "nfkc": 2}
Form = Literal["as-is", "nfc", "nfkc"]
Lines = Union[str, Iterable[str]]
_Found = TypeVar("_Found")


@overload
def tokenise(text: str, language: str = "en", **settings: Any) -> str: ...  # type: ignore[overload-overlap]


@overload
def tokenise(text: Iterable[str], language: str = "en", **settings: Any) -> list[str]: ...


def tokenise(text: Lines, language: str = "en", *, escape: bool = True, aggressive_dash: bool = False,
             lowercase: bool = False, protect: str | Sequence[str] = ()) -> Any:
    """Tokenises a line, or each line of a list; tokens are separated by single spaces.

    escape: write & | < > ' " [ ] as entities. protect: regular expressions (PCRE2) of text to keep as
    one token, or the name of a built-in set, "web" or "basic".
    """
    patterns = _patterns(protect) if isinstance(protect, str) else tuple(protect)
    t = _tokeniser(language, not escape, aggressive_dash, lowercase, patterns)
    return each(text, lambda line: appended("rela_tokenise", None, t.value, line, len(line)))


@overload
def detokenise(text: str, language: str = "en", **settings: Any) -> str: ...  # type: ignore[overload-overlap]


@overload
def detokenise(text: Iterable[str], language: str = "en", **settings: Any) -> list[str]: ...


def detokenise(text: Lines, language: str = "en", *, unescape: bool = True) -> Any:
    """Joins the tokens of a line, or of each line of a list, into running text."""
    d = _detokeniser(language, not unescape)
    return each(text, lambda line: appended("rela_detokenise", None, d.value, line, len(line)))


@overload
def normalise(text: str, language: str = "en", **settings: Any) -> str: ...  # type: ignore[overload-overlap]


@overload
def normalise(text: Iterable[str], language: str = "en", **settings: Any) -> list[str]: ...


def normalise(text: Lines, language: str = "en", *, form: Form = "as-is", **settings: bool) -> Any:
    """Normalises quotes, dashes and spaces of a line, or of each line of a list.

    form: Unicode normal form, "as-is", "nfc" or "nfkc"; settings: other members of
    rela_normaliser_options.
    """
    n = _normaliser(language, choice("form", form, _FORM), tuple(sorted(settings.items())))
    return each(text, lambda line: appended("rela_normalise", None, n.value, line, len(line)))


@overload
def split(text: str, language: str = "en") -> list[str]: ...  # type: ignore[overload-overlap]


@overload
def split(text: Iterable[str], language: str = "en") -> list[list[str]]: ...


def split(text: Lines, language: str = "en") -> Any:
    """Splits a text into a list of sentences; a list of texts gives a list of lists."""
    s = _splitter(language)
    return each(text, lambda line: _sentences(s, line))


def each(text: Lines, change: Callable[[bytes], _Found]) -> _Found | list[_Found]:
    """Applies change to a text, or to each text of a list."""
    single = isinstance(text, str)
    found = [change(line.encode("utf-8", "replace")) for line in ([text] if single else text)]
    return found[0] if single else found


def strings(texts: Sequence[str]) -> Any:
    return (c_char_p * len(texts))(*[t.encode("utf-8", "replace") for t in texts])


def _patterns(name: str) -> tuple[str, ...]:
    n = c_size_t()
    found = lib.rela_tokeniser_patterns(byref(n), name.encode("utf-8", "replace"))
    if not n.value:
        raise ValueError(f"protect '{name}' is not one of web, basic; a list has patterns")
    return tuple(found[i].decode() for i in range(n.value))


# Cached, since creating these objects compiles regular expressions. They are immutable and thread-safe.
@lru_cache(maxsize=16)
def _tokeniser(language: str, no_escape: bool, aggressive_dash: bool, lowercase: bool,
               protect: tuple[str, ...]) -> Handle:
    o = options(structs.TokeniserOptions)
    _alive = set_options(o, {"language": language, "no_escape": no_escape,
                             "aggressive_dash": aggressive_dash, "lowercase": lowercase})
    o.protect, o.n_protect = strings(protect), len(protect)
    return Handle("rela_tokeniser_create", "rela_tokeniser_destroy", byref(o))


@lru_cache(maxsize=16)
def _detokeniser(language: str, no_unescape: bool) -> Handle:
    o = options(structs.DetokeniserOptions)
    _alive = set_options(o, {"language": language, "no_unescape": no_unescape})
    return Handle("rela_detokeniser_create", "rela_detokeniser_destroy", byref(o))


@lru_cache(maxsize=16)
def _normaliser(language: str, form: int, settings: tuple[tuple[str, bool], ...]) -> Handle:
    o = options(structs.NormaliserOptions)
    _alive = set_options(o, dict(settings) | {"language": language, "form": form})
    return Handle("rela_normaliser_create", "rela_normaliser_destroy", byref(o))


@lru_cache(maxsize=16)
def _splitter(language: str) -> Handle:
    o = options(structs.SplitterOptions)
    _alive = set_options(o, {"language": language})
    return Handle("rela_splitter_create", "rela_splitter_destroy", byref(o))


def _sentences(splitter: Handle, text: bytes) -> list[str]:
    at, sentence, found = c_size_t(), structs.Sentence(), []
    while lib.rela_split_next(byref(sentence), byref(at), splitter.value, text, len(text)):
        found.append(text[sentence.begin:sentence.end].decode("utf-8", "replace"))
    return found
