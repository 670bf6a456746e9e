#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weights.py [SPREAD]: what bench_weights measures, for PyTorch and its entmax package."""
import json
import sys
import time

import torch
from entmax import entmax15, entmax_bisect, sparsemax

ROWS, LENGTHS, REPEATS = 2048, (32, 64, 256), 7
KINDS = {
    "softmax": lambda s: torch.softmax(s, -1),
    "sparsemax": lambda s: sparsemax(s, -1),
    "entmax15": lambda s: entmax15(s, -1),
    "entmax": lambda s: entmax_bisect(s, 1.5, -1),
    "relu": torch.relu,
    "gelu-g": torch.nn.functional.gelu,
}


def best(function):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) / ROWS * 1e9


torch.set_num_threads(1)
spread = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
for kind, weigh in KINDS.items():
    for n in LENGTHS:
        torch.manual_seed(1)
        s = (torch.randn(ROWS, n) * spread).requires_grad_()
        dw = torch.randn(ROWS, n)
        with torch.no_grad():
            forward = best(lambda: weigh(s))
        w = weigh(s)
        back = best(lambda: torch.autograd.grad(w, s, dw, retain_graph=True))
        print(json.dumps({"bench": "weights", "kind": kind, "level": "pytorch", "n": n,
                          "forward_ns": round(forward), "back_ns": round(back)}))
