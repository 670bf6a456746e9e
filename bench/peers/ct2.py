#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rela beside CTranslate2 on the same weights.

ct2.py same RELA MODEL TEXT [--beam 4]   translations and log-probabilities of a softmax model, exported by rela convert
ct2.py speed BUILD [OPTION...]           target tokens/s with random weights, as ratios of medians over interleaved rounds

For speed every sentence is forced to the length of its source, and the sentences of a batch have one length, as those
limits are batch-wide in CTranslate2. One thread is measured in processor time, which a busy machine disturbs less;
two threads (two workers of CTranslate2) by the clock.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import ctranslate2


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def pieces(rela, folder, lines):
    """The subword tokens of the source side."""
    side = json.load(open(os.path.join(folder, "pipeline.json")))["src"]
    text = "\n".join(lines) + "\n"
    if side["normalise"]:
        text = run(rela, "normalise", "-q", "-l", side["language"], text=text)
    if side["tokenise"]:
        text = run(rela, "tokenise", "-q", "-l", side["language"], text=text)
    if side["lowercase"]:
        text = text.lower()
    codes = os.path.join(folder, "bpe.codes")
    if os.path.exists(codes):
        text = run(rela, "bpe", "apply", "-q", "-c", codes, text=text)
    return [line.split() for line in text.split("\n")[:-1]]


def same(o):
    with open(o.text, encoding="utf-8") as f:
        lines = [line.rstrip("\n") for line in f]
    lines = [line for line in lines if line.split()]
    out = run(o.rela, "translate", "-q", "-b", str(o.beam), "--json", "--word-scores", "--normalize", "none",
              o.model, text="\n".join(lines) + "\n")
    ours = [json.loads(line) for line in out.split("\n")[:-1]]
    with tempfile.TemporaryDirectory() as folder:
        run(o.rela, "convert", "-q", o.model, "--to", "ctranslate2", "-o", folder)
        source = pieces(o.rela, folder, lines)
        engine = ctranslate2.Translator(folder, device="cpu", compute_type="float32")
    equal, checked, apart, forced = 0, 0, 0.0, 0.0
    # The longest translation is one number per call: sentences of one length go together.
    for n in sorted({len(s) for s in source}):
        group = [i for i, s in enumerate(source) if len(s) == n]
        theirs = engine.translate_batch([source[i] for i in group], beam_size=o.beam, length_penalty=0,
                                        return_scores=True, max_decoding_length=n + 1 + 50, min_decoding_length=0)
        tokens = [[t for t, _ in ours[i]["tokens"] if t != "<eos>"] for i in group]
        scores = engine.score_batch([source[i] for i in group], tokens)
        for i, mine, their, score in zip(group, tokens, theirs, scores):
            complete = ours[i]["tokens"][-1][0] == "<eos>"
            if complete: # the same translation in both models, token by token
                checked += 1
                forced = max(forced, abs(ours[i]["logp"] - sum(score.log_probs)))
            if mine == their.hypotheses[0]:
                equal += 1
                if complete:
                    apart = max(apart, abs(ours[i]["logp"] - their.scores[0]))
    share = equal / len(lines)
    print(json.dumps({"bench": "ct2 same", "lines": len(lines), "beam": o.beam, "same": equal, "share": round(share, 4),
                      "worst_logp_difference": apart, "forced": checked, "worst_forced_difference": forced}))
    return 0 if share >= 0.995 and max(apart, forced) <= o.tolerance else 1


def make_sources(path, size, batch, sentences):
    """Ids of sentences with lengths 6..34, log-normal with mean about 14; batches of one length, shuffled."""
    draw = random.Random(1)
    lengths = sorted(min(34, max(6, round(draw.lognormvariate(2.58, 0.33)))) for _ in range(sentences))
    groups = [lengths[i:i + batch] for i in range(0, sentences, batch)]
    top = 10000 if size == "tiny" else 32000
    data = [[[draw.randrange(4, top) for _ in range(g[len(g) // 2])] for _ in g] for g in groups]
    draw.shuffle(data)
    with open(path, "w") as f:
        f.writelines(" ".join(map(str, ids)) + "\n" for group in data for ids in group)
    return [[[f"w{i}" for i in ids] for ids in group] for group in data]


class Ours:
    def __init__(self, build, model, sources, case):
        command = [os.path.join(build, "bench", "bench_peer"), "run", model, sources, str(case["batch"]),
                   str(case["beam"]), str(case["threads"])] + (["int8"] if case["type"] == "int8" else [])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.load = json.loads(self.process.stdout.readline())["load_s"]
        self.case = case

    def once(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        told = json.loads(self.process.stdout.readline())
        self.rss = told["rss_mb"]
        return told["tokens"] / told["cpu_s" if self.case["threads"] == 1 else "clock_s"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Theirs:
    def __init__(self, folder, data, case):
        start = time.perf_counter()
        self.engine = ctranslate2.Translator(folder, device="cpu", compute_type=case["type"], intra_threads=1,
                                             inter_threads=case["threads"])
        self.load = time.perf_counter() - start
        self.data, self.case = data, case

    def once(self):
        one = self.case["threads"] == 1
        now = time.process_time if one else time.perf_counter
        start, done = now(), []
        for batch in self.data:
            n = len(batch[0])
            done += self.engine.translate_batch(batch, beam_size=self.case["beam"], min_decoding_length=n,
                                                max_decoding_length=n, max_batch_size=0, return_scores=False,
                                                asynchronous=not one)
        if not one:
            done = [r.result() for r in done]
        took = now() - start
        return sum(len(r.hypotheses[0]) for r in done) / took


def compare(o, work, case):
    sources = os.path.join(work, "sources")
    few = case["size"] == "base"
    sentences = (24 if few else 192) if case["batch"] == 1 else (64 if few else 256) * case["threads"]
    sentences = max(int(sentences * o.work), case["batch"] * case["threads"])
    data = make_sources(sources, case["size"], case["batch"], sentences)
    path = os.path.join(work, case["size"])
    systems = [Ours(o.build, path + ".softmax.rela", sources, case), Theirs(path + ".ct2", data, case)]
    if o.gated:
        systems.append(Ours(o.build, path + ".rela-g.rela", sources, case))
    for s in systems:
        s.once() # warm
    speed = [[s.once() for s in systems] for _ in range(o.rounds)]
    median = [statistics.median(column) for column in zip(*speed)]
    line = {"bench": "ct2 speed", **case, "rela": round(median[0], 1), "ct2": round(median[1], 1),
            "ratio": round(median[0] / median[1], 3),
            "ratios": [round(r[0] / r[1], 2) for r in speed],
            "load_s": round(systems[0].load, 3), "ct2_load_s": round(systems[1].load, 3), "rss_mb": systems[0].rss}
    if o.gated:
        line["gated_over_softmax"] = round(median[2] / median[0], 3)
        systems[2].close()
    systems[0].close()
    print(json.dumps(line), flush=True)


def speed(o):
    peer = os.path.join(o.build, "bench", "bench_peer")
    with tempfile.TemporaryDirectory() as work:
        for size in o.sizes.split(","):
            path = os.path.join(work, size)
            for kind in ["softmax"] + (["rela-g"] if o.gated else []):
                run(peer, "make", size, kind, f"{path}.{kind}.rela")
            run(os.path.join(o.build, "rela"), "convert", path + ".softmax.rela", "--to", "ctranslate2", "-o", path + ".ct2")
            for type in o.types.split(","):
                for threads in map(int, o.threads.split(",")):
                    for batch in map(int, o.batches.split(",")):
                        compare(o, work, {"size": size, "type": type, "threads": threads, "batch": batch, "beam": o.beam})
    return 0


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = a.add_subparsers(dest="what", required=True)
    s = sub.add_parser("same")
    s.add_argument("rela")
    s.add_argument("model")
    s.add_argument("text")
    s.add_argument("--beam", type=int, default=4)
    s.add_argument("--tolerance", type=float, default=1e-3, help="of log-probabilities [1e-3]")
    s = sub.add_parser("speed")
    s.add_argument("build", help="build folder with rela and bench/bench_peer")
    s.add_argument("--sizes", default="tiny,base")
    s.add_argument("--types", default="float32")
    s.add_argument("--threads", default="1,2")
    s.add_argument("--batches", default="1,32")
    s.add_argument("--beam", type=int, default=4)
    s.add_argument("--rounds", type=int, default=5)
    s.add_argument("--work", type=float, default=1, help="scales the number of sentences [1]")
    s.add_argument("--gated", action="store_true", help="also measure rela-g")
    o = a.parse_args()
    return {"same": same, "speed": speed}[o.what](o)


if __name__ == "__main__":
    sys.exit(main())
