# SPDX-License-Identifier: MIT
"""Translation beside CTranslate2 with the same random weights, exported by rela convert.

Every sentence is forced to the length of its source, and the sentences of a batch have one length, as that limit is one
number per call of CTranslate2. One thread is measured in processor time, which a busy machine disturbs less; several
(as many workers of CTranslate2) by the clock.
"""
import contextlib
import os
import random

from environment import HERE, Worker, note, program, run
from tables import comparison

VOCAB = {"tiny": 10000, "base": 32000}
SENTENCES = {"tiny": (192, 256), "base": (24, 64)}  # one at a time; in batches, for each thread
FIRST_WORD = 4


def write_sources(path, preset, batch, sentences):
    """Ids of sentences as long as captions; batches of one length, shuffled."""
    draw = random.Random(1)
    lengths = sorted(min(34, max(6, round(draw.lognormvariate(2.58, 0.33)))) for _ in range(sentences))
    groups = [lengths[i:i + batch] for i in range(0, sentences, batch)]
    data = [[[draw.randrange(FIRST_WORD, VOCAB[preset]) for _ in range(g[len(g) // 2])] for _ in g] for g in groups]
    draw.shuffle(data)
    with open(path, "w") as f:
        f.writelines(" ".join(map(str, ids)) + "\n" for group in data for ids in group)


def start(o, stack, work, preset, kinds, case):
    """CTranslate2 and our side with each kind, loaded: processes and their reports."""
    sources, path = os.path.join(work, "sources"), os.path.join(work, preset)
    numbers = (case["batch"], o.beam, case["threads"])
    single, batched = SENTENCES[preset]
    sentences = single if case["batch"] == 1 else batched * case["threads"]
    write_sources(sources, preset, case["batch"], max(int(sentences * o.work), case["batch"] * case["threads"]))
    commands = [[o.python, os.path.join(HERE, "ct2.py"), "run", path + ".ct2", sources, *numbers, case["type"]]]
    commands += [[program(o.build, "bench", "bench_peer"), "run", f"{path}.{kind}.rela", sources, *numbers, case["type"]]
                 for kind in kinds]
    workers = [stack.enter_context(Worker(*c, threads=case["threads"])) for c in commands]
    return workers, [w.answer() for w in workers]


def compare(o, work, preset, kinds, case):
    clock = "cpu_s" if case["threads"] == 1 else "clock_s"
    with contextlib.ExitStack() as stack:
        workers, loaded = start(o, stack, work, preset, kinds, case)
        for w in workers:
            w.ask()  # warm
        report = []
        for i in range(o.rounds):
            note(f"translate: {preset}, {', '.join(f'{k} {v}' for k, v in case.items())}, round {i + 1} of {o.rounds}")
            report.append([w.ask() for w in workers])
    speed = [[t["tokens"] / t[clock] for t in turn] for turn in report]
    rows = []
    for i, kind in enumerate(kinds, 1):
        rows.append(comparison(
            {"preset": preset, "kind": kind, **case, "beam": o.beam}, [s[i] for s in speed], [s[0] for s in speed],
            **{"rela load s": loaded[i]["load_s"], "peer load s": loaded[0]["load_s"],
               "rela MB": report[-1][i]["rss_mb"], "peer MB": report[-1][0]["rss_mb"]}))
    return rows


def speed(o, kinds, printer, work):
    rela, peer = program(o.build, "rela"), program(o.build, "bench", "bench_peer")
    for preset in o.presets:
        path = os.path.join(work, preset)
        for kind in {"softmax", *kinds}:
            run(peer, "make", preset, kind, f"{path}.{kind}.rela")
        run(rela, "convert", "-q", path + ".softmax.rela", "--to", "ctranslate2", "-o", path + ".ct2")
        rows = []
        for type in o.types:
            for threads in o.threads:
                for batch in o.batches:
                    rows += compare(o, work, preset, kinds, {"type": type, "threads": threads, "batch": batch})
        printer.table("translate", "target tokens/s of rela and CTranslate2, whose model is softmax", rows)
