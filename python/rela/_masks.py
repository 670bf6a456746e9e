# SPDX-License-Identifier: MIT
"""Translates the masks of nn.MultiheadAttention for the operator of the library."""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


class Sizes(NamedTuple):
    batch: int
    heads: int
    queries: int
    keys: int


@dataclass
class Masks:
    """Masks of one call. The library supports lengths and the causal mask only; if ``visible`` is set,
    PyTorch computes the weights instead."""

    causal: bool = False
    lengths: Tensor | None = None  #: (batch): number of visible keys, which come first
    order: Tensor | None = None  #: (batch, keys): permutation that moves the visible keys to the front
    visible: Tensor | None = None  #: (batch, heads, queries, keys)
    bias: Tensor | None = None  #: added to scores; broadcasts to the shape of visible


def after(lengths: list[int], n: int) -> Tensor:
    """(sequences, n): True after the end of each sequence."""
    return torch.arange(n)[None] >= torch.tensor(lengths, dtype=torch.int64)[:, None]


def read(sizes: Sizes, key_padding_mask: Tensor | None, attn_mask: Tensor | None, is_causal: bool,
         in_order: bool, general: bool = False) -> Masks:
    """in_order: the kind depends on the positions of keys, so they must not be permuted. general: PyTorch
    computes in any case."""
    batch, heads, queries, keys = sizes
    hidden, key_bias = _split("key_padding_mask", key_padding_mask, (batch, keys))
    shape = (batch * heads, queries, keys) if attn_mask is not None and attn_mask.dim() == 3 else (queries, keys)
    unseen, bias = _split("attn_mask", attn_mask, shape)
    if unseen is not None and bias is None and not unseen.any() and not is_causal:
        unseen = None
    causal = is_causal if unseen is None else bias is None and bool((unseen == _later(sizes)).all())
    if is_causal and not causal:
        raise ValueError("attn_mask is not the causal mask, although is_causal is True")
    moved = hidden is not None and not _at_end(hidden)
    if not general and key_bias is None and (unseen is None or causal) and not (moved and (causal or in_order)):
        lengths = None if hidden is None else (~hidden).sum(1)
        return Masks(causal, lengths, torch.sort(hidden.int(), dim=1, stable=True).indices if moved else None)
    return _general(sizes, hidden, key_bias, _later(sizes) if causal else unseen, bias)


def _general(sizes: Sizes, hidden: Tensor | None, key_bias: Tensor | None, unseen: Tensor | None,
             bias: Tensor | None) -> Masks:
    visible = torch.ones(sizes, dtype=torch.bool)
    if hidden is not None:
        visible = visible & ~hidden[:, None, None]
    if unseen is not None:
        visible = visible & ~_by_head(unseen, sizes)
    biases = [b for b in (None if key_bias is None else key_bias[:, None, None],
                          None if bias is None else _by_head(bias, sizes)) if b is not None]
    return Masks(visible=visible, bias=sum(biases) if biases else None)


def _by_head(mask: Tensor, sizes: Sizes) -> Tensor:
    return mask.reshape(sizes) if mask.dim() == 3 else mask


def _later(sizes: Sizes) -> Tensor:
    return torch.ones(sizes.queries, sizes.keys, dtype=torch.bool).triu(1)


def _at_end(hidden: Tensor) -> bool:
    return torch.equal(hidden, after((~hidden).sum(1).tolist(), hidden.shape[1]))


def _split(name: str, mask: Tensor | None, shape: tuple[int, ...]) -> tuple[Tensor | None, Tensor | None]:
    """The positions a mask hides (True, or -inf), and the bias it adds to scores or None."""
    if mask is None:
        return None, None
    if mask.shape != shape:
        raise ValueError(f"{name} has shape {tuple(mask.shape)}; expected {shape}")
    mask = mask.cpu()
    if mask.dtype == torch.bool:
        return mask, None
    if not mask.is_floating_point():
        raise ValueError(f"{name} is {mask.dtype}; expected bool or float")
    hidden = mask == -torch.inf
    bias = mask.masked_fill(hidden, 0)
    return hidden, bias if bias.detach().any() else None
