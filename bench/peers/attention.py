# SPDX-License-Identifier: MIT
"""Attention without a model beside PyTorch: whole kernels, and rows of scores to weights. One thread.

Our side is `rela bench attention`, which takes fewer heads for long sentences and several sentences for short ones;
PyTorch gets as many of both.
"""
import json
import os

from environment import HERE, Worker, jemalloc, note, program, run
from tables import comparison

WEIGHTS_LONGEST = 1000


def ours(o, preset, kinds, length, table):
    """The rows of a table of `rela bench`, of one round."""
    chosen = [x for kind in kinds for x in ("--attention", kind)]
    text = run(program(o.build, "rela"), "bench", "attention", "-q", "--json", "--threads", 1, "--rounds", 1,
               "--preset", preset, "--seconds", o.seconds, "--length", length, *chosen)
    report = json.loads(text)
    rows = [r for r in report["tables"][table] if r["kind"] in kinds]  # softmax is always among them
    return rows, report["d"] // report["heads"]


def worker(o):
    return Worker(o.python, os.path.join(HERE, "torch_attention.py"), more=jemalloc())


def kernels(o, kinds, printer, work):
    with worker(o) as torch:
        for preset in o.presets:
            rows = []
            for length in o.lengths:
                rows += kernels_of(o, torch, preset, kinds, length)
            printer.table("attention", "ns for one score of one head, rela and PyTorch, one thread", rows)


def kernels_of(o, torch, preset, kinds, length):
    times, more = {}, {}
    for i in range(o.rounds):
        note(f"attention: {preset}, T {length}, round {i + 1} of {o.rounds}")
        rows, d_head = ours(o, preset, kinds, length, "attention")
        for r in rows:
            n, heads = int(r["sentences"]), int(r["heads"])
            theirs = torch.ask({"what": "kernel", "kind": r["kind"], "length": length, "sentences": n, "heads": heads,
                                "d_head": d_head, "shifted": r["scores"] == "shifted", "seconds": o.seconds})
            for name, mine in (("forward", r["forward_ns"]), ("both", r["forward_ns"] + r["back_ns"])):
                case = (length, n, f"{heads}x{d_head}", r["kind"], r["scores"], name)
                times.setdefault(case, []).append((mine, theirs[name]))
                more[case] = {"zeros %": r["zeros"], "peer's way": theirs["way"]}
    names = ("T", "batch", "heads", "kind", "scores", "pass")
    return [comparison(dict(zip(names, case)), *map(list, zip(*x)), times=True, **more[case])
            for case, x in times.items()]


def weights(o, kinds, printer, work):
    times, more = {}, {}
    with worker(o) as torch:
        for length in [x for x in o.lengths if x <= WEIGHTS_LONGEST] or [WEIGHTS_LONGEST]:
            for i in range(o.rounds):
                note(f"weights: T {length}, round {i + 1} of {o.rounds}")
                for r in ours(o, "tiny", kinds, length, "weights")[0]:
                    theirs = torch.ask({"what": "weights", "kind": r["kind"], "length": length, "seconds": o.seconds})
                    for name in ("forward", "back"):
                        case = (length, r["kind"], name)
                        times.setdefault(case, []).append((r[name + "_ns"], theirs[name]))
                        more[case] = {"peer's way": theirs["way"]}
    rows = [comparison(dict(zip(("T", "kind", "pass"), case)), *map(list, zip(*x)), times=True, **more[case])
            for case, x in times.items()]
    printer.table("weights", "ns for a row of T scores to weights or back, rela and PyTorch with entmax, one thread",
                  rows)
