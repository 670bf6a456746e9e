# SPDX-License-Identifier: MIT
"""The attention kinds as a PyTorch module, on the CPU in float32."""
from __future__ import annotations

from ctypes import byref
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from . import _structs as structs
from ._library import call, options
from .operator import Attention

__all__ = ["RectifiedLinearAttention", "attention"]


class _Operator(torch.autograd.Function):
    """Tensors straight to the library: contiguous float32, (batch, length, d)."""

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
        with op._lock:
            call("rela_attention_forward", byref(o), op._handle,
                 byref(_input(arrays, k_lengths, seed, training)))
        ctx.save_for_backward(*arrays, k_lengths, mixed)
        ctx.op, ctx.seed, ctx.training = op, seed, training
        if shown is not None:
            ctx.mark_non_differentiable(shown)
        return y, shown

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor, _dweights: Any) -> tuple[Tensor | None, ...]:
        *arrays, k_lengths, mixed = ctx.saved_tensors
        dy = dy.contiguous()
        grads = [torch.empty_like(x) for x in arrays[:3]]
        grads += [None if x is None else torch.zeros_like(x) for x in arrays[3:]]
        g = options(structs.AttentionGradient)
        g.dy, g.mixed = _at(dy), _at(mixed)
        g.dq, g.dk, g.dv, g.dgain, g.dgate, g.dhead = (_at(x) for x in grads)
        with ctx.op._lock:
            call("rela_attention_back", byref(g), ctx.op._handle,
                 byref(_input(arrays, k_lengths, ctx.seed, ctx.training)))
        return None, None, *grads, None


def attention(op: Attention, q: Tensor, k: Tensor, v: Tensor, gain: Tensor | None = None,
              gate: Tensor | None = None, head: Tensor | None = None, *,
              k_lengths: Tensor | None = None, training: bool = False,
              weights: bool = False) -> tuple[Tensor, Tensor | None]:
    """The operator on tensors (batch, length, d), with gradients: (result, weights or None).

    What the kind learns (op.learned) must be given. No gradient flows through the weights that are
    shown. Dropout takes its seed from PyTorch's generator.
    """
    _check(op, q, k, v, gain, gate, head)
    seed = int(torch.randint(2**62, ())) if training else 0
    if k_lengths is not None:
        k_lengths = k_lengths.to(torch.int32).contiguous()
        if len(k_lengths) != len(k) or k_lengths.min() < 0 or k_lengths.max() > k.shape[1]:
            raise ValueError("k_lengths do not fit the keys")
    return _Operator.apply(op, (seed, training, weights), q, k, v, gain, gate, head, k_lengths)


class RectifiedLinearAttention(nn.Module):
    """Multi-head attention of any kind of this library, in the place of nn.MultiheadAttention.

    Takes the same sizes and inputs, and the parameters it shares with it have the same names. kind
    is "rela-g" unless said otherwise; settings are those of rela.Attention. Differences: masks are a
    padding mask whose hidden keys stand at the end, and the causal mask; it runs on the CPU in
    float32 (other types are converted).
    """

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
                 kind: str = "rela-g", threads: int = 0, **settings: Any) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"embed_dim {embed_dim} is not a multiple of num_heads {num_heads}")
        self.embed_dim, self.num_heads, self.kind = embed_dim, num_heads, kind
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.batch_first, self.dropout = batch_first, dropout
        self._settings = settings | {"dropout": dropout, "threads": threads}
        self._operators: dict[bool, Attention] = {}
        learned = self._operator(False, 1).learned
        fused = self.kdim == self.vdim == embed_dim
        names = ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
        for name, width in zip(names, (embed_dim, self.kdim, self.vdim)):
            self.register_parameter(name, None if fused else _empty(embed_dim, width))
        self.in_proj_weight = _empty(3 * embed_dim, embed_dim) if fused else None
        self.in_proj_bias = _empty(3 * embed_dim) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.gain = _empty(learned.gain) if learned.gain else None
        self.gate = _empty(learned.gate) if learned.gate else None
        self.head = _empty(num_heads, learned.head // num_heads) if learned.head else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """First values as in training: Glorot matrices, zero biases, gain and gate of the kind."""
        learned = self._operators[False].learned
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight,
                       self.v_proj_weight, self.out_proj.weight):
            if weight is not None:
                nn.init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                nn.init.zeros_(bias)
        _start(self.gain, learned.gain_start, self.embed_dim)
        _start(self.gate, learned.gate_start, self.embed_dim)
        _start(self.head, learned.head_start, self.embed_dim)

    def forward(self, query: Tensor, key: Tensor, value: Tensor,
                key_padding_mask: Tensor | None = None, need_weights: bool = True,
                attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        """As nn.MultiheadAttention: the result and, with need_weights, the weights before dropout
        (batch, queries, keys), or (batch, heads, queries, keys) unless averaged over heads."""
        batched = query.dim() == 3
        if not batched:
            query, key, value = (x.unsqueeze(0) for x in (query, key, value))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        causal = is_causal or _is_causal(attn_mask, query.shape[1], key.shape[1])
        lengths = _visible(key_padding_mask, key)
        op = self._operator(causal, key.shape[1])
        q, k, v = (x.float() for x in self._project(query, key, value))
        y, weights = attention(op, q, k, v, self.gain, self.gate, self.head, k_lengths=lengths,
                               training=self.training and self.dropout > 0, weights=need_weights)
        y = self.out_proj(y.to(query.dtype))
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if not batched:
            return y.squeeze(0), None if weights is None else weights.squeeze(0)
        return (y if self.batch_first else y.transpose(0, 1)), weights

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, {self.num_heads}, kind={self.kind!r}"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_operators": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._operator(False, 1)

    def _operator(self, causal: bool, keys: int) -> Attention:
        """The operator, made anew where sequences are longer than ever before."""
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


def _empty(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(*shape))


def _start(x: Tensor | None, value: float | None, d: int) -> None:
    if x is None:
        return
    if value is None:
        nn.init.uniform_(x, -(3 / d) ** 0.5, (3 / d) ** 0.5)
    else:
        nn.init.constant_(x, value)


def _is_causal(mask: Tensor | None, queries: int, keys: int) -> bool:
    if mask is None:
        return False
    hidden = mask if mask.dtype == torch.bool else mask == -torch.inf
    wanted = torch.ones(queries, keys, dtype=torch.bool).triu(1)
    plain = mask.dtype == torch.bool or bool((mask[~hidden] == 0).all())
    if hidden.shape != wanted.shape or not plain or not torch.equal(hidden.cpu(), wanted):
        raise ValueError("attn_mask is not the causal mask, the only one that is supported")
    return True


def _visible(mask: Tensor | None, key: Tensor) -> Tensor | None:
    """How many keys of each sequence are visible; True in the mask hides a key."""
    if mask is None:
        return None
    hidden = mask if mask.dtype == torch.bool else mask == -torch.inf
    lengths = (~hidden).sum(1)
    wanted = torch.arange(key.shape[1])[None] >= lengths[:, None]
    if not torch.equal(hidden, wanted):
        raise ValueError("key_padding_mask hides keys that are not at the end of their sequence")
    return lengths


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
