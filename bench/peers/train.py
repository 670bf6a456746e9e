# SPDX-License-Identifier: MIT
"""Training beside PyTorch on the same batches: speed and memory, or the loss over the first updates."""
import json
import os

import batches
from environment import HERE, ROOT, Failure, jemalloc, note, program, run, run_json
from tables import comparison

# Measured updates of a process, and those before them.
UPDATES = {"tiny": (8, 2), "base": (2, 1)}
GOLDEN_MOST = 1e-4


def check(o, kind):
    """The model of PyTorch is ours, if there is a golden file of the kind to tell."""
    path = os.path.join(ROOT, "tests", "golden", f"model_{kind}.safetensors")
    if not os.path.exists(path):
        note(f"train: no golden model with {kind}: that of PyTorch was not checked")
        return
    report = run_json(o.python, os.path.join(HERE, "torch_golden.py"), kind, path)
    if max(report["loss"], report["gradients"]) > GOLDEN_MOST:
        raise Failure(f"the PyTorch model of {kind} is not ours: {json.dumps(report)}")


def sides(o, path, preset, kind, threads):
    """One round: what bench_step and torch_train.py tell."""
    updates, warm = UPDATES[preset]
    case = (preset, kind, threads, o.updates or updates, path, warm)
    ours = run_json(program(o.build, "bench", "bench_step"), *case, threads=threads)
    theirs = run_json(o.python, os.path.join(HERE, "torch_train.py"), "step", *case, threads=threads, more=jemalloc())
    if ours["parameters"] != theirs["parameters"]:
        raise Failure(f"{preset}: {ours['parameters']} parameters, and {theirs['parameters']} in PyTorch")
    return ours, theirs


def speed(o, kinds, printer, work):
    for kind in kinds:
        check(o, kind)
    path = os.path.join(work, "batches")
    most = max((o.updates or UPDATES[p][0]) + UPDATES[p][1] for p in o.presets)
    batches.write(path, o.tokens, most, o.text, program(o.build, "rela"), work)
    text = "text" if o.text else "random tokens"
    for preset in o.presets:
        for threads in o.threads:
            rounds = {kind: [] for kind in kinds}
            for i in range(o.rounds):
                for kind in kinds:
                    note(f"train: {preset} {kind}, threads {threads}, round {i + 1} of {o.rounds}")
                    rounds[kind].append(sides(o, path, preset, kind, threads))
            rows = []
            for kind, report in rounds.items():
                ours, theirs = zip(*report)
                rows.append(comparison(
                    {"preset": preset, "kind": kind, "threads": threads},
                    [x["tok_s"] for x in ours], [x["tok_s"] for x in theirs],
                    **{"of product": sorted(x["share"] for x in ours)[len(ours) // 2],
                       "rela MB": max(x["rss_mb"] for x in ours), "peer MB": max(x["rss_mb"] for x in theirs),
                       "padding": theirs[0]["padding"]}))
            printer.table("train", f"target tokens/s of rela and PyTorch, updates of {o.tokens} tokens, {text}", rows)


def curve(o, kinds, printer, work):
    """Both losses every hundred updates, tiny: first weights and dropout are other ones."""
    if not o.text:
        raise Failure("curve: nothing can be learned from random tokens; expected --text")
    path = os.path.join(work, "batches")
    updates, threads = o.updates or 1000, max(o.threads)
    batches.write(path, o.tokens, updates, o.text, program(o.build, "rela"), work)
    for kind in kinds:
        note(f"curve: {kind}, {updates} updates of both")
        ours = run(program(o.build, "bench", "bench_curve"), kind, threads, path, 1, updates, threads=threads)
        theirs = run(o.python, os.path.join(HERE, "torch_train.py"), "curve", kind, threads, path, updates,
                     threads=threads, more=jemalloc())
        report = [[json.loads(line) for line in side.splitlines()] for side in (ours, theirs)]
        printer.losses(kind, [(a["update"], a["loss"], b["loss"]) for a, b in zip(*report)])
