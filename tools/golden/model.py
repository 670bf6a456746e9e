#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""model.py FOLDER: golden cases of whole models, made with PyTorch.

A reference of the encoder-decoder in its plainest form: one sentence at a time, no packing, no
fused steps, gradients by autograd, in double. sparsemax and 1.5-entmax come from the entmax
package. Each case becomes FOLDER/model_<case>.safetensors, fp32, with

  metadata       the numbers of the configuration, as text
  src, tgt       int32 ids of all sentences, each ending with 2; src.at, tgt.at where they start
  init.<name>    first values of the parameters, named as src/model/build.c and src/nn/block_*.c does
  grad.<name>    gradient of the summed loss
  after.<name>   parameters after the Adam steps; NaN where the gradient is rounding only
  logits         (target rows, vocabulary)
  loss           label-smoothed cross entropy, summed over rows, before the first step
"""
import json
import math
import struct
import sys
from pathlib import Path

import torch
from entmax import entmax15, sparsemax

D, FFN, HEADS, LAYERS, VOCAB = 12, 16, 2, 2, 20
SMOOTH, RATE, STEPS, BETA1, BETA2, EPSILON = 0.1, 1e-3, 10, 0.9, 0.98, 1e-8
LN_EPS, ATTN_EPS = 1e-6, 1e-8
SRC = [[3, 4, 5, 6, 7, 8, 2], [9, 10, 2], [11, 12, 13, 14, 15, 16, 17, 18, 19, 3, 5, 2]]
TGT = [[19, 18, 17, 2], [16, 15, 14, 13, 12, 11, 10, 9, 8, 2], [7, 6, 2]]

CASES = {
    "softmax": {"kinds": ["softmax"] * 3},
    "sparsemax": {"kinds": ["sparsemax"] * 3},
    "entmax15": {"kinds": ["entmax15"] * 3},
    "rela-i": {"kinds": ["rela-i"] * 3},
    "rela-g": {"kinds": ["rela-g"] * 3},
    "mixed": {"kinds": ["softmax", "rela-g", "rela-i"], "pre_norm": True, "tie": "none"},
}

WEIGHTS = {
    "softmax": lambda s: torch.softmax(s, -1),
    "sparsemax": lambda s: sparsemax(s, -1),
    "entmax15": lambda s: entmax15(s, -1),
    "rela-i": torch.relu,
    "rela-g": torch.relu,
}
ENC, DEC, CROSS = range(3)


def layout(case):
    """Names and shapes of all parameters."""
    kinds, shapes = case["kinds"], {}
    if case.get("tie") == "none":
        shapes |= {name: (VOCAB, D) for name in ("embed.src", "embed.tgt", "output")}
    else:
        shapes["embed"] = (VOCAB, D)
    shapes["embed.bias"] = (D,)

    def linear(name, out, inner):
        shapes[name + ".weight"] = (out, inner)
        shapes[name + ".bias"] = (out,)

    def norm(name):
        shapes[name + ".ln.gain"] = (D,)
        shapes[name + ".ln.offset"] = (D,)

    def attention(name, kind, cross):
        if cross:
            linear(name + ".q", D, D)
            linear(name + ".kv", 2 * D, D)
        else:
            linear(name + ".qkv", 3 * D, D)
        if kind.startswith("rela"):
            shapes[name + ".norm.gain"] = (D,)
        if kind == "rela-g":
            shapes[name + ".norm.gate"] = (D,)
        linear(name + ".out", D, D)
        norm(name)

    for stack in ("enc", "dec"):
        for layer in range(LAYERS):
            at = f"{stack}.{layer}"
            attention(at + ".self", kinds[ENC if stack == "enc" else DEC], False)
            if stack == "dec":
                attention(at + ".cross", kinds[CROSS], True)
            linear(at + ".ffn.up", FFN, D)
            linear(at + ".ffn.down", D, FFN)
            norm(at + ".ffn")
        if case.get("pre_norm"):
            norm(stack)
    return shapes


def first_values(shapes):
    """Random everywhere, biases and gains too: nothing starts at a special point."""
    values = {}
    for name, shape in shapes.items():
        x = torch.randn(shape, dtype=torch.float64)
        if len(shape) == 2:
            x = x * (1.0 if name.startswith(("embed", "output")) else 1.6) / math.sqrt(D)
        elif name.endswith(".gain"):
            x = 1 + 0.1 * x
        else:
            x = 0.2 * x
        values[name] = x.float()
    return values


class Model:
    def __init__(self, case, values, dtype):
        self.kinds = case["kinds"]
        self.pre_norm = case.get("pre_norm", False)
        self.tied = case.get("tie") != "none"
        self.dtype = dtype
        self.p = {name: x.to(dtype, copy=True).requires_grad_() for name, x in values.items()}

    def linear(self, name, x):
        return x @ self.p[name + ".weight"].T + self.p[name + ".bias"]

    def layer_norm(self, name, x):
        mean = x.mean(-1, keepdim=True)
        var = ((x - mean) ** 2).mean(-1, keepdim=True)
        hat = (x - mean) / torch.sqrt(var + LN_EPS)
        return hat * self.p[name + ".ln.gain"] + self.p[name + ".ln.offset"]

    def heads_norm(self, name, kind, z):
        if not kind.startswith("rela"):
            return z
        y = self.p[name + ".norm.gain"] * z / torch.sqrt((z**2).mean(-1, keepdim=True) + ATTN_EPS)
        if kind == "rela-g":
            y = y * torch.sigmoid(self.p[name + ".norm.gate"] * z)
        return y

    def attend(self, name, kind, q, k, v, causal):
        parts = []
        for h in range(HEADS):
            c = slice(h * D // HEADS, (h + 1) * D // HEADS)
            s = q[:, c] @ k[:, c].T / math.sqrt(D // HEADS)
            rows = []
            for i in range(len(s)):
                n = i + 1 if causal else s.shape[1]
                rows.append(WEIGHTS[kind](s[i, :n]) @ v[:n, c])
            parts.append(torch.stack(rows))
        z = torch.cat(parts, -1)
        return self.linear(name + ".out", self.heads_norm(name, kind, z))

    def attention(self, name, kind, x, memory, causal):
        if memory is None:
            q, k, v = self.linear(name + ".qkv", x).split(D, -1)
        else:
            q = self.linear(name + ".q", x)
            k, v = self.linear(name + ".kv", memory).split(D, -1)
        return self.attend(name, kind, q, k, v, causal)

    def sublayer(self, name, x, function):
        if self.pre_norm:
            return x + function(self.layer_norm(name, x))
        return self.layer_norm(name, x + function(x))

    def ffn(self, name, x):
        return self.linear(name + ".down", torch.relu(self.linear(name + ".up", x)))

    def embed(self, table, ids, shifted):
        half = D // 2
        t = torch.arange(len(ids), dtype=self.dtype)[:, None]
        angle = t * torch.exp(-math.log(1e4) / (half - 1) * torch.arange(half, dtype=self.dtype))
        x = self.p[table][ids] * math.sqrt(D) + self.p["embed.bias"]
        if shifted:
            x = torch.cat([torch.zeros(1, D, dtype=self.dtype), x[:-1]])
        return x + torch.cat([torch.sin(angle), torch.cos(angle)], -1)

    def stack(self, stack, x, memory):
        decoder = stack == "dec"
        for layer in range(LAYERS):
            at = f"{stack}.{layer}"
            kind = self.kinds[DEC if decoder else ENC]
            x = self.sublayer(at + ".self", x,
                              lambda y: self.attention(at + ".self", kind, y, None, decoder))
            if decoder:
                x = self.sublayer(at + ".cross", x, lambda y: self.attention(
                    at + ".cross", self.kinds[CROSS], y, memory, False))
            x = self.sublayer(at + ".ffn", x, lambda y: self.ffn(at + ".ffn", y))
        return self.layer_norm(stack, x) if self.pre_norm else x

    def logits(self, src, tgt):
        names = ("embed",) * 3 if self.tied else ("embed.src", "embed.tgt", "output")
        source, target, output = names
        memory = self.stack("enc", self.embed(source, torch.tensor(src), False), None)
        features = self.stack("dec", self.embed(target, torch.tensor(tgt), True), memory)
        return features @ self.p[output].T

    def loss(self):
        """Sum over all target rows; logits of all rows concatenated."""
        z = torch.cat([self.logits(s, t) for s, t in zip(SRC, TGT)])
        gold = torch.tensor([x for t in TGT for x in t])
        target = torch.full_like(z, SMOOTH / (VOCAB - 1))
        target[torch.arange(len(gold)), gold] = 1 - SMOOTH
        return -(target * torch.log_softmax(z, -1)).sum(), z


def gradients(model):
    loss, logits = model.loss()
    names = list(model.p)
    grads = torch.autograd.grad(loss, [model.p[n] for n in names])
    return loss.detach(), logits.detach(), dict(zip(names, grads))


def train(model):
    """Adam on the mean loss. Returns for each parameter the least |gradient| of its entries."""
    tokens = sum(len(t) for t in TGT)
    m = {n: torch.zeros_like(x) for n, x in model.p.items()}
    v = {n: torch.zeros_like(x) for n, x in model.p.items()}
    least = {n: torch.full_like(x, math.inf) for n, x in model.p.items()}
    for step in range(1, STEPS + 1):
        grads = gradients(model)[2]
        for n, g in grads.items():
            g = g / tokens
            least[n] = torch.where(g == 0, least[n], torch.minimum(least[n], g.abs()))
            m[n] = BETA1 * m[n] + (1 - BETA1) * g
            v[n] = BETA2 * v[n] + (1 - BETA2) * g**2
            mean, square = m[n] / (1 - BETA1**step), v[n] / (1 - BETA2**step)
            with torch.no_grad():
                model.p[n] -= RATE * mean / (torch.sqrt(square) + EPSILON)
    return least


def write(path, tensors, metadata):
    types = {torch.float32: "F32", torch.int32: "I32"}
    header, data = {"__metadata__": metadata}, b""
    for name, x in sorted(tensors.items(), key=lambda item: (str(item[1].dtype), item[0])):
        raw = x.contiguous().numpy().tobytes()
        header[name] = {"dtype": types[x.dtype], "shape": list(x.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return 8 + len(text) + len(data)


def distance(single, exact):
    """The largest difference relative to the largest value of each tensor; NaN counts as equal."""
    return max(((single[n] - x).abs().nan_to_num(0).max() / x.abs().nan_to_num(0).max()).item()
               for n, x in exact.items())


def run(case, values, dtype):
    """Loss, logits, gradients, and the parameters after training."""
    model = Model(case, values, dtype)
    loss, logits, grads = gradients(model)
    least = train(model)
    # Where the gradient vanishes but for rounding (keys' biases under softmax), Adam turns the
    # rounding into full steps: nothing to compare.
    after = {n: torch.where(least[n] > 1e-9, x.detach(), math.nan) for n, x in model.p.items()}
    return loss, logits, grads, after


def steady_run(case):
    """The first seed where rounding stays small. It does not where a row of rectified attention is
    nearly null: the norm magnifies its rounding, and a float program has no right answer."""
    for seed in range(7, 1000):
        torch.manual_seed(seed)
        values = first_values(layout(case))
        exact = run(case, values, torch.float64)
        single = run(case, values, torch.float32)
        gap = max(distance(single[2], exact[2]), distance(single[3], exact[3]))
        if gap < 1e-5:
            return seed, gap, values, exact


def make(folder, name, case):
    seed, gap, values, (loss, logits, grads, after) = steady_run(case)
    tensors = {"loss": loss.reshape(1), "logits": logits}
    for n in values:
        tensors["init." + n] = values[n]
        tensors["grad." + n] = grads[n]
        tensors["after." + n] = after[n]
    tensors = {n: x.float() for n, x in tensors.items()}
    for side, sentences in (("src", SRC), ("tgt", TGT)):
        at = [0]
        for s in sentences:
            at.append(at[-1] + len(s))
        tensors[side] = torch.tensor([x for s in sentences for x in s], dtype=torch.int32)
        tensors[side + ".at"] = torch.tensor(at, dtype=torch.int32)
    kinds = dict(zip(("enc", "dec", "cross"), case["kinds"]))
    numbers = dict(d=D, ffn=FFN, heads=HEADS, layers=LAYERS, vocab=VOCAB, smooth=SMOOTH, rate=RATE,
                   steps=STEPS, beta1=BETA1, beta2=BETA2, epsilon=EPSILON, ln_eps=LN_EPS,
                   attn_eps=ATTN_EPS, pre_norm=int(case.get("pre_norm", False)),
                   tie=case.get("tie", "all"), seed=seed, torch=torch.__version__.split("+")[0])
    metadata = {k: str(v) for k, v in (kinds | numbers).items()}
    size = write(Path(folder) / f"model_{name}.safetensors", tensors, metadata)
    print(f"{name}: {size} bytes, loss {loss.item():.6f}, seed {seed}, "
          f"float differs by {gap:.1e}")


if __name__ == "__main__":
    for case_name, case_settings in CASES.items():
        make(sys.argv[1], case_name, case_settings)
