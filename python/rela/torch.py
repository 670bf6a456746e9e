# SPDX-License-Identifier: MIT
"""All kinds of attention as a PyTorch module, on the CPU."""
from __future__ import annotations

from ctypes import byref
from typing import Any, Callable

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from . import _masked, _masks
from . import _structs as structs
from ._library import call, options
from .operator import Attention

__all__ = ["RectifiedLinearAttention", "attention"]


class _Operator(torch.autograd.Function):
    """Passes tensors to the library without a copy if contiguous: float32, (batch, length, d)."""

    @staticmethod
    def forward(ctx: Any, op: Attention, setting: tuple[int, bool, bool], q: Tensor, k: Tensor,
                v: Tensor, gain: Tensor | None, gate: Tensor | None, head: Tensor | None,
                k_lengths: Tensor | None) -> tuple[Tensor, Tensor | None]:
        seed, training, weights = setting
        arrays = [None if x is None else x.contiguous() for x in (q, k, v, gain, gate, head)]
        y = torch.empty_like(arrays[0])
        mixed = torch.empty_like(y) if op.learned.gain else None
        shown = y.new_empty(len(y), op.heads, q.shape[1], k.shape[1]) if weights else None
        o = options(structs.AttentionOutput)
        o.y, o.mixed, o.weights = _at(y), _at(mixed), _at(shown)
        if len(y):
            with op._lock:
                call("rela_attention_forward", byref(o), op._handle,
                     byref(_input(arrays, k_lengths, seed, training)))
        ctx.save_for_backward(*arrays, k_lengths, mixed)
        ctx.op, ctx.seed, ctx.training = op, seed, training
        ctx.set_materialize_grads(False)  # those of weights are costly, and mostly none
        return y, shown

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor | None, dweights: Tensor | None) -> tuple[Tensor | None, ...]:
        *arrays, k_lengths, mixed = ctx.saved_tensors
        grads: list[Tensor | None] = [None if x is None else torch.zeros_like(x) for x in arrays]
        if dy is not None:
            grads = _back(ctx.op, arrays, dy, mixed, k_lengths, (ctx.seed, ctx.training))
        if dweights is not None:
            for place, grad in _weights_back(ctx.op, arrays, dweights, k_lengths).items():
                grads[place] = grads[place] + grad
        return None, None, *grads, None


def _back(op: Attention, arrays: list[Tensor | None], dy: Tensor, mixed: Tensor | None, k_lengths: Tensor | None,
          setting: tuple[int, bool]) -> list[Tensor | None]:
    """Gradients of all arrays, given that of the result."""
    dy = dy.contiguous()
    grads = [torch.empty_like(x) for x in arrays[:3]]
    grads += [None if x is None else torch.zeros_like(x) for x in arrays[3:]]
    g = options(structs.AttentionGradient)
    g.dy, g.mixed = _at(dy), _at(mixed)
    g.dq, g.dk, g.dv, g.dgain, g.dgate, g.dhead = (_at(x) for x in grads)
    if len(dy):
        with op._lock:
            call("rela_attention_back", byref(g), op._handle, byref(_input(arrays, k_lengths, *setting)))
    return grads


def _weights_back(op: Attention, arrays: list[Tensor | None], dweights: Tensor,
                  k_lengths: Tensor | None) -> dict[int, Tensor]:
    """Gradients of q, k and head by their places, given that of the weights."""
    if not _masked.supports(op.kind):
        return _weights_back_by_values(op, arrays, dweights, k_lengths)
    sizes = _masks.Sizes(len(arrays[0]), op.heads, arrays[0].shape[1], arrays[1].shape[1])
    hidden = None if k_lengths is None else _masks.after(k_lengths.tolist(), sizes.keys)
    visible = _masks.read(sizes, hidden, None, op.causal, True, general=True).visible
    places = [place for place in (0, 1, 5) if arrays[place] is not None]
    with torch.enable_grad():
        used = {place: arrays[place].detach().requires_grad_() for place in places}
        weights = _masked.weigh(op.kind, op.settings, op.heads, (used[0], used[1], used.get(5)), visible)
    found = torch.autograd.grad(weights, list(used.values()), dweights, allow_unused=True)
    return {place: grad for place, grad in zip(places, found) if grad is not None}


def _weights_back_by_values(op: Attention, arrays: list[Tensor | None], dweights: Tensor,
                            k_lengths: Tensor | None) -> dict[int, Tensor]:
    """The same through the library, for a kind without norm: where the values are unit vectors, the results are
    weights, as many of a row as a head is wide."""
    q, k, v = arrays[:3]
    width, found = op.d // op.heads, [torch.zeros_like(q), torch.zeros_like(k)]
    for first in range(0, k.shape[1], width):
        part = dweights[..., first:first + width]
        units = v.new_zeros(len(v), k.shape[1], op.heads, width)
        for i in range(part.shape[-1]):
            units[:, first + i, :, i] = 1
        dy = F.pad(part, (0, width - part.shape[-1])).transpose(1, 2).flatten(2)
        grads = _back(op, [q, k, units.flatten(2), *arrays[3:]], dy, None, k_lengths, (0, False))
        found = [total + grad for total, grad in zip(found, grads)]
    return dict(enumerate(found))


def attention(op: Attention, q: Tensor, k: Tensor, v: Tensor, gain: Tensor | None = None,
              gate: Tensor | None = None, head: Tensor | None = None, *,
              k_lengths: Tensor | None = None, training: bool = False,
              weights: bool = False) -> tuple[Tensor, Tensor | None]:
    """Applies an operator to tensors (batch, length, d), with gradients; returns (result, weights or None).

    The learned parameters of the kind (op.learned) are required. A loss may use the weights too, which
    takes some more time and memory. Dropout takes its seed from PyTorch's generator.
    """
    _check(op, q, k, v, gain, gate, head)
    seed = int(torch.randint(2**62, ())) if training else 0
    if k_lengths is not None:
        k_lengths = k_lengths.to(torch.int32).contiguous()
        if len(k_lengths) != len(k) or ((k_lengths < 0) | (k_lengths > k.shape[1])).any():
            raise ValueError("k_lengths do not fit the keys")
    return _Operator.apply(op, (seed, training, weights), q, k, v, gain, gate, head, k_lengths)


class RectifiedLinearAttention(nn.Module):
    """A drop-in replacement for nn.MultiheadAttention with any kind of attention of this library.

    It takes the same arguments in the same order, and the parameters they share have the same names.
    kind defaults to "rela-g"; settings are those of rela.Attention. Masks are those of
    nn.MultiheadAttention. With padding and causal masks the library computes attention in float32; with
    other masks, and if the module is in float64, PyTorch does, which is slower and keeps all weights in
    memory. The module runs on the CPU; add_bias_kv and add_zero_attn are not supported. Nested tensors need
    batch_first.
    """

    # In eval mode PyTorch's encoder layers bypass the module and compute softmax attention from its
    # parameters, unless this is False.
    _qkv_same_embed_dim = False
    bias_k = bias_v = None
    add_zero_attn = False

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
                 vdim: int | None = None, batch_first: bool = False, device: Any = None,
                 dtype: torch.dtype | None = None, *, kind: str = "rela-g", threads: int = 0,
                 **settings: Any) -> None:
        super().__init__()
        _check_sizes(embed_dim, num_heads, add_bias_kv, add_zero_attn, device)
        self.embed_dim, self.num_heads, self.kind = embed_dim, num_heads, kind
        self.head_dim = embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first, self.dropout = batch_first, dropout
        self._settings = settings | {"dropout": dropout, "threads": threads}
        self._operators: dict[bool, Attention] = {}
        learned = self._operator(False, 1).learned
        fused = self.kdim == self.vdim == embed_dim
        names = ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
        for name, width in zip(names, (embed_dim, self.kdim, self.vdim)):
            self.register_parameter(name, None if fused else _empty(embed_dim, width, dtype=dtype))
        self.in_proj_weight = _empty(3 * embed_dim, embed_dim, dtype=dtype) if fused else None
        self.in_proj_bias = _empty(3 * embed_dim, dtype=dtype) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        self.gain = _empty(learned.gain, dtype=dtype) if learned.gain else None
        self.gate = _empty(learned.gate, dtype=dtype) if learned.gate else None
        self.head = (_empty(num_heads, learned.head // num_heads, dtype=dtype) if learned.head
                     else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialises as in training: Xavier-uniform matrices, zero biases, gain and gate of the kind."""
        learned = self._operators[False].learned
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight,
                       self.v_proj_weight, self.out_proj.weight):
            if weight is not None:
                nn.init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                nn.init.zeros_(bias)
        together = self.head_dim if self._settings.get("norm_per_head") else self.embed_dim
        _start(self.gain, learned.gain_start, together)
        _start(self.gate, learned.gate_start, together)
        _start(self.head, learned.head_start, self.embed_dim)

    def forward(self, query: Tensor, key: Tensor, value: Tensor,
                key_padding_mask: Tensor | None = None, need_weights: bool = True,
                attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        """As nn.MultiheadAttention: returns the result and, with need_weights, the weights before dropout:
        (batch, queries, keys), or (batch, heads, queries, keys) unless averaged over heads. is_causal
        works without attn_mask; if both are given, attn_mask must be the causal mask. Inputs may have
        another floating point type than the parameters; the result has the type of query."""
        if query.is_nested or key.is_nested or value.is_nested:
            _check_nested(self.batch_first, (query, key, value), key_padding_mask, attn_mask)
            return self._forward_nested(query, key, value, need_weights, average_attn_weights,
                                        is_causal)
        self._check_inputs(query, key, value)
        batched, dtype, own = query.dim() == 3, query.dtype, self.out_proj.weight.dtype
        query, key, value = _each(lambda x: x.to(own), query, key, value)
        if not batched:
            query, key, value = _each(lambda x: x.unsqueeze(0), query, key, value)
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query, key, value = _each(lambda x: x.transpose(0, 1), query, key, value)
        _check_batches(query, key, value)
        sizes = _masks.Sizes(len(query), self.num_heads, query.shape[1], key.shape[1])
        masks = _masks.read(sizes, key_padding_mask, attn_mask, is_causal, self._in_order(),
                            general=own == torch.float64 and _masked.supports(self.kind))
        y, weights = self._attend(query, key, value, masks, need_weights)
        y = self.out_proj(y.to(own))
        if own != dtype:
            y = y.to(dtype)
        if weights is not None:
            weights = (weights.mean(1) if average_attn_weights else weights).to(dtype)
        if not batched:
            return y.squeeze(0), None if weights is None else weights.squeeze(0)
        return (y if self.batch_first else y.transpose(0, 1)), weights

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, {self.num_heads}, kind={self.kind!r}"

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"_operators": {}}
        state.pop("_compiled_call_impl", None)  # as nn.Module does: it cannot be copied
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._operator(False, 1)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, masks: _masks.Masks,
                weights: bool) -> tuple[Tensor, Tensor | None]:
        if masks.order is not None:
            key, value = (torch.take_along_dim(x, masks.order[..., None], 1) for x in (key, value))
        arrays = (*self._project(query, key, value), self.gain, self.gate, self.head)
        if masks.visible is not None:
            return self._attend_masked(arrays, masks, weights)
        y, shown = attention(self._operator(masks.causal, key.shape[1]),
                             *(None if x is None else x.float() for x in arrays), k_lengths=masks.lengths,
                             training=self.training and self.dropout > 0, weights=weights)
        if shown is not None and masks.order is not None:
            shown = torch.zeros_like(shown).scatter(3, masks.order[:, None, None].expand_as(shown), shown)
        return y, shown

    def _attend_masked(self, arrays: tuple[Tensor | None, ...], masks: _masks.Masks,
                       weights: bool) -> tuple[Tensor, Tensor | None]:
        kept = torch.float64 if self.out_proj.weight.dtype == torch.float64 else torch.float32
        y, shown = _masked.attend(self.kind, self._settings, self.num_heads,
                                  tuple(None if x is None else x.to(kept) for x in arrays), masks.visible,
                                  masks.bias, self.dropout if self.training else 0.0)
        return y, shown if weights else None

    def _in_order(self) -> bool:
        """Whether the kind depends on the positions of keys."""
        places = {"local", "strided", "current", "previous", "next", "left", "right", "start", "end"}
        return self.kind.partition(":")[0] in places

    def _forward_nested(self, query: Tensor, key: Tensor, value: Tensor, need_weights: bool,
                        average: bool, causal: bool) -> tuple[Tensor, Tensor | None]:
        queries, keys = _nested_lengths(query), _nested_lengths(key)
        if keys != _nested_lengths(value):
            raise ValueError("the nested key and value have different lengths")
        padded = _each(lambda x: torch.nested.to_padded_tensor(x, 0.0), query, key, value)
        hidden = _masks.after(keys, padded[1].shape[1])
        y, weights = self(*padded, key_padding_mask=hidden, need_weights=need_weights,
                          average_attn_weights=average, is_causal=causal)
        if weights is not None:
            rows = _masks.after(queries, y.shape[1])
            weights = weights.masked_fill((rows if average else rows[:, None])[..., None], 0)
        return torch.nested.as_nested_tensor([row[:n] for row, n in zip(y, queries)]), weights

    def _check_inputs(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        for name, x, width in (("query", query, self.embed_dim), ("key", key, self.kdim),
                               ("value", value, self.vdim)):
            if x.device.type != "cpu":
                raise ValueError(f"{name} is on {x.device}; this module runs on the CPU")
            if not x.is_floating_point():
                raise ValueError(f"{name} is {x.dtype}; expected a floating point type")
            if x.dim() not in (2, 3):
                raise ValueError(f"{name} has {x.dim()} dimension{'s' * (x.dim() != 1)}; "
                                 "expected 2 or 3")
            if x.dim() != query.dim():
                raise ValueError(f"{name} has {x.dim()} dimensions, but query {query.dim()}")
            if x.shape[-1] != width:
                raise ValueError(f"{name} has shape {tuple(x.shape)}; expected rows of {width}")

    def _operator(self, causal: bool, keys: int) -> Attention:
        """The operator, created anew for sequences longer than all before."""
        op = self._operators.get(causal)
        if op is None or op.max_length < keys:
            longest = 1 << max(6, (keys - 1).bit_length())
            op = Attention(self.num_heads, self.embed_dim // self.num_heads, self.kind,
                           max_length=longest, causal=causal, **self._settings)
            self._operators[causal] = op
        return op

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        if self.in_proj_weight is not None and query is key and key is value:
            return F.linear(query, self.in_proj_weight, self.in_proj_bias).chunk(3, -1)
        weights = ((self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
                   if self.in_proj_weight is None else self.in_proj_weight.chunk(3))
        return tuple(F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))


def _empty(*shape: int, dtype: torch.dtype | None) -> nn.Parameter:
    return nn.Parameter(torch.empty(*shape, dtype=dtype))


def _start(x: Tensor | None, value: float | None, d: int) -> None:
    if x is None:
        return
    if value is None:
        nn.init.uniform_(x, -(3 / d) ** 0.5, (3 / d) ** 0.5)
    else:
        nn.init.constant_(x, value)


def _each(change: Callable[[Tensor], Tensor], *tensors: Tensor) -> tuple[Tensor, ...]:
    """Applies a change once to each distinct tensor, so that identical inputs stay identical."""
    changed = {id(x): change(x) for x in tensors}
    return tuple(changed[id(x)] for x in tensors)


def _nested_lengths(x: Tensor) -> list[int]:
    return [len(rows) for rows in x.detach().unbind()]


def _check_sizes(embed_dim: int, num_heads: int, add_bias_kv: bool, add_zero_attn: bool,
                 device: Any) -> None:
    if embed_dim < 1:
        raise ValueError(f"embed_dim is {embed_dim}; expected at least 1")
    if num_heads < 1 or embed_dim % num_heads:
        raise ValueError(f"embed_dim {embed_dim} is not a multiple of num_heads {num_heads}")
    if add_bias_kv or add_zero_attn:
        raise ValueError("add_bias_kv and add_zero_attn are not supported")
    if device is not None and torch.device(device).type != "cpu":
        raise ValueError(f"device '{device}': this module runs on the CPU")


def _check_nested(batch_first: bool, tensors: tuple[Tensor, ...], *masks: Tensor | None) -> None:
    if not all(x.is_nested for x in tensors):
        raise ValueError("some of query, key and value are nested tensors; expected all or none")
    if any(x.layout != torch.strided for x in tensors):
        raise ValueError("nested tensors of another layout than torch.strided are not supported")
    if not batch_first:
        raise ValueError("nested tensors need batch_first=True")
    if any(mask is not None for mask in masks):
        raise ValueError("nested tensors have their own lengths: key_padding_mask and attn_mask "
                         "must be None")


def _check_batches(query: Tensor, key: Tensor, value: Tensor) -> None:
    if not len(query) == len(key) == len(value):
        raise ValueError("batches of query, key and value differ: "
                         f"{len(query)}, {len(key)}, {len(value)}")
    if key.shape[1] != value.shape[1]:
        raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")


def _check(op: Attention, q: Tensor, k: Tensor, v: Tensor, gain: Tensor | None,
           gate: Tensor | None, head: Tensor | None) -> None:
    for name, x in zip(("q", "k", "v", "gain", "gate", "head"), (q, k, v, gain, gate, head)):
        if x is not None and (x.dtype != torch.float32 or x.device.type != "cpu"):
            raise ValueError(f"{name} is {x.dtype} on {x.device}; expected float32 on the CPU")
    if q.dim() != 3 or k.shape != v.shape or q.shape[::2] != k.shape[::2] or q.shape[2] != op.d:
        raise ValueError(f"shapes of q, k and v do not fit: {tuple(q.shape)}, {tuple(k.shape)}, "
                         f"{tuple(v.shape)}")
    if not (q.shape[1] and k.shape[1]):
        raise ValueError("no queries or no keys")
    sizes = op.learned
    for name, x, n in (("gain", gain, sizes.gain), ("gate", gate, sizes.gate),
                       ("head", head, sizes.head)):
        if n and (x is None or x.numel() != n):
            raise ValueError(f"{op.kind} needs {n} numbers as {name}")


def _input(arrays: list[Tensor | None], k_lengths: Tensor | None, seed: int,
           training: bool) -> Any:
    q, k, v, gain, gate, head = arrays
    s = options(structs.AttentionInput)
    s.n, s.q_step, s.k_step = len(q), q.shape[1], k.shape[1]
    s.k_lens = _at(k_lengths)
    s.q, s.k, s.v = _at(q), _at(k), _at(v)
    s.gain, s.gate, s.head = _at(gain), _at(gate), _at(head)
    s.seed, s.training = seed, int(training)
    return s


def _at(x: Tensor | None) -> int | None:
    return None if x is None else x.data_ptr()
