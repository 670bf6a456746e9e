#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""model_file.py OUTPUT: a checkpoint of format version 1, written without any code of rela.

The container comes from the reference package `safetensors`; tensors, texts and the content hash
follow docs/formats.md alone, so that the document is tested too. Needs: safetensors, xxhash, numpy.
"""
import json
import struct
import sys

import numpy
import xxhash
from safetensors.numpy import save_file

D, FFN, VOCAB = 4, 6, 5
PIECE = 262144

CONFIG = {
    "width": D, "ffn": FFN, "heads": 2, "enc_layers": 1, "dec_layers": 1, "vocab_src": VOCAB,
    "vocab_tgt": VOCAB, "max_len": 16, "attention_enc": "rela-g", "attention_dec": "rela-i",
    "attention_cross": "softmax", "attention_slope": 0.01, "attention_alpha": 1.5,
    "attention_top": 8, "attention_window": 8, "attention_stride": 8, "attention_fuse": 0.1,
    "attention_eps": 1e-08, "norm_per_head": False, "pre_norm": True, "eps": 1e-06, "tie": "out",
    "drop_embed": 0.3, "drop_residual": 0.3, "drop_attention": 0, "drop_ffn": 0.125,
}


def shapes():
    """Name and shape of every parameter of CONFIG."""
    yield from {"embed.src": (VOCAB, D), "embed.tgt": (VOCAB, D), "embed.bias": (D,)}.items()
    for stack, norms in (("enc", {"self": ("gain", "gate")}),
                         ("dec", {"self": ("gain",), "cross": ()})):
        for place, norm in norms.items():
            at = f"{stack}.0.{place}"
            if place == "self":
                yield from {f"{at}.qkv.weight": (3 * D, D), f"{at}.qkv.bias": (3 * D,)}.items()
            else:
                yield from {f"{at}.q.weight": (D, D), f"{at}.q.bias": (D,),
                            f"{at}.kv.weight": (2 * D, D), f"{at}.kv.bias": (2 * D,)}.items()
            for name in norm:
                yield f"{at}.norm.{name}", (D,)
            yield from {f"{at}.out.weight": (D, D), f"{at}.out.bias": (D,)}.items()
            yield from {f"{at}.ln.gain": (D,), f"{at}.ln.offset": (D,)}.items()
        at = f"{stack}.0.ffn"
        yield from {f"{at}.up.weight": (FFN, D), f"{at}.up.bias": (FFN,),
                    f"{at}.down.weight": (D, FFN), f"{at}.down.bias": (D,),
                    f"{at}.ln.gain": (D,), f"{at}.ln.offset": (D,)}.items()
        yield from {f"{stack}.ln.gain": (D,), f"{stack}.ln.offset": (D,)}.items()


def values(shape, seed):
    n = int(numpy.prod(shape))
    x = (numpy.arange(n) * 37 + seed * 11) % 101 - 50
    return (x / 64).astype("<f4").reshape(shape)


def content_hash(tensors, texts):
    h = xxhash.xxh3_128()

    def number(v):
        h.update(struct.pack("<Q", v))

    def text(s):
        number(len(s.encode()))
        h.update(s.encode())

    number(len(texts))
    for key in sorted(texts, key=str.encode):
        text(key)
        text(texts[key])
    number(len(tensors))
    for name in sorted(tensors, key=str.encode):
        t = tensors[name]
        text(name)
        text({"float32": "F32"}[str(t.dtype)])
        number(len(t.shape))
        for d in t.shape:
            number(d)
        data = t.tobytes()
        for at in range(0, len(data), PIECE):
            h.update(xxhash.xxh3_128_digest(data[at:at + PIECE]))
    return "xxh3-128:" + h.hexdigest()


def main():
    tensors = {}
    for i, (name, shape) in enumerate(shapes()):
        tensors[name] = values(shape, i)
        tensors["adam.m/" + name] = values(shape, i + 100)
        tensors["adam.v/" + name] = abs(values(shape, i + 200))
    texts = {
        "format": "rela-model",
        "format_version": "1",
        "config": json.dumps(CONFIG, separators=(",", ":")),
        "text.bpe": "#version: 0.2\nl o\nlo w</w>\n",
        "text.vocab.src": "<pad>\n<unk>\n<eos>\nlow\nl\u00f6w\n",
        "text.vocab.tgt": "<pad>\n<unk>\n<eos>\nhigh\nh\u00f6her\n",
        "text.pipeline": '{"language":"de","truecase":false}',
        "record": '{"updates":300,"loss":2.5}',
        "state": '{"update":300,"random":[1,2,3]}',
    }
    texts["hash"] = content_hash(tensors, texts)
    save_file(tensors, sys.argv[1], texts)
    print(texts["hash"])


if __name__ == "__main__":
    main()
