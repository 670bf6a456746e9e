# SPDX-License-Identifier: MIT
"""Word counts and vocabularies, as ``rela vocab`` makes them.

    rela.vocab.count(["the old house", "the dog"])     # {"the": 2, "old": 1, "house": 1, "dog": 1}
    vocabulary = rela.vocab.build("train.bpe.en", size=32000)
    vocabulary.save("vocab"); vocabulary = rela.vocab.load("vocab")
"""
from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_size_t, c_uint64, sizeof
from typing import Any, Iterator, Literal, Sequence, Union

from . import _structs as structs
from ._library import Handle, appended, call, choice, lib

Path = Union[str, "os.PathLike[str]"]
_TOOLS = {"marian": 0, "fairseq": 1, "opennmt": 2, "joeynmt": 3}
Format = Literal["rela", "marian", "fairseq", "opennmt", "joeynmt"]


class Vocab:
    """Tokens by id: ``<pad>``, ``<unk>`` and ``<eos>``, then those of the text. Immutable."""

    def __init__(self, create: str, *arguments: Any) -> None:
        self._vocab = Handle(create, "rela_vocab_free", *arguments)

    def __len__(self) -> int:
        return lib.rela_vocab_size(self._vocab.value)

    def __getitem__(self, i: int) -> str:
        """The token with an id."""
        if not 0 <= i < len(self):
            raise IndexError(f"no token {i}; the vocabulary has {len(self)}")
        return lib.rela_vocab_token(self._vocab.value, i).decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _parse, (appended("rela_vocab_write", None, self._vocab.value),)

    def __repr__(self) -> str:
        return f"<rela.vocab.Vocab: {len(self)} tokens>"

    def id(self, token: str) -> int:
        """The id of a token of running text; that of ``<unk>`` if it is not in the vocabulary."""
        coded = token.encode("utf-8", "replace")
        return lib.rela_vocab_id(self._vocab.value, coded, len(coded))

    def save(self, path: Path) -> None:
        call("rela_vocab_save", self._vocab.value, os.fsencode(path))


def count(text: Path | Sequence[str], *, threads: int = 0) -> dict[str, int]:
    """Counts the space-separated words of a file (a path) or of a list of lines; the most frequent first,
    those with the same count in order of first occurrence."""
    counts = word_counts(text, threads)
    stats = structs.WordStats(struct_size=sizeof(structs.WordStats))
    call("rela_word_counts_stats_get", byref(stats), counts.value)
    call("rela_word_counts_sort", counts.value, 0)
    length, number, found = c_size_t(), c_uint64(), {}
    for rank in range(stats.n_types):
        word = lib.rela_word_counts_get(counts.value, rank, byref(length), byref(number))
        found[ctypes.string_at(word, length.value).decode("utf-8", "replace")] = number.value
    return found


def build(text: Path | Sequence[str], size: int = 0, *, min_frequency: int = 1, threads: int = 0) -> Vocab:
    """Makes the vocabulary of a text, which is split into subwords already: the most frequent tokens, at
    most size of them with the special ones (0: all), that occur min_frequency times or more."""
    counts = word_counts(text, threads)
    return Vocab("rela_vocab_build", None, counts.value, size, min_frequency)


def load(path: Path, format: Format = "rela") -> Vocab:
    """Reads a vocabulary, of rela or of another tool; the special tokens of that are replaced by ours, so
    ids change."""
    if format == "rela":
        return Vocab("rela_vocab_load", os.fsencode(path))
    return Vocab("rela_vocab_import", os.fsencode(path), choice("format", format, _TOOLS))


def word_counts(text: Path | Sequence[str], threads: int) -> Handle:
    """Counts for other functions of the library."""
    counts = Handle("rela_word_counts_create", "rela_word_counts_destroy")
    if isinstance(text, (str, os.PathLike)):
        call("rela_word_counts_add_file", counts.value, os.fsencode(text), threads)
    else:
        coded = "".join(line + "\n" for line in text).encode("utf-8", "replace")
        call("rela_word_counts_add_text", counts.value, coded, len(coded))
    return counts


def _parse(text: str) -> Vocab:
    coded = text.encode("utf-8", "replace")
    return Vocab("rela_vocab_parse", b"vocabulary", coded, len(coded))
