# SPDX-License-Identifier: MIT
"""torch_too.py MODULE...: imports torch and rela in the given order and makes both use their threads, in turn. Needs what
use.sh leaves in the current directory."""
import importlib
import sys

for name in sys.argv[1:]:
    importlib.import_module(name)
import rela
import torch
from rela.torch import RectifiedLinearAttention

model = rela.Translator("model.rela")
lines = open("sentences.txt", encoding="utf-8").read().splitlines()
want = open("program.out", encoding="utf-8").read().splitlines()
layer = RectifiedLinearAttention(embed_dim=64, num_heads=4, batch_first=True)
x = torch.randn(8, 50, 64, requires_grad=True)
square = torch.randn(512, 512)
for _ in range(10):
    assert model.translate(lines) == want
    layer(x, x, x)[0].sum().backward()
    assert torch.isfinite(x.grad).all() and torch.isfinite(square @ square).all()
with open("/proc/self/maps", encoding="utf-8") as maps:
    runtimes = sorted({line.split("/")[-1].strip() for line in maps if "libgomp" in line})
assert len(runtimes) == 2, runtimes
print("imported", *sys.argv[1:], "- torch", torch.__version__, "- runtimes", *runtimes)
