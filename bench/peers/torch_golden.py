# SPDX-License-Identifier: MIT
"""torch_golden.py KIND FILE: does the PyTorch model that is measured compute what ours does?

FILE is one of tests/golden/model_<kind>.safetensors, made by tools/golden/model.py. Prints by how much loss and
gradients differ, relative to the largest value of each tensor.
"""
import json
import struct
import sys

import torch

from torch_model import Model

TYPES = {"F32": torch.float32, "I32": torch.int32}


def read(path):
    with open(path, "rb") as f:
        head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = bytearray(f.read())
    numbers = head.pop("__metadata__")
    tensors = {}
    for name, x in head.items():
        first, end = x["data_offsets"]
        tensors[name] = torch.frombuffer(data[first:end], dtype=TYPES[x["dtype"]]).reshape(x["shape"])
    return tensors, numbers


def golden_name(name):
    return {"bias": "embed.bias"}.get(name, name.replace("ln.weight", "ln.gain").replace("ln.bias", "ln.offset"))


def padded(tensors, side):
    at = tensors[side + ".at"].tolist()
    return torch.nn.utils.rnn.pad_sequence([tensors[side][a:b].long() for a, b in zip(at, at[1:])], batch_first=True)


def distance(a, b):
    return float((a - b).abs().max() / b.abs().max().clamp(min=1e-4))  # less is rounding only


def main(kind, path):
    tensors, numbers = read(path)
    model = Model(kind, *(int(numbers[k]) for k in ("d", "ffn", "heads", "layers", "vocab")), drop=0)
    parameters = {golden_name(n): p for n, p in model.named_parameters()}
    with torch.no_grad():
        for name, p in parameters.items():
            p.copy_(tensors["init." + name])
    loss = model.loss(padded(tensors, "src"), padded(tensors, "tgt"), float(numbers["smooth"]))
    loss.backward()
    worst = max(distance(p.grad, tensors["grad." + name]) for name, p in parameters.items())
    print(json.dumps({"bench": "torch golden", "kind": kind, "loss": distance(loss, tensors["loss"]),
                      "gradients": worst}))


main(*sys.argv[1:])
