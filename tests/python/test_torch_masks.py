# SPDX-License-Identifier: MIT
"""Masks and types of the module: all that nn.MultiheadAttention takes, for every kind."""
import itertools
import os
import sys
import unittest
from pathlib import Path

import torch
from torch import nn

import rela
from rela import _masks
from rela.torch import RectifiedLinearAttention

torch.set_num_threads(1)  # rows are small: threads would only wait

sys.path.insert(0, str(Path(os.environ["RELA_SOURCE"]) / "tools" / "golden"))
import attention as reference  # noqa: E402

D, HEADS, BATCH, N = 8, 2, 3, 6
CLOSE = dict(rtol=1e-4, atol=1e-5)
INF = float("inf")
SETTINGS = reference.SETTINGS
GAPS = torch.tensor([[True, False, False, True, False, False], [False] * 5 + [True], [True, True, False, True] + [False] * 2])
END = torch.arange(N)[None] >= torch.tensor([6, 4, 2])[:, None]
CAUSAL = torch.ones(N, N, dtype=torch.bool).triu(1)


def layer_of(kind, **settings):
    layer = RectifiedLinearAttention(D, HEADS, batch_first=True, kind=kind, **SETTINGS, **settings)
    for p, low, high in ((layer.gain, 0.5, 1.5), (layer.gate, -1, 1), (layer.head, -0.3, 0.3)):
        if p is not None:
            nn.init.uniform_(p, low, high)
    return layer


def minus_infinity(hidden):
    return torch.zeros(hidden.shape).masked_fill(hidden, -INF)


def summed(hidden, mask):
    """Both masks as one of floats: versions of PyTorch differ in how they put them together."""
    both = torch.zeros(BATCH, HEADS, N, N)
    for part, shape in ((hidden, (BATCH, 1, 1, N)), (mask, (BATCH, HEADS, N, N))):
        if part is not None:
            floats = minus_infinity(part) if part.dtype == torch.bool else part
            both = both + (floats if floats.dim() == 2 and shape[1] > 1 else floats.reshape(shape))
    return both.flatten(0, 1)


def gradients(layer, y, dy, x):
    return torch.autograd.grad((y * dy).sum(), [x, *layer.parameters()])


class Masks(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(31)
        self.x, self.dy = torch.randn(BATCH, N, D) * 1.5, torch.randn(BATCH, N, D)

    def test_softmax_is_multihead_attention_under_every_mask(self):
        ours = layer_of("softmax")
        theirs = nn.MultiheadAttention(D, HEADS, batch_first=True)
        theirs.load_state_dict(ours.state_dict())
        some = torch.rand(N, N) < 0.4
        by_head = torch.rand(BATCH * HEADS, N, N) < 0.4
        some[:, 4] = by_head[..., 4] = False  # no row is hidden as a whole: PyTorch gives NaN there
        bias = torch.randn(BATCH * HEADS, N, N)
        gaps = GAPS.clone()
        gaps[:, 4] = False
        padding = [None, gaps, minus_infinity(gaps), torch.randn(BATCH, N)]
        masks = [None, some, minus_infinity(some), by_head, bias, bias.masked_fill(by_head, -INF), bias[0]]
        for hidden, mask in itertools.product(padding, masks):
            want = theirs(self.x, self.x, self.x, attn_mask=summed(hidden, mask), average_attn_weights=False)
            got = ours(self.x, self.x, self.x, hidden, attn_mask=mask, average_attn_weights=False)
            for a, b in zip(got, want):
                torch.testing.assert_close(a, b, **CLOSE)
            if hidden is None or mask is None or mask.dim() == 3:
                continue
            one = self.x[0]
            a = ours(one, one, one, hidden[0], attn_mask=mask)
            b = ours(self.x[:1], self.x[:1], self.x[:1], hidden[:1], attn_mask=mask)
            torch.testing.assert_close(a[0], b[0][0], rtol=0, atol=0)

    def test_both_ways_agree_for_every_kind(self):
        """Lengths and the causal mask: the library, and what PyTorch computes for other masks."""
        for kind, causal in itertools.product(rela.kinds(), (False, True)):
            if kind == "fusedmax" or kind in reference.RANDOM:
                continue
            with self.subTest(kind, causal=causal):
                layer, x = layer_of(kind), self.x.clone().requires_grad_()
                visible = ~(END[:, None, None] | (CAUSAL if causal else ~CAUSAL & CAUSAL)).expand(BATCH, HEADS, N, N)
                found = []
                for masks in (_masks.Masks(causal, (~END).sum(1)), _masks.Masks(visible=visible)):
                    y, w = layer._attend(x, x, x, masks, True)
                    found.append((y, w, *gradients(layer, layer.out_proj(y), self.dy, x)))
                for a, b in zip(*found):
                    torch.testing.assert_close(a, b, rtol=2e-4, atol=2e-5)

    def test_hidden_keys_are_as_if_they_were_not_there(self):
        for kind in rela.kinds():
            if kind in reference.RANDOM:
                continue
            layer = layer_of(kind)
            y, w = layer(self.x, self.x, self.x, GAPS, average_attn_weights=False)
            for i, hidden in enumerate(GAPS):
                if kind in reference.PLACES:
                    continue
                keys = self.x[i, ~hidden]
                want, shown = layer(self.x[i], keys, keys, average_attn_weights=False)
                torch.testing.assert_close(y[i], want, **CLOSE)
                torch.testing.assert_close(w[i][..., ~hidden], shown, **CLOSE)
            self.assertEqual(w.masked_select(GAPS[:, None, None].expand_as(w)).count_nonzero(), 0, kind)

    def test_any_mask_is_the_reference_row_by_row(self):
        hidden = torch.rand(BATCH * HEADS, N, N) < 0.5
        hidden[0, 2] = True  # a row that sees nothing
        for kind in rela.kinds():
            if kind in reference.PLACES | reference.RANDOM | {"fusedmax"}:
                continue
            layer = layer_of(kind).double()
            x = self.x.double()
            _, w = layer(x, x, x, attn_mask=hidden, average_attn_weights=False)
            q, k, _ = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2).flatten(0, 1)
                       for t in layer._project(x, x, x))
            for i, row in itertools.product(range(BATCH * HEADS), range(N)):
                seen = ~hidden[i, row]
                if seen.any():
                    if kind == "linear":
                        s = (nn.functional.elu(k[i, seen]) + 1) @ (nn.functional.elu(q[i, row]) + 1)
                    else:
                        s = k[i, seen] @ q[i, row] / (D // HEADS) ** 0.5
                    head = None if layer.head is None else layer.head.view(-1)[i % HEADS]
                    want = reference.weigh(kind, s, head, row)
                    torch.testing.assert_close(w.flatten(0, 1)[i, row, seen], want, rtol=1e-6, atol=1e-8)
            self.assertEqual(w.flatten(0, 1)[hidden].count_nonzero(), 0, kind)

    def test_padding_on_the_left_and_the_causal_mask(self):
        left = END.flip(1)
        for kind in ("rela-g", "softmax", "entmax15", "local"):
            layer = layer_of(kind)
            y, _ = layer(self.x, self.x, self.x, left, is_causal=True)
            for i, hidden in enumerate(left):
                part = self.x[i, ~hidden]
                want, _ = layer(part, part, part, is_causal=True)
                torch.testing.assert_close(y[i, ~hidden], want, **CLOSE)

    def test_nothing_visible_gives_nothing(self):
        for kind in ("rela-g", "softmax", "sparsemax", "topk"):
            layer, x = layer_of(kind, bias=False), self.x.clone().requires_grad_()
            y, w = layer(x, x, x, attn_mask=torch.ones(N, N, dtype=torch.bool))
            y.sum().backward()
            self.assertEqual((y.count_nonzero(), w.count_nonzero()), (0, 0), kind)
            self.assertTrue(torch.isfinite(x.grad).all(), kind)

    def test_what_cannot_be_masked_is_named(self):
        mask = torch.eye(N, dtype=torch.bool)
        with self.assertRaisesRegex(ValueError, "kind 'fusedmax' takes padding masks and the causal mask only"):
            layer_of("fusedmax")(self.x, self.x, self.x, attn_mask=mask)
        with self.assertRaisesRegex(ValueError, "linear attention has no scores"):
            layer_of("linear")(self.x, self.x, self.x, attn_mask=mask * 0.5)
        with self.assertRaisesRegex(ValueError, "although is_causal is True"):
            layer_of("relu")(self.x, self.x, self.x, attn_mask=mask, is_causal=True)


class Types(unittest.TestCase):
    def test_inputs_need_not_have_the_type_of_the_parameters(self):
        torch.manual_seed(5)
        x, mask = torch.randn(2, N, D), torch.rand(N, N) < 0.3
        for settings in ({}, {"attn_mask": mask}, {"key_padding_mask": GAPS[:2]}):
            layer = layer_of("rela-g")
            want = layer(x, x, x, **settings)
            for dtype, limit in ((torch.float64, 1e-5), (torch.bfloat16, 0.2), (torch.float16, 0.05)):
                other = x.to(dtype).requires_grad_()
                got = layer(other, other, other, **settings)
                for a, b in zip(got, want):
                    self.assertEqual(a.dtype, dtype)
                    self.assertLess((a.float() - b).abs().max().item(), limit)
                got[0].float().sum().backward()
                self.assertEqual(other.grad.dtype, dtype)
        with self.assertRaisesRegex(ValueError, "query is torch.int64; expected a floating point type"):
            layer(x.long(), x, x)


if __name__ == "__main__":
    unittest.main()
