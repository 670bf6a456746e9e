# SPDX-License-Identifier: MIT
"""Neural machine translation with rectified linear attention.

    Translator    translate and score with a model, and inspect its attention
    train         train a model from raw parallel text
    align         word alignment of parallel text
    analyse       measure the attention of models
    filter        remove pairs that are not translations from parallel text
    info          what a model file contains
    bleu, chrf    evaluate translations
    tokenise, detokenise, normalise, split    process text as the Moses tools do; split sentences
    bpe           byte pair encoding: bpe.learn, bpe.apply, bpe.restore
    attention     attention of any kind on NumPy arrays; Attention: the same with gradients
    kinds         the kinds of attention, each with a one-line summary
    Error         raised by calls that fail

``rela.torch`` has the operator as a PyTorch module; import it explicitly.
"""
from . import bpe
from ._library import Error
from .corpora import Alignment, align, analyse, filter
from .metrics import Bleu, Metric, bleu, chrf
from .operator import Attention, attention, kinds
from .text import detokenise, normalise, split, tokenise
from .training import TrainEvent, train
from .translator import PairAttention, Score, Translation, Translator, info

__version__ = "0.2.0"
__all__ = ["Alignment", "Attention", "Bleu", "Error", "Metric", "PairAttention", "Score", "TrainEvent",
           "Translation", "Translator", "align", "analyse", "attention", "bleu", "bpe", "chrf", "detokenise",
           "filter", "info", "kinds", "normalise", "split", "tokenise", "train"]
