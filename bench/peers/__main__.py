# SPDX-License-Identifier: MIT
"""rela beside PyTorch, entmax and CTranslate2: the same work, sizes and threads, measured in turn.

    python3 bench/peers [PART...] [OPTION...]

Parts, all but curve if none is named:
    train      updates on the same batches: target tokens/s and peak memory, beside PyTorch
    attention  the kernels of training with their norms, by length, beside PyTorch; one thread
    weights    rows of scores to weights and back, beside PyTorch and entmax; one thread
    translate  the same random weights in fp32 and int8, beside CTranslate2
    curve      the loss over the first updates on --text, beside PyTorch's

The packages are installed into a private environment (--env), once; with --python nothing is installed. What runs on
one thread is measured in processor time, the rest by the clock: let nothing else run.
"""
import argparse
import os
import sys
import tempfile

import attention
import environment
import train
import translate
from tables import Printer

TORCH = ("torch", "numpy", "entmax")
MODELS = ("softmax", "rela-g")
# Of each part: what runs it, packages, kinds of attention, and further ones that may be asked for.
PARTS = {
    "train": (train.speed, TORCH, MODELS, ("sparsemax", "entmax15", "relu", "relu-rms", "rela-i")),
    "attention": (attention.kernels, TORCH, ("softmax", "sparsemax", "entmax15", "relu", "rela-g"),
                  ("relu-rms", "rela-i")),
    "weights": (attention.weights, TORCH, ("softmax", "sparsemax", "entmax15", "relu"), ("entmax", "gelu-g")),
    "translate": (translate.speed, ("ctranslate2", "numpy"), MODELS, ("sparsemax", "entmax15", "relu-rms", "rela-i")),
    "curve": (train.curve, TORCH, MODELS, ("sparsemax", "entmax15", "relu-rms", "rela-i")),
}


def texts(choices=None):
    def parse(text):
        items = text.split(",")
        for x in items:
            if choices and x not in choices:
                raise argparse.ArgumentTypeError(f"'{x}'; expected {', '.join(choices)}")
        return items
    return parse


def numbers(text):
    items = [int(x) for x in text.split(",")]
    if min(items) < 1:
        raise argparse.ArgumentTypeError(f"'{text}'; expected numbers from 1")
    return items


def count(text):
    return numbers(text)[0]


def arguments():
    p = argparse.ArgumentParser(prog="python3 bench/peers", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    p.add_argument("parts", nargs="*", metavar="PART", help=argparse.SUPPRESS)
    p.add_argument("--python", metavar="FILE", help="interpreter that has the packages; nothing is installed")
    p.add_argument("--env", metavar="DIR", default=os.path.join(environment.ROOT, "build", "peers"),
                   help="private environment for the packages, made if need be [build/peers]")
    p.add_argument("--extra-index", metavar="URL", help="a further index for pip, such as PyTorch's of builds without "
                   "CUDA, which are much smaller")
    p.add_argument("--build", metavar="DIR", default=os.path.join(environment.ROOT, "build", "release"),
                   help="folder with rela and bench/ [build/release]")
    p.add_argument("--json", action="store_true", help="a JSON line for each comparison instead of tables")
    p.add_argument("--quiet", "-q", action="store_true", help="no progress on standard error")
    p.add_argument("--rounds", type=count, default=5, metavar="N", help="[5]")
    p.add_argument("--presets", type=texts(("tiny", "base")), default=["tiny", "base"], metavar="LIST",
                   help="[tiny,base]")
    p.add_argument("--kinds", type=texts(), metavar="LIST", help="of attention [train, translate, curve: softmax,rela-g; "
                   "attention: softmax,sparsemax,entmax15,relu,rela-g; weights: the same without rela-g]")
    p.add_argument("--threads", type=numbers, default=[1, 2], metavar="LIST", help="of train and translate [1,2]")
    p.add_argument("--lengths", type=numbers, default=[25, 100, 1000, 4000], metavar="LIST",
                   help="of attention; of weights up to 1000 [25,100,1000,4000]")
    p.add_argument("--seconds", type=float, default=0.2, metavar="S",
                   help="least time of one measurement of attention and weights [0.2]")
    p.add_argument("--text", nargs=2, metavar=("SRC", "TGT"), help="parallel text for train and curve, tokenised, plain "
                   "or compressed [random tokens]")
    p.add_argument("--tokens", type=count, default=4096, metavar="N", help="target tokens of an update [4096]")
    p.add_argument("--updates", type=count, metavar="N", help="of a round of train [8 tiny, 2 base]; of curve [1000]")
    p.add_argument("--types", type=texts(("float32", "int8")), default=["float32", "int8"], metavar="LIST",
                   help="of translate [float32,int8]")
    p.add_argument("--batches", type=numbers, default=[1, 32], metavar="LIST", help="of translate [1,32]")
    p.add_argument("--beam", type=count, default=4, metavar="N", help="of translate [4]")
    p.add_argument("--work", type=float, default=1, metavar="X", help="scales the sentences of translate [1]")
    o = p.parse_args()
    unknown = [x for x in o.parts if x not in PARTS]
    if unknown:
        p.error(f"no part '{unknown[0]}'; expected {', '.join(PARTS)}")
    o.parts = o.parts or [x for x in PARTS if x != "curve"]
    for part in o.parts:
        known = PARTS[part][2] + PARTS[part][3]
        for kind in o.kinds or ():
            if kind not in known:
                p.error(f"{part}: no kind '{kind}'; expected {', '.join(known)}")
    return o


def main():
    o = arguments()
    environment.QUIET = o.quiet
    packages = list(dict.fromkeys(x for part in o.parts for x in PARTS[part][1]))
    try:
        report = environment.machine(o.build)
        o.python, versions = environment.interpreter(o.python, o.env, o.extra_index, packages)
        printer = Printer(o.json)
        printer.head({**report, **versions, "rounds": o.rounds})
        for part in o.parts:
            run, _, kinds, _ = PARTS[part]
            with tempfile.TemporaryDirectory() as work:
                run(o, o.kinds or kinds, printer, work)
    except environment.Failure as e:
        print(f"bench/peers: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
