# SPDX-License-Identifier: MIT
"""The model of rela in PyTorch, as fast as we could write it: what tools/golden/model.py says in its plainest form.

Sentences are padded to the longest of the batch. Names of the parameters are those of src/model/build.c and src/nn/block_*.c but for
ln.weight and ln.bias (ln.gain and ln.offset there), so golden files can be loaded into it.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

PAD = 0
# drop: of embeddings and of what a sublayer adds.
PRESETS = {
    "tiny": {"d": 128, "ffn": 256, "heads": 4, "layers": 4, "vocab": 10000, "drop": 0.3},
    "base": {"d": 512, "ffn": 2048, "heads": 8, "layers": 6, "vocab": 32000, "drop": 0.1},
}
KINDS = ("softmax", "sparsemax", "entmax15", "relu", "relu-rms", "rela-i", "rela-g")
NORMED = ("relu-rms", "rela-i", "rela-g")
LONGEST = 512
PARTIAL = 32  # entmax sorts so many scores first, and more only where the support is wider
HIDDEN = -1e4
PIECE = 256  # rows of logits at a time


def attend(kind, q, k, v, valid=None, causal=False):
    """q, k, v: (n, heads, T, d_head); valid: (n, keys), False where a source is padded. Returns the shape of q."""
    if kind == "softmax":
        mask = None if valid is None else valid[:, None, None]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
    rectified = kind in ("relu", *NORMED)
    if rectified and valid is not None:
        k = k * valid[:, None, :, None]  # its scores are 0, and so are the weights
    s = torch.matmul(q * q.shape[-1]**-0.5, k.transpose(-1, -2))
    if rectified:
        if causal:
            s = s.mul_(torch.ones(s.shape[-2:]).tril_())
        return torch.matmul(s.relu_(), v)
    if valid is not None:
        s = s.masked_fill_(~valid[:, None, None], HIDDEN)
    if causal:
        s = s.masked_fill_(torch.ones(s.shape[-2:], dtype=torch.bool).triu_(1), HIDDEN)
    return torch.matmul(sparse_weights(kind, s), v)


def sparse_weights(kind, s):
    import entmax

    first = PARTIAL if s.shape[-1] > 2 * PARTIAL else None
    return {"sparsemax": entmax.sparsemax, "entmax15": entmax.entmax15}[kind](s, dim=-1, k=first)


class HeadsNorm(nn.Module):
    """RMSNorm over all heads of a token, with the gate of rela-g."""

    def __init__(self, d, gated, eps=1e-8):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))
        self.gate = nn.Parameter(torch.randn(d) * d**-0.5) if gated else None
        self.eps = eps

    def forward(self, z):
        y = F.rms_norm(z, z.shape[-1:], self.gain, self.eps)
        return y if self.gate is None else y * torch.sigmoid(z * self.gate)


def linear(inner, outer):
    layer = nn.Linear(inner, outer)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class Sublayer(nn.Module):
    """LayerNorm of what goes in plus what comes out."""

    def __init__(self, d, drop, eps):
        super().__init__()
        self.ln = nn.LayerNorm(d, eps=eps)
        self.drop = drop

    def add(self, x, y):
        return self.ln(x + F.dropout(y, self.drop, self.training))


class Attention(Sublayer):
    def __init__(self, kind, d, heads, drop, eps, cross):
        super().__init__(d, drop, eps)
        self.kind, self.heads = kind, heads
        if cross:
            self.q, self.kv = linear(d, d), linear(d, 2 * d)
        else:
            self.qkv = linear(d, 3 * d)
        self.norm = HeadsNorm(d, kind == "rela-g") if kind in NORMED else None
        self.out = linear(d, d)

    def forward(self, x, memory=None, valid=None, causal=False):
        if memory is None:
            parts = self.qkv(x).chunk(3, -1)
        else:
            parts = (self.q(x), *self.kv(memory).chunk(2, -1))
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts)
        z = attend(self.kind, q, k, v, valid, causal).transpose(1, 2).flatten(2)
        return self.add(x, self.out(z if self.norm is None else self.norm(z)))


class FeedForward(Sublayer):
    def __init__(self, d, ffn, drop, eps):
        super().__init__(d, drop, eps)
        self.up, self.down = linear(d, ffn), linear(ffn, d)

    def forward(self, x):
        return self.add(x, self.down(self.up(x).relu_()))


class Layer(nn.Module):
    def __init__(self, kind, d, ffn, heads, drop, eps, decoder):
        super().__init__()
        self.decoder = decoder
        self.add_module("self", Attention(kind, d, heads, drop, eps, cross=False))
        self.cross = Attention(kind, d, heads, drop, eps, cross=True) if decoder else None
        self.ffn = FeedForward(d, ffn, drop, eps)

    def forward(self, x, valid, memory=None):
        # Targets are padded at their end, which the causal mask hides.
        x = getattr(self, "self")(x, valid=None if self.decoder else valid, causal=self.decoder)
        if self.decoder:
            x = self.cross(x, memory, valid)
        return self.ffn(x)


class Model(nn.Module):
    def __init__(self, kind, d, ffn, heads, layers, vocab, drop, eps=1e-6):
        super().__init__()
        self.d, self.drop = d, drop
        self.embed = nn.Parameter(torch.randn(vocab, d) * d**-0.5)
        self.bias = nn.Parameter(torch.zeros(d))
        self.enc = nn.ModuleList(Layer(kind, d, ffn, heads, drop, eps, False) for _ in range(layers))
        self.dec = nn.ModuleList(Layer(kind, d, ffn, heads, drop, eps, True) for _ in range(layers))
        step = -math.log(1e4) / (d // 2 - 1)
        angle = torch.arange(float(LONGEST))[:, None] * torch.exp(step * torch.arange(float(d // 2)))
        self.register_buffer("position", torch.cat([angle.sin(), angle.cos()], -1), persistent=False)

    def rows(self, ids, shifted):
        x = F.embedding(ids, self.embed) * math.sqrt(self.d) + self.bias
        if shifted:
            x = F.pad(x, (0, 0, 1, 0))[:, :-1]
        return F.dropout(x + self.position[:ids.shape[1]], self.drop, self.training)

    def forward(self, src, tgt):
        valid = src != PAD
        valid = None if bool(valid.all()) else valid
        memory = self.rows(src, False)
        for layer in self.enc:
            memory = layer(memory, valid)
        x = self.rows(tgt, True)
        for layer in self.dec:
            x = layer(x, valid, memory)
        return x

    def loss(self, src, tgt, smooth=0.1):
        """Label-smoothed cross entropy, summed over the target tokens."""
        real = tgt != PAD
        return OutputLoss.apply(self(src, tgt)[real], self.embed, tgt[real], smooth)


class OutputLoss(torch.autograd.Function):
    """Loss of x (rows, d) under an output layer (vocabulary, d), piece by piece with its gradients.

    The logits of a whole update never exist, as in src/nn/loss.c; torch's linear_cross_entropy takes longer.
    Everything but the gold shares the smoothing. That share, u for each, is the same in all rows, so
    its part of loss and gradients follows from sums over rows and over the vocabulary.
    """

    @staticmethod
    def forward(ctx, x, table, gold, smooth):
        u = smooth / (len(table) - 1)
        dx, dtable, total = torch.empty_like(x), torch.zeros_like(table), x.new_zeros(())
        logits, weights = torch.empty(2, PIECE, len(table)).unbind()
        for h, y, dh in zip(x.split(PIECE), gold[:, None].split(PIECE), dx.split(PIECE)):
            z, p = logits[:len(h)], weights[:len(h)]
            torch.mm(h, table.t(), out=z)
            torch.softmax(z, 1, out=p)
            # The largest weight is never lost in rounding: it tells the logarithm of the sum.
            total += z.amax(1).sum() - p.amax(1).log().sum() - (1 - smooth - u) * z.gather(1, y).sum()
            p.scatter_add_(1, y, p.new_full(y.shape, smooth + u - 1))
            torch.mm(p, table, out=dh)
            dtable.addmm_(p.t(), h)
        rows, words = x.sum(0), table.sum(0)
        ctx.save_for_backward(dx.sub_(u * words), dtable.sub_(u * rows))
        return total - u * (rows @ words)

    @staticmethod
    def backward(ctx, scale):
        dx, dtable = ctx.saved_tensors
        return dx * scale, dtable * scale, None, None
