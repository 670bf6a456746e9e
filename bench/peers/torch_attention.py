# SPDX-License-Identifier: MIT
"""PyTorch's side of attention without a model: answers each line of JSON with the times of one case, in nanoseconds.

    {"what": "kernel", "kind", "length", "sentences", "heads", "d_head", "shifted", "seconds"}    for one score
    {"what": "weights", "kind", "length", "seconds"}                                              for one row

Where there are several ways to compute a kind, all are tried once, and the fastest is measured from then on. One
thread, in processor time, repeated as cli/bench/bench_rounds.c does.
"""
import json
import math
import sys
import time
import warnings

import entmax
import torch

from torch_model import NORMED, PARTIAL, HeadsNorm

SCORES, ROWS_LEAST = 1 << 17, 16  # as in cli/bench/bench_weights.c
TENTH = 1.28155  # as in cli/bench/bench_attention.c
SORT_MOST, HALVE_MOST = 1000, 100  # lengths where a full sort and bisection have a chance
HALVINGS = 25


def functions(kind, length):
    """Ways to make weights of rows of scores."""
    if kind in ("sparsemax", "entmax15"):
        full, halve = {"sparsemax": (entmax.sparsemax, entmax.sparsemax_bisect),
                       "entmax15": (entmax.entmax15, lambda s, n_iter: entmax.entmax_bisect(s, 1.5, n_iter=n_iter))}[kind]
        ways = {f"first {PARTIAL}": lambda s: full(s, k=min(PARTIAL, length))}
        if length <= SORT_MOST:
            ways["sort"] = full
        if length <= HALVE_MOST:
            ways["bisection"] = lambda s: halve(s, n_iter=HALVINGS)
        return ways
    if kind == "relu" or kind in NORMED:
        return {"plain": torch.relu}
    return {"plain": {"softmax": lambda s: s.softmax(-1), "entmax": lambda s: entmax.entmax_bisect(s, 1.5),
                      "gelu-g": torch.nn.functional.gelu}[kind]}


def kernels(kind, length):
    """Ways to compute z from q, k and v."""
    def mixed(weigh):
        return lambda q, k, v: torch.matmul(weigh(torch.matmul(q * q.shape[-1]**-0.5, k.transpose(-1, -2))), v)

    ways = {name: mixed(weigh) for name, weigh in functions(kind, length).items()}
    if kind == "softmax":
        ways["fused"] = torch.nn.functional.scaled_dot_product_attention
    if kind == "relu" or kind in NORMED:
        ways["in place"] = mixed(torch.relu_)
    return ways


def timed(work, seconds):
    """Seconds of one call."""
    start = time.process_time()
    work()
    each = time.process_time() - start
    if each > 2 * seconds > 0:
        return each
    start, calls, took = time.process_time(), 0, 0.0
    while took <= 0 or took < 0.9 * seconds:
        n = max(1, int((seconds - took) / each)) if each > 0 else 1
        for _ in range(n):
            work()
        calls += n
        took = time.process_time() - start
        each = took / calls
    return each


def silent(work):
    def run():
        with torch.no_grad():
            work()
    return run


def kernel_passes(case, attend):
    """Number of scores; forward alone, and forward with backward."""
    n, heads, length, d_head = (case[k] for k in ("sentences", "heads", "length", "d_head"))
    torch.manual_seed(1)
    q, k, v = (torch.randn(n, heads, length, d_head) for _ in range(3))
    if case["shifted"]:  # nine scores out of ten below zero
        move = math.sqrt(TENTH * math.sqrt(d_head - 1))
        q[..., 0], k[..., 0] = move, -move
    norm = HeadsNorm(heads * d_head, case["kind"] == "rela-g") if case["kind"] in NORMED else None
    leaves = [x.requires_grad_() for x in (q, k, v)] + list(norm.parameters() if norm else [])
    dy = torch.randn(n, length, heads * d_head)

    def forward():
        z = attend(q, k, v).transpose(1, 2).flatten(2)
        return norm(z) if norm else z

    passes = {"forward": silent(forward), "both": lambda: torch.autograd.grad(forward(), leaves, dy)}
    return n * heads * length * length, passes


def weights_passes(case, weigh):
    """Number of rows; forward alone, and backward alone."""
    rows = max(ROWS_LEAST, SCORES // case["length"])
    torch.manual_seed(1)
    s, dw = torch.randn(2, rows, case["length"]).unbind()
    s = s.clone().requires_grad_()
    w = weigh(s)
    passes = {"forward": silent(lambda: weigh(s)), "back": lambda: torch.autograd.grad(w, s, dw, retain_graph=True)}
    return rows, passes


def prepared(case):
    """The fastest way, how much it does, and its passes."""
    make, ways = {"kernel": (kernel_passes, kernels), "weights": (weights_passes, functions)}[case["what"]]
    best = None
    for name, way in ways(case["kind"], case["length"]).items():
        n, passes = make(case, way)
        took = 0
        for work in passes.values():
            work()  # warm
            took += timed(work, 0)
        if best is None or took < best[0]:
            best = took, name, n, passes
    return best[1:]


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    known = {}
    for line in sys.stdin:
        case = json.loads(line)
        if line not in known:
            known[line] = prepared(case)
        way, n, passes = known[line]
        times = {name: 1e9 * timed(work, case["seconds"]) / n for name, work in passes.items()}
        print(json.dumps({"way": way, **times}), flush=True)


main()
