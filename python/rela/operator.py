# SPDX-License-Identifier: MIT
"""Attention as an operator on NumPy arrays: any kind, forward and backward."""
from __future__ import annotations

import ctypes
import threading
from ctypes import byref
from dataclasses import dataclass
from functools import partial
from typing import Any, Iterator, Literal, Sequence, overload

import numpy as np

from . import _structs as structs
from ._library import Handle, call, lib, options, set_options, share


def kinds() -> dict[str, str]:
    """The kinds of attention, each with a one-line summary."""

    def walk() -> Iterator[tuple[str, str]]:
        i = 0
        while (name := lib.rela_attention_name(i)) is not None:
            yield name.decode(), lib.rela_attention_summary(i).decode()
            i += 1

    return dict(walk())


@dataclass
class Learned:
    """The learned parameters of a kind: how many of each sort (0: none), and their initial values.

    An initial value of None means random, uniform on +-sqrt(3 / d) with the width d of what is
    normed together: of all heads, with norm_per_head of one."""

    gain: int
    gate: int
    head: int
    gain_start: float | None
    gate_start: float | None
    head_start: float


class Attention:
    """An attention operator, to be created once and called often; the library allocates its memory
    on creation, not in calls.

    kind        one of kinds()
    max_length  maximum number of keys in a sequence
    causal      query i attends only to keys 0 .. i
    settings    other members of rela_attention_options: norm_per_head, epsilon, dropout, slope,
                alpha, fuse, top, window, stride

    Arrays are float32 of shape (batch, length, d) or (length, d), d = heads * head_width. Threads
    may share an operator; their calls are serialised.
    """

    def __init__(self, heads: int, head_width: int, kind: str = "rela-g", *,
                 max_length: int = 1024, causal: bool = False, threads: int = 0,
                 **settings: Any) -> None:
        self.heads, self.d, self.kind, self.max_length = heads, heads * head_width, kind, max_length
        self.causal, self.settings = causal, settings
        self._arguments = {"heads": heads, "head_width": head_width, "kind": kind,
                           "max_length": max_length, "causal": causal, "threads": threads} | settings
        self._create()
        share(self)
        learned = structs.AttentionLearned(struct_size=ctypes.sizeof(structs.AttentionLearned))
        call("rela_attention_learned_get", byref(learned), self._handle)
        self.learned = Learned(learned.gain, learned.gate, learned.head,
                               None if learned.random_gain else learned.gain_start,
                               None if learned.random_gate else 1.0, learned.head_start)

    def after_fork(self) -> None:
        """What another thread was using is left alone."""
        if self._lock.locked():
            self._create()

    def _create(self) -> None:
        o, values = options(structs.AttentionOptions), dict(self._arguments)
        values["n_threads"], values["causal"] = values.pop("threads"), int(self.causal)
        _alive = set_options(o, values)
        self._operator = Handle("rela_attention_create", "rela_attention_destroy", byref(o))
        self._handle, self._lock = self._operator.value, threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Attention, **self._arguments), ()

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._arguments.items())
        return f"rela.Attention({given})"

    @overload
    def forward(self, q: Any, k: Any, v: Any, *, weights: Literal[False] = False, mixed: Literal[False] = False,
                **settings: Any) -> np.ndarray: ...

    @overload
    def forward(self, q: Any, k: Any, v: Any, *, weights: bool = False, mixed: bool = False, **settings: Any
                ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]: ...

    def forward(self, q: Any, k: Any, v: Any, *, gain: Any = None, gate: Any = None,
                head: Any = None, q_lengths: Sequence[int] | None = None,
                k_lengths: Sequence[int] | None = None, seed: int = 0, training: bool = False,
                weights: bool = False, mixed: bool = False) -> Any:
        """Returns y, shaped like q; with weights or mixed a tuple (y, weights, mixed).

        weights is (batch, heads, queries, keys); mixed is the weighted sum of values before the norm,
        which saves backward some work; each is None unless requested. gain and gate default to 1,
        head to the initial value of the kind. q_lengths and k_lengths: number of valid rows of each
        sequence.
        """
        call_ = _Call(self, q, k, v, gain, gate, head, q_lengths, k_lengths, seed, training)
        y = np.empty_like(call_.q)
        kept = np.empty_like(y) if mixed else None
        shown = np.empty((*call_.q.shape[:1], self.heads, call_.q.shape[1], call_.k.shape[1]),
                         np.float32) if weights else None
        o = options(structs.AttentionOutput)
        o.y, o.mixed, o.weights = _at(y), _at(kept), _at(shown)
        with self._lock:
            call("rela_attention_forward", byref(o), self._handle, byref(call_.struct))
        if not (weights or mixed):
            return call_.shaped(y)
        return call_.shaped(y), call_.shaped(shown), call_.shaped(kept)

    def backward(self, dy: Any, q: Any, k: Any, v: Any, *, gain: Any = None, gate: Any = None,
                 head: Any = None, q_lengths: Sequence[int] | None = None,
                 k_lengths: Sequence[int] | None = None, seed: int = 0, training: bool = False,
                 mixed: Any = None) -> dict[str, np.ndarray]:
        """Returns gradients by name ("q", "k", "v", and those of "gain", "gate", "head" that the kind
        has), given the gradient dy of the result. The other arguments are those of forward."""
        call_ = _Call(self, q, k, v, gain, gate, head, q_lengths, k_lengths, seed, training)
        above = _floats("dy", dy, call_.q.shape)
        kept = None if mixed is None else _floats("mixed", mixed, call_.q.shape)
        found = {name: np.empty_like(x) for name, x in (("q", call_.q), ("k", call_.k),
                                                        ("v", call_.v))}
        found |= {name: np.zeros_like(x) for name, x in call_.learned.items()}
        g = options(structs.AttentionGradient)
        g.dy, g.mixed = _at(above), _at(kept)
        for name, x in found.items():
            setattr(g, "d" + name, _at(x))
        with self._lock:
            call("rela_attention_back", byref(g), self._handle, byref(call_.struct))
        return {name: call_.shaped(x) if name in "qkv" else x for name, x in found.items()}


@overload
def attention(q: Any, k: Any, v: Any, kind: str = "rela-g", heads: int = 1, *,
              return_weights: Literal[False] = False, **settings: Any) -> np.ndarray: ...


@overload
def attention(q: Any, k: Any, v: Any, kind: str = "rela-g", heads: int = 1, *, return_weights: Literal[True],
              **settings: Any) -> tuple[np.ndarray, np.ndarray]: ...


def attention(q: Any, k: Any, v: Any, kind: str = "rela-g", heads: int = 1, *,
              gain: Any = None, gate: Any = None, head: Any = None, causal: bool = False,
              q_lengths: Sequence[int] | None = None, k_lengths: Sequence[int] | None = None,
              return_weights: bool = False, threads: int = 0, **settings: Any) -> Any:
    """Attention of any kind on arrays (length, d) or (batch, length, d).

    Returns the result, or with return_weights a tuple of it and the weights (batch, heads, queries,
    keys). k_lengths masks keys after the end of each sequence. See Attention for the settings, and
    use it directly if the operator is called often or if gradients are needed.
    """
    width = np.shape(q)[-1] if np.ndim(q) else 0
    if heads < 1 or width % heads:
        raise ValueError(f"{heads} heads do not divide a width of {width}")
    longest = max(1, np.shape(k)[-2] if np.ndim(k) > 1 else 1)
    op = Attention(heads, width // heads, kind, max_length=longest, causal=causal, threads=threads,
                   **settings)
    found = op.forward(q, k, v, gain=gain, gate=gate, head=head, q_lengths=q_lengths,
                       k_lengths=k_lengths, weights=return_weights)
    return found[:2] if return_weights else found


class _Call:
    """Checks the arguments of a call and keeps them alive for the struct."""

    def __init__(self, op: Attention, q: Any, k: Any, v: Any, gain: Any, gate: Any, head: Any,
                 q_lengths: Any, k_lengths: Any, seed: int, training: bool) -> None:
        self._flat = np.ndim(q) == 2
        self.q, self.k, self.v = (self._rows(n, x, op.d) for n, x in (("q", q), ("k", k), ("v", v)))
        if self.k.shape != self.v.shape or len(self.k) != len(self.q):
            raise ValueError(f"shapes of q, k and v do not fit: {self.q.shape}, {self.k.shape}, "
                             f"{self.v.shape}")
        sizes = op.learned
        given = [("gain", gain, sizes.gain, 1.0), ("gate", gate, sizes.gate, 1.0),
                 ("head", head, sizes.head, sizes.head_start)]
        self.learned = {n: _floats(n, np.full(size, start) if x is None else np.ravel(x), (size,))
                        for n, x, size, start in given if size}
        self._lengths = [_lengths("q_lengths", q_lengths, self.q), _lengths("k_lengths", k_lengths,
                                                                            self.k)]
        s = self.struct = options(structs.AttentionInput)
        # A step of 0 would mean packed sequences; without rows there is nothing to compute.
        s.n = len(self.q) if self.q.shape[1] else 0
        s.q_step, s.k_step = self.q.shape[1], max(1, self.k.shape[1])
        s.q_lens, s.k_lens = (_at(x) for x in self._lengths)
        s.q, s.k, s.v = _at(self.q), _at(self.k), _at(self.v)
        for name, x in self.learned.items():
            setattr(s, name, _at(x))
        s.seed, s.training = seed, int(training)

    def _rows(self, name: str, x: Any, d: int) -> np.ndarray:
        x = np.asarray(x)
        if x.ndim != (2 if self._flat else 3) or x.shape[-1] != d:
            raise ValueError(f"{name} has shape {x.shape}; expected (length, {d}) or "
                             f"(batch, length, {d}), all alike")
        return np.ascontiguousarray(x[None] if self._flat else x, np.float32)

    def shaped(self, x: np.ndarray | None) -> np.ndarray | None:
        return x if x is None or not self._flat else x[0]


def _floats(name: str, x: Any, shape: tuple[int, ...]) -> np.ndarray:
    x = np.ascontiguousarray(x, np.float32)
    if x.size != np.prod(shape, dtype=int):
        raise ValueError(f"{name} has {x.size} numbers; expected shape {shape}")
    return x.reshape(shape)


def _lengths(name: str, lengths: Any, rows: np.ndarray) -> np.ndarray | None:
    if lengths is None:
        if rows.shape[1]:
            return None
        lengths = np.zeros(len(rows))  # since k_step is then 1
    x = np.ravel(np.asarray(lengths))
    if len(x) != len(rows) or (len(x) and (x.min() < 0 or x.max() > rows.shape[1])):
        raise ValueError(f"{name}: expected {len(rows)} numbers from 0 to {rows.shape[1]}")
    return np.ascontiguousarray(x, np.uint32)


def _at(x: np.ndarray | None) -> int | None:
    return None if x is None else x.ctypes.data
