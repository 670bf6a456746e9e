# SPDX-License-Identifier: MIT
"""PyTorch's side of training, on the batches of a file (bench/batches.h).

    torch_train.py step PRESET KIND THREADS UPDATES BATCHES WARM    as bench_step
    torch_train.py curve KIND THREADS BATCHES UPDATES               as bench_curve
"""
import array
import json
import math
import statistics
import sys
import time

import torch

from torch_model import PRESETS, Model


def read(path):
    """Updates as two padded tensors each."""
    numbers = array.array("i")
    with open(path, "rb") as f:
        numbers.frombytes(f.read())
    at = 0
    while at < len(numbers):
        n = numbers[at]
        lengths = numbers[at + 1:at + 1 + 2 * n]
        at += 1 + 2 * n
        sides = []
        for side in range(2):
            ids = torch.zeros(n, max(lengths[side::2]), dtype=torch.long)
            for i, length in enumerate(lengths[side::2]):
                ids[i, :length] = torch.tensor(numbers[at:at + length])
                at += length
            sides.append(ids)
        yield sides


def peak_mb():
    with open("/proc/self/status") as f:
        return int(next(line for line in f if line.startswith("VmHWM")).split()[1]) // 1024


class Trainer:
    def __init__(self, preset, kind, threads):
        torch.set_num_threads(threads)
        torch.set_flush_denormal(True)
        torch.manual_seed(1)
        self.model = Model(kind, **PRESETS[preset])
        self.adam = torch.optim.Adam(self.model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-8, fused=True)

    def update(self, src, tgt, tokens):
        self.adam.zero_grad(set_to_none=True)
        loss = self.model.loss(src, tgt)
        (loss / tokens).backward()
        self.adam.step()
        return loss.detach()


def step(preset, kind, threads, updates, path, warm):
    trainer = Trainer(preset, kind, int(threads))
    clock = time.process_time if int(threads) == 1 else time.perf_counter
    rates, cells, real = [], 0, 0
    for i, (src, tgt) in zip(range(-int(warm), int(updates)), read(path)):
        tokens = int((tgt != 0).sum())
        start = clock()
        loss = trainer.update(src, tgt, tokens)
        took = clock() - start
        if i >= 0:
            rates.append(tokens / took)
            cells += src.numel() + tgt.numel()
            real += tokens + int((src != 0).sum())
    print(json.dumps({"bench": "torch step", "preset": preset, "kind": kind, "threads": int(threads),
                      "tok_s": round(statistics.median(rates), 1), "low": round(min(rates), 1),
                      "high": round(max(rates), 1), "padding": round(1 - real / cells, 4), "rss_mb": peak_mb(),
                      "loss": round(float(loss) / tokens, 3),
                      "parameters": sum(p.numel() for p in trainer.model.parameters())}))


def curve(kind, threads, path, updates):
    trainer = Trainer("tiny", kind, int(threads))
    total = count = 0
    for i, (src, tgt) in zip(range(1, int(updates) + 1), read(path)):
        rate = 1e-7 + (5e-3 - 1e-7) * i / 2000 if i < 2000 else 5e-3 * math.sqrt(2000 / i)
        for group in trainer.adam.param_groups:
            group["lr"] = rate
        tokens = int((tgt != 0).sum())
        total += float(trainer.update(src, tgt, tokens))
        count += tokens
        if i % 100 == 0:
            print(json.dumps({"bench": "torch curve", "kind": kind, "update": i, "loss": round(total / count, 4)}),
                  flush=True)
            total = count = 0


if __name__ == "__main__":
    {"step": step, "curve": curve}[sys.argv[1]](*sys.argv[2:])
