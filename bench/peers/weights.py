#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weights.py: the table "weights" of `rela bench attention`, for PyTorch and its entmax package."""
import json
import time

import torch
from entmax import entmax15, entmax_bisect, sparsemax

SCORES, LENGTHS, REPEATS = 1 << 17, (25, 100, 1000), 7
KINDS = {
    "softmax": lambda s: torch.softmax(s, -1),
    "sparsemax": lambda s: sparsemax(s, -1),
    "entmax15": lambda s: entmax15(s, -1),
    "entmax": lambda s: entmax_bisect(s, 1.5, -1),
    "relu": torch.relu,
    "gelu-g": torch.nn.functional.gelu,
}


def best(function, rows):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) / rows * 1e9


torch.set_num_threads(1)
for kind, weigh in KINDS.items():
    for n in LENGTHS:
        torch.manual_seed(1)
        rows = SCORES // n
        s = torch.randn(rows, n).requires_grad_()
        dw = torch.randn(rows, n)
        with torch.no_grad():
            forward = best(lambda: weigh(s), rows)
        w = weigh(s)
        back = best(lambda: torch.autograd.grad(w, s, dw, retain_graph=True), rows)
        print(json.dumps({"bench": "weights", "kind": kind, "level": "pytorch", "length": n,
                          "forward_ns": round(forward), "back_ns": round(back)}))
