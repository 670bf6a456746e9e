# SPDX-License-Identifier: MIT
"""Attention with arbitrary masks in PyTorch, for masks that the operator of the library does not support.

Also for what the operator does not differentiate: weights, in float64, and a second time. Formulas are those of
docs/attention.md. Scores are (batch, heads, queries, keys); ``visible`` has the same shape. Thresholds are found
without gradient, then refined by Newton steps with gradient, which leave the value unchanged: one gives the
gradient of the implicit function theorem, the next its derivative.
"""
from __future__ import annotations

import math
from typing import Any, Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from . import _structs as structs
from ._library import options, set_options

_RMS = {"relu-rms", "rela-i"}
_GATED = {"rela-g", "rela-g-ln", "gelu-g", "leaky-g", "relu2-g", "rela-t", "rela-tl"}
_STEPS = 60  # bisections of an interval no wider than 1 / (alpha - 1)
_NEWTON = 2  # steps: for two derivatives
_SETTINGS = {"epsilon": "epsilon", "slope": "slope", "alpha": "alpha", "top": "k", "window": "window", "stride": "stride"}


def attend(kind: str, settings: dict[str, Any], heads: int, arrays: tuple[Tensor | None, ...], visible: Tensor,
           bias: Tensor | None, dropout: float) -> tuple[Tensor, Tensor]:
    """Returns (batch, queries, d) and the weights before dropout. arrays: q, k, v, gain, gate, head."""
    name, numbers = _parse(kind, settings)
    v, (gain, gate, head) = _heads(arrays[2], heads), arrays[3:]
    w = weigh(kind, settings, heads, (arrays[0], arrays[1], head), visible, bias)
    z = (F.dropout(w, dropout) @ v).transpose(1, 2)
    z = z if settings.get("norm_per_head") else z.flatten(-2)
    return _norm(name, numbers["epsilon"], z, gain, gate).flatten(2), w


def weigh(kind: str, settings: dict[str, Any], heads: int, arrays: tuple[Tensor | None, ...], visible: Tensor,
          bias: Tensor | None = None) -> Tensor:
    """The weights. arrays: q, k, head."""
    name, numbers = _parse(kind, settings)
    q, k = (_heads(x, heads) for x in arrays[:2])
    head = arrays[2]
    if name == "linear":
        if bias is not None:
            raise ValueError("linear attention has no scores that a mask could be added to")
        s = (F.elu(q) + 1) @ (F.elu(k) + 1).transpose(-1, -2)
    else:
        s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        s = s if bias is None else s + bias
    return _WEIGH[name](s, visible, numbers, None if head is None else head.reshape(1, heads, 1, 1))


def supports(kind: str) -> bool:
    return kind.partition(":")[0] in _WEIGH


def _heads(x: Tensor, heads: int) -> Tensor:
    """(batch, rows, d) as (batch, heads, rows, head width)"""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def _parse(kind: str, settings: dict[str, Any]) -> tuple[str, dict[str, float]]:
    """The name of a kind and its parameters, from its text (entmax:alpha=1.3) or else from settings."""
    name, *given = kind.split(":")
    if not supports(kind):
        raise ValueError(f"kind '{kind}' takes padding masks and the causal mask only")
    o = options(structs.AttentionOptions)
    set_options(o, {n: x for n, x in settings.items() if n in _SETTINGS})
    numbers = {own: getattr(o, n) for n, own in _SETTINGS.items()}
    return name, numbers | {n: float(x) for n, _, x in (number.partition("=") for number in given)}


def _softmax(s: Tensor, visible: Tensor) -> Tensor:
    """Rows without visible keys are 0."""
    s = s.masked_fill(~visible, -math.inf)
    most = s.detach().amax(-1, keepdim=True)
    e = torch.exp(s - most.masked_fill(most == -math.inf, 0))
    return e / e.sum(-1, keepdim=True).clamp_min(torch.finfo(s.dtype).tiny)


def _entmax(s: Tensor, visible: Tensor, alpha: Any) -> Tensor:
    """[1 + b (s - c)]+ ^ (1/b) with b = alpha - 1 and c such that a row sums to 1."""
    b = alpha - 1
    some = visible.any(-1, keepdim=True)

    def weights(c: Tensor) -> Tensor:
        x = (1 + b * (s - c)).masked_fill(~visible, 0)
        positive = x > 0
        return torch.where(positive, x, torch.ones_like(x)) ** (1 / b) * positive

    with torch.no_grad():
        low = s.masked_fill(~visible, -math.inf).amax(-1, keepdim=True)
        low = low.masked_fill(~some, 0)
        high = low + 1 / b
        for _ in range(_STEPS):
            c = (low + high) / 2
            above = weights(c).sum(-1, keepdim=True) > 1
            low, high = torch.where(above, c, low), torch.where(above, high, c)
    for _ in range(_NEWTON):
        w = weights(c)
        slope = torch.where(w > 0, torch.where(w > 0, w, torch.ones_like(w)) ** (1 - b), 0 * w).sum(-1, keepdim=True)
        c = c + (w.sum(-1, keepdim=True) - 1) / slope.masked_fill(~some, 1)
    return weights(c).masked_fill(~some, 0)


def _largest(s: Tensor, visible: Tensor, k: int) -> Tensor:
    """Marks the k largest visible scores of each row, and ties with the last of them."""
    s = s.detach().masked_fill(~visible, -math.inf)
    return visible & (s >= s.topk(min(k, s.shape[-1]), -1).values[..., -1:])


def _distance(visible: Tensor) -> Tensor:
    """Distance of each query to each key. A query after its last visible key counts as being at that key."""
    queries, keys = visible.shape[-2:]
    place = torch.arange(keys)
    last = torch.where(visible, place, torch.zeros_like(place)).amax(-1, keepdim=True)
    return (place - torch.minimum(torch.arange(queries)[:, None], last)).abs()


def _pointwise(f: Callable[[Tensor, dict[str, float], Any], Tensor]) -> Callable[..., Tensor]:
    return lambda s, visible, o, head: f(s, o, head).masked_fill(~visible, 0)


def _local(s: Tensor, visible: Tensor, o: dict[str, float], _head: Any) -> Tensor:
    return _softmax(s, visible & (_distance(visible) <= o["window"]))


def _strided(s: Tensor, visible: Tensor, o: dict[str, float], _head: Any) -> Tensor:
    far, stride = _distance(visible), int(o["stride"])
    return _softmax(s, visible & ((far < stride) | (far % stride == 0)))


def _fixed(offset: int | None, side: int, rising: bool) -> Callable[..., Tensor]:
    """Weights by places alone: of the key at an offset from the query (side 0), or of all keys from there on to one
    side, as the cubes of their ranks; offset None: all keys. If there is none, the nearest key has it all."""
    def weigh(s: Tensor, visible: Tensor, _o: dict[str, float], _head: Any) -> Tensor:
        queries, keys = visible.shape[-2:]
        place = torch.arange(keys)
        last = torch.where(visible, place, torch.zeros_like(place)).amax(-1, keepdim=True)
        far = place - torch.minimum(torch.arange(queries)[:, None], last) - (offset or 0)
        kept = visible & ((far * side >= 0) if side or offset is None else (far == 0))
        nearest = torch.where(visible, far.abs(), torch.full_like(far, 2 * keys)).argmin(-1, keepdim=True)
        kept = kept | (~kept.any(-1, keepdim=True) & visible & (place == nearest))
        rank = kept.cumsum(-1)
        rank = rank if rising else rank[..., -1:] + 1 - rank
        w = (rank * kept).to(s.dtype) ** 3
        w = w / w.sum(-1, keepdim=True).clamp_min(1)
        return w + 0 * s.masked_fill(~visible, 0)  # whose gradient is 0

    return weigh


def _count(visible: Tensor, s: Tensor) -> Tensor:
    """Visible keys of a row; at least 1."""
    return visible.sum(-1, keepdim=True).clamp_min(1).to(s.dtype)


def _reluformer(s: Tensor, visible: Tensor, _o: dict[str, float], head: Any) -> Tensor:
    return (torch.relu(s) * head / torch.sqrt(_count(visible, s) / 2)).masked_fill(~visible, 0)


def _above(s: Tensor, visible: Tensor, o: dict[str, float], head: Any) -> Tensor:
    x = torch.relu(s - head * torch.sqrt(2 * torch.log(_count(visible, s))))
    return (x ** int(o.get("power", 1))).masked_fill(~visible, 0)


def _scaled(s: Tensor, visible: Tensor, o: dict[str, float], _head: Any) -> Tensor:
    return _softmax(s * torch.log(_count(visible, s)) / math.log(o.get("length", 32)), visible)


def _with_zero(s: Tensor, visible: Tensor, _o: dict[str, float], head: Any) -> Tensor:
    column = head.expand(*s.shape[:-1], 1)
    seen = torch.cat([visible, torch.ones_like(visible[..., :1])], -1)
    return _softmax(torch.cat([s, column], -1), seen)[..., :-1]


def _linear(s: Tensor, visible: Tensor, _o: Any, _head: Any) -> Tensor:
    w = s.masked_fill(~visible, 0)
    return w / w.sum(-1, keepdim=True).clamp_min(torch.finfo(s.dtype).tiny)


_relu = _pointwise(lambda s, o, head: torch.relu(s))
_WEIGH: dict[str, Callable[..., Tensor]] = {
    "softmax": lambda s, visible, o, head: _softmax(s, visible),
    "sparsemax": lambda s, visible, o, head: _entmax(s, visible, 2.0),
    "entmax15": lambda s, visible, o, head: _entmax(s, visible, 1.5),
    "entmax": lambda s, visible, o, head: _entmax(s, visible, o["alpha"]),
    "entmax-learned": lambda s, visible, o, head: _entmax(s, visible, 1 + torch.sigmoid(head)),
    "topk": lambda s, visible, o, head: _softmax(s, _largest(s, visible, int(o["k"]))),
    "local": _local, "strided": _strided, "linear": _linear,
    "relu": _relu, "relu-rms": _relu, "rela-i": _relu, "rela-g": _relu, "rela-g-ln": _relu,
    "gelu-g": _pointwise(lambda s, o, head: F.gelu(s)),
    "leaky-g": _pointwise(lambda s, o, head: torch.where(s > 0, s, o["slope"] * s)),
    "relu2-g": _pointwise(lambda s, o, head: torch.relu(s) ** 2),
    "rela-t": _pointwise(lambda s, o, head: torch.relu(s - head)),
    "reluformer": _reluformer, "rela-tl": _above, "softmax-n": _scaled, "softmax-zero": _with_zero,
    "current": _fixed(0, 0, True), "previous": _fixed(-1, 0, True), "next": _fixed(1, 0, True),
    "left": _fixed(-2, -1, True), "right": _fixed(2, 1, False), "start": _fixed(None, 0, False),
    "end": _fixed(None, 0, True),
}


def _norm(name: str, epsilon: float, z: Tensor, gain: Tensor | None, gate: Tensor | None) -> Tensor:
    """Over the last dimension, which has all heads or a single one."""
    if name not in _RMS | _GATED:
        return z
    centred = z - z.mean(-1, keepdim=True) if name == "rela-g-ln" else z
    y = gain.view(z.shape[2:]) * centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + epsilon)
    return y * torch.sigmoid(gate.view(z.shape[2:]) * z) if name in _GATED else y
