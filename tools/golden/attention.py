# SPDX-License-Identifier: MIT
"""A reference of every attention kind in PyTorch, for the tests of the Python package.

Written from the definitions, one row at a time, in whatever type the tensors have; gradients come
from autograd. Thresholds are found by bisection without gradient and then corrected by one Newton
step with gradient: the value stays, and the implicit function theorem does the rest.
"""
import math

import torch

SETTINGS = {"slope": 0.05, "alpha": 1.3, "fuse": 0.2, "top": 3, "window": 2, "stride": 3}
EPSILON = 1e-8
RMS = {"relu-rms", "rela-i"}
GATED = {"rela-g", "rela-g-ln", "gelu-g", "leaky-g", "relu2-g", "rela-t", "rela-tl"}
HEAD = {"rela-t", "entmax-learned", "reluformer", "rela-tl", "softmax-zero"}
# Kinds that see keys by their places, and those whose random features only the library has.
FIXED = {"current", "previous", "next", "left", "right", "start", "end"}
PLACES = FIXED | {"local", "strided"}
RANDOM = {"performer", "performer-relu"}


def entmax(s, alpha):
    """[1 + b (s - c)]+ ^ (1/b) with b = alpha - 1 and c such that the sum is 1."""
    b = alpha - 1

    def weights(c):
        x = 1 + b * (s - c)
        return torch.where(x > 0, x.clamp(min=1e-300 if s.dtype == torch.float64 else 1e-30),
                           1) ** (1 / b) * (x > 0)

    with torch.no_grad():
        low, high = s.max(), s.max() + 1 / b
        for _ in range(60):
            c = (low + high) / 2
            low, high = (c, high) if weights(c).sum() > 1 else (low, c)
        w = weights(c)
        slope = (w[w > 0] ** (1 - b)).sum()
    return weights(c + (weights(c).sum() - 1) / slope)


def smooth(s, fuse):
    """argmin |y - s|^2 / 2 + fuse * total variation, by projected gradient on the dual; its
    derivative is the mean over each segment of equal values."""
    with torch.no_grad():
        u = torch.zeros(len(s) + 1, dtype=s.dtype)
        for _ in range(1200):
            y = s + u[1:] - u[:-1]
            u[1:-1] = (u[1:-1] + (y[1:] - y[:-1]) / 4).clamp(-fuse, fuse)
        y = s + u[1:] - u[:-1]
        segment = torch.cat([torch.zeros(1), ((y[1:] - y[:-1]).abs() > 1e-6).cumsum(0)])
        same = (segment[:, None] == segment[None]).to(s.dtype)
        mean = same / same.sum(1, keepdim=True)
    return y.detach() + mean @ (s - s.detach())


def pattern(kind, query, n):
    """Which of n visible keys a query sees."""
    at = min(query, n - 1)
    far = (torch.arange(n) - at).abs()
    if kind == "local":
        return far <= SETTINGS["window"]
    return (far < SETTINGS["stride"]) | (far % SETTINGS["stride"] == 0)


def by_place(kind, query, n):
    """Weights of n visible keys: one of them, or cubes of the distance to an end."""
    at = min(query, n - 1)
    one = {"current": at, "previous": max(at - 1, 0), "next": min(at + 1, n - 1)}
    first, last = {"left": (0, max(at - 1, 1)), "right": (min(at + 2, n - 1), n)}.get(kind, (0, n))
    if kind in one:
        first, last = one[kind], one[kind] + 1
    w = [0.0] * n
    for j in range(first, last):
        w[j] = float(j - first + 1 if kind in ("left", "end") else last - j) ** 3
    return [x / sum(w) for x in w]


def weigh(kind, s, head, query):
    """Weights of one row of visible scores."""
    if kind in FIXED:
        return torch.tensor(by_place(kind, query, len(s)), dtype=s.dtype) + 0 * s
    if kind == "softmax-n":
        return torch.softmax(s * math.log(len(s)) / math.log(32), 0)
    if kind == "softmax-zero":
        return torch.softmax(torch.cat([s, head.reshape(1)]), 0)[:-1]
    if kind == "reluformer":
        return torch.relu(s) * head / math.sqrt(len(s) / 2)
    if kind == "rela-tl":
        return torch.relu(s - head * math.sqrt(2 * math.log(len(s))))
    if kind == "softmax":
        return torch.softmax(s, 0)
    if kind in ("sparsemax", "entmax15", "entmax", "entmax-learned"):
        fixed = {"sparsemax": 2.0, "entmax15": 1.5, "entmax": SETTINGS["alpha"]}
        alpha = 1 + torch.sigmoid(head) if kind == "entmax-learned" else fixed[kind]
        return entmax(s, alpha)
    if kind == "fusedmax":
        return entmax(smooth(s, SETTINGS["fuse"]), 2.0)
    if kind == "topk":
        kept = s >= s.sort(descending=True).values[min(SETTINGS["top"], len(s)) - 1]
        return torch.softmax(s.masked_fill(~kept, -math.inf), 0)
    if kind in ("local", "strided"):
        return torch.softmax(s.masked_fill(~pattern(kind, query, len(s)), -math.inf), 0)
    if kind == "linear":
        return s / s.sum()
    if kind == "gelu-g":
        return s * (1 + torch.erf(s / math.sqrt(2))) / 2
    if kind == "leaky-g":
        return torch.where(s > 0, s, SETTINGS["slope"] * s)
    if kind == "relu2-g":
        return torch.relu(s) ** 2
    if kind == "rela-t":
        return torch.relu(s - head)
    return torch.relu(s)  # relu, relu-rms, rela-i, rela-g, rela-g-ln


def norm(kind, z, gain, gate):
    if kind not in RMS | GATED:
        return z
    if kind == "rela-g-ln":
        z_hat = z - z.mean(-1, keepdim=True)
    else:
        z_hat = z
    y = gain * z_hat / torch.sqrt((z_hat**2).mean(-1, keepdim=True) + EPSILON)
    return y * torch.sigmoid(gate * z) if kind in GATED else y


def attend(kind, heads, q, k, v, gain, gate, head, k_lengths, causal):
    """q, k, v (batch, length, d): result, and weights (batch, heads, queries, keys)."""
    width = q.shape[2] // heads
    y, shown = [], torch.zeros(len(q), heads, q.shape[1], k.shape[1], dtype=q.dtype)
    for b, n in enumerate(k_lengths):
        rows = []
        for i in range(q.shape[1]):
            parts = []
            for h in range(heads):
                c = slice(h * width, (h + 1) * width)
                seen = min(i + 1, n) if causal else n
                if seen == 0:
                    parts.append(torch.zeros(width, dtype=q.dtype))
                    continue
                qi, kb = q[b, i, c], k[b, :seen, c]
                if kind == "linear":
                    one = torch.nn.functional.elu
                    s = (one(kb) + 1) @ (one(qi) + 1)
                else:
                    s = kb @ qi / math.sqrt(width)
                w = weigh(kind, s, head[h] if kind in HEAD else None, i)
                shown[b, h, i, :seen] = w
                parts.append(w @ v[b, :seen, c])
            rows.append(torch.cat(parts))
        y.append(torch.stack(rows))
    return norm(kind, torch.stack(y), gain, gate), shown
