#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rela beside CTranslate2 on the same weights.

    ct2.py same RELA MODEL TEXT [--beam 4]   translations and log-probabilities of a softmax model, exported by rela convert
    ct2.py run FOLDER SOURCES BATCH BEAM THREADS TYPE     its side of `python3 bench/peers translate`, as bench_peer run

run forces every sentence to the length of its source; those of a batch have one length, as the limit is one number per
call. Threads are workers of CTranslate2 with one thread each.
"""
import argparse
import json
import os
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


def peak_mb():
    with open("/proc/self/status") as f:
        return int(next(line for line in f if line.startswith("VmHWM")).split()[1]) / 1024


def translate_all(engine, batches, beam, threads):
    done = []
    for batch in batches:
        n = len(batch[0])
        done += engine.translate_batch(batch, beam_size=beam, min_decoding_length=n, max_decoding_length=n,
                                       max_batch_size=0, return_scores=False, asynchronous=threads > 1)
    return [r.result() for r in done] if threads > 1 else done


def run_lines(o):
    with open(o.sources) as f:
        lines = [[f"w{i}" for i in line.split()] for line in f]
    batches = [lines[i:i + o.batch] for i in range(0, len(lines), o.batch)]
    start = time.perf_counter()
    engine = ctranslate2.Translator(o.folder, device="cpu", compute_type=o.type, intra_threads=1,
                                    inter_threads=o.threads)
    print(json.dumps({"load_s": round(time.perf_counter() - start, 4), "rss_mb": round(peak_mb(), 1)}), flush=True)
    for _ in sys.stdin:
        clock, cpu = time.perf_counter(), time.process_time()
        done = translate_all(engine, batches, o.beam, o.threads)
        clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
        print(json.dumps({"tokens": sum(len(r.hypotheses[0]) for r in done), "clock_s": clock, "cpu_s": cpu,
                          "rss_mb": round(peak_mb(), 1)}), flush=True)
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
    s = sub.add_parser("run")
    s.add_argument("folder")
    s.add_argument("sources")
    for name in ("batch", "beam", "threads"):
        s.add_argument(name, type=int)
    s.add_argument("type", choices=("float32", "int8"))
    o = a.parse_args()
    return {"same": same, "run": run_lines}[o.what](o)


if __name__ == "__main__":
    sys.exit(main())
