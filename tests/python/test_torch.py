# SPDX-License-Identifier: MIT
"""The operator and the module against PyTorch: every kind, values and gradients."""
import copy
import os
import sys
import unittest
from pathlib import Path

import numpy as np
import torch

import rela
import rela.torch as rt

torch.set_num_threads(1)  # rows are small: threads would only wait

sys.path.insert(0, str(Path(os.environ["RELA_SOURCE"]) / "tools" / "golden"))
import attention as reference  # noqa: E402

HEADS, WIDTH, D = 2, 4, 8
LENGTHS = [9, 4, 0]
# Float against double: rounding is magnified where a row is nearly null or a threshold is steep.
LIMIT = 2e-5
NAMES = ["q", "k", "v", "gain", "gate", "head"]
KINDS = [kind for kind in rela.kinds() if kind not in reference.RANDOM]


def inputs(seed):
    torch.manual_seed(seed)
    q, k, v = torch.randn(3, 5, D) * 1.5, torch.randn(3, 9, D) * 1.5, torch.randn(3, 9, D)
    gain, gate = 1 + 0.2 * torch.randn(D), torch.randn(D)
    return [q, k, v, gain, gate, 0.3 * torch.randn(HEADS)]


def exact(kind, values, dy, causal):
    """Result, weights and gradients of the reference, in double."""
    x = [t.double().requires_grad_() for t in values]
    y, weights = reference.attend(kind, HEADS, *x, LENGTHS, causal)
    grads = torch.autograd.grad((y * dy.double()).sum(), x, allow_unused=True)
    return y.detach(), weights.detach(), grads


def gap(x, y):
    """The largest difference, relative to the largest value."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return np.abs(x - y).max() / max(np.abs(y).max(), 1e-3)


class Kinds(unittest.TestCase):
    worst = {}

    def compare(self, kind, what, x, y):
        found = gap(x, y)
        if found > self.worst.get(what, (0, ""))[0]:
            self.worst[what] = (found, kind)
        self.assertLess(found, LIMIT, f"{kind}: {what}")

    def test_values_and_gradients_of_every_kind(self):
        for number, kind in enumerate(KINDS):
            for causal in (False, True):
                self.check(kind, causal, number)
        for what, (found, kind) in self.worst.items():
            print(f"  worst relative error of {what}: {found:.1e} ({kind})")
        print(f"  worst of all: {max(self.worst.values())[0]:.1e} over {len(KINDS)} kinds")

    def check(self, kind, causal, seed):
        values = inputs(100 + seed)
        dy = torch.randn(3, 5, D)
        y, weights, grads = exact(kind, values, dy, causal)
        op = rela.Attention(HEADS, WIDTH, kind, max_length=9, causal=causal, **reference.SETTINGS)
        q, k, v, *learned = [t.numpy() for t in values]
        named = dict(zip(NAMES[3:], learned))
        got, shown, mixed = op.forward(q, k, v, **named, k_lengths=LENGTHS, weights=True, mixed=True)
        self.compare(kind, "y", got, y)
        self.compare(kind, "weights", shown, weights)
        for kept in (mixed, None):
            found = op.backward(dy.numpy(), q, k, v, **named, k_lengths=LENGTHS, mixed=kept)
            for name, want in zip(NAMES, grads):
                if name in found:
                    self.compare(kind, "d" + name, found[name], 0 * found[name] if want is None else want)
                else:
                    self.assertIsNone(want, f"{kind}: {name}")
        self.check_autograd(op, values, dy, found)

    def check_autograd(self, op, values, dy, want):
        """The same numbers, bit for bit, through PyTorch."""
        x = [t.clone().requires_grad_() for t in values]
        use = [t if name in want else None for name, t in zip(NAMES, x)]
        y, _ = rt.attention(op, *use, k_lengths=torch.tensor(LENGTHS))
        y.backward(dy)
        for name, t in zip(NAMES, x):
            if name in want:
                self.assertTrue(np.array_equal(t.grad.numpy(), want[name].reshape(t.shape)), name)


class Module(unittest.TestCase):
    def test_softmax_is_multihead_attention(self):
        torch.manual_seed(1)
        for batch_first in (False, True):
            ours = rt.RectifiedLinearAttention(16, 4, kind="softmax", batch_first=batch_first)
            theirs = torch.nn.MultiheadAttention(16, 4, batch_first=batch_first)
            theirs.load_state_dict(ours.state_dict())
            x = torch.randn(3, 3, 16) if batch_first else torch.randn(5, 3, 16)
            memory = torch.randn(3, 6, 16) if batch_first else torch.randn(6, 3, 16)
            hidden = torch.tensor([[False] * 6, [False] * 3 + [True] * 3, [False] * 5 + [True]])
            for mean in (False, True):
                a = ours(x, memory, memory, key_padding_mask=hidden, average_attn_weights=mean)
                b = theirs(x, memory, memory, key_padding_mask=hidden, average_attn_weights=mean)
                torch.testing.assert_close(a[0], b[0], rtol=1e-5, atol=1e-6)
                torch.testing.assert_close(a[1], b[1], rtol=1e-5, atol=1e-6)
            n = x.shape[1 if batch_first else 0]
            mask = torch.nn.Transformer.generate_square_subsequent_mask(n)
            a = ours(x, x, x, attn_mask=mask, need_weights=False)[0]
            b = theirs(x, x, x, attn_mask=mask, need_weights=False)[0]
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
            torch.testing.assert_close(ours(x, x, x, is_causal=True)[0], b, rtol=1e-5, atol=1e-6)
            torch.testing.assert_close(ours(x[0], x[0], x[0])[0], theirs(x[0], x[0], x[0])[0],
                                       rtol=1e-5, atol=1e-6)

    def test_gradients_of_the_module_are_right(self):
        torch.manual_seed(2)
        ours = rt.RectifiedLinearAttention(8, 2, kind="softmax", kdim=6, vdim=5, batch_first=True)
        theirs = torch.nn.MultiheadAttention(8, 2, kdim=6, vdim=5, batch_first=True)
        theirs.load_state_dict(ours.state_dict())
        x = [torch.randn(2, 4, n) for n in (8, 6, 5)]
        for m in (ours, theirs):
            m(*x)[0].square().sum().backward()
        for (name, p), (_, q) in zip(ours.named_parameters(), theirs.named_parameters()):
            torch.testing.assert_close(p.grad, q.grad, rtol=1e-4, atol=1e-5, msg=name)

    def test_a_loss_on_weights_has_its_gradient(self):
        """Alone, and together with one on the result."""
        for seed, kind in enumerate(KINDS):
            for causal in (False, True):
                values = inputs(200 + seed)
                dy, dw = torch.randn(3, 5, D), torch.randn(3, HEADS, 5, 9)
                x = [t.double().requires_grad_() for t in values]
                y, weights = reference.attend(kind, HEADS, *x, LENGTHS, causal)
                op = rela.Attention(HEADS, WIDTH, kind, max_length=9, causal=causal, **reference.SETTINGS)
                own = [t.clone().requires_grad_() for t in values]
                z, shown = rt.attention(op, *own, k_lengths=torch.tensor(LENGTHS), weights=True)
                for share in (0, 1):
                    want = torch.autograd.grad((weights * dw.double()).sum() + share * (y * dy.double()).sum(), x,
                                               allow_unused=True, retain_graph=True)
                    got = torch.autograd.grad((shown * dw).sum() + (share * (z * dy).sum() if share else 0), own,
                                              allow_unused=True, retain_graph=True)
                    for name, a, b in zip(NAMES, got, want):
                        if b is not None:
                            found = gap(0 * b if a is None else a, b)
                            self.assertLess(found, 1e-4, f"{kind} {causal} {share}: d{name}")

    def test_weights_of_the_module_can_be_trained(self):
        hidden = torch.arange(6)[None] >= torch.tensor([6, 4])[:, None]
        for masks in ({}, {"key_padding_mask": hidden}, {"is_causal": True}):
            layer = rt.RectifiedLinearAttention(8, 2, batch_first=True)
            _, weights = layer(*[torch.randn(2, 6, 8)] * 3, **masks)
            weights[:, :, 0].sum().backward()
            self.assertGreater(float(layer.in_proj_weight.grad[:16].abs().sum()), 0, masks)

    def test_gradients_in_double_are_those_of_differences(self):
        """Once and twice, of result and weights."""
        hidden = torch.arange(4)[None] >= torch.tensor([4, 3])[:, None]
        for kind in set(KINDS) - {"fusedmax"}:  # which is always in float32
            torch.manual_seed(5)
            layer = rt.RectifiedLinearAttention(4, 2, batch_first=True, kind=kind, dtype=torch.float64)
            x = (torch.randn(2, 4, 4, dtype=torch.float64) * 2).requires_grad_()
            for masks in ({"key_padding_mask": hidden}, {"is_causal": True}):
                with self.subTest(kind, masks=list(masks)):
                    check = (lambda x: layer(x, x, x, **masks)), (x,)
                    self.assertTrue(torch.autograd.gradcheck(*check))
                    self.assertTrue(torch.autograd.gradgradcheck(*check))

    def test_what_is_left_to_pytorch_says_so(self):
        """What docs/python.md names as differences."""
        layer, x = rt.RectifiedLinearAttention(8, 2, batch_first=True), torch.randn(2, 5, 8, requires_grad=True)
        grad, = torch.autograd.grad(layer(x, x, x)[0].sum(), x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "once_differentiable"):
            grad.sum().backward()
        with self.assertRaisesRegex(ValueError, "is on meta; this module runs on the CPU"):
            layer(*[x.detach().to("meta")] * 3)
        with self.assertRaisesRegex(ValueError, "device 'meta'"):
            rt.RectifiedLinearAttention(8, 2, device="meta")
        if hasattr(torch, "vmap"):
            with self.assertRaises((RuntimeError, ValueError)):
                torch.vmap(lambda x: layer(x, x, x)[0])(torch.randn(3, 2, 5, 8))

    def test_it_learns(self):
        """Select the marked value: a task that attention alone can do."""
        torch.manual_seed(3)
        layer = rt.RectifiedLinearAttention(16, 2, batch_first=True)
        optimiser = torch.optim.Adam(layer.parameters(), 1e-2)
        losses = []
        for _ in range(150):
            x = torch.randn(16, 6, 16)
            marked = torch.randint(6, (16,))
            x[:, :, 0] = -1
            x[torch.arange(16), marked, 0] = 2
            want = x[torch.arange(16), marked, 1:5]
            loss = (layer(x, x, x)[0][:, 0, 1:5] - want).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        self.assertLess(np.mean(losses[-10:]), 0.6 * np.mean(losses[:10]))

    def test_it_copies_saves_drops_and_grows(self):
        torch.manual_seed(4)
        layer = rt.RectifiedLinearAttention(8, 2, dropout=0.5, batch_first=True)
        x = torch.randn(1, 5, 8)
        other = copy.deepcopy(layer).eval()
        self.assertFalse(torch.equal(layer(x, x, x)[0], layer(x, x, x)[0]))
        layer.eval()
        self.assertTrue(torch.equal(layer(x, x, x)[0], other(x, x, x)[0]))
        long = torch.randn(1, 300, 8)
        self.assertEqual(layer(long, long, long)[0].shape, long.shape)

    def test_what_cannot_be_done_is_refused(self):
        layer = rt.RectifiedLinearAttention(8, 2, batch_first=True)
        x = torch.randn(2, 3, 8)
        with self.assertRaisesRegex(ValueError, "expected \\(3, 3\\)"):
            layer(x, x, x, attn_mask=torch.eye(2, dtype=torch.bool))
        with self.assertRaisesRegex(ValueError, "not a multiple"):
            rt.RectifiedLinearAttention(8, 3)
        with self.assertRaisesRegex(rela.Error, "unknown attention 'odd'"):
            rt.RectifiedLinearAttention(8, 2, kind="odd")
        with self.assertRaisesRegex(ValueError, "float32 on the CPU"):
            rt.attention(rela.Attention(2, 4, "relu"), x.double(), x, x)
        with self.assertRaisesRegex(ValueError, "needs 8 numbers as gate"):
            rt.attention(rela.Attention(2, 4), x, x, x, torch.ones(8))


if __name__ == "__main__":
    unittest.main()
