# SPDX-License-Identifier: MIT
"""Neural machine translation with rectified linear attention.

    Translator    translate, score and look at the attention of a model
    train         train a model from raw parallel text
    align         word links of parallel text
    analyse       measures of the attention of models
    filter        keep the pairs of parallel text that are translations
    bleu, chrf    scores of translations
    tokenise, detokenise, normalise, split    text as the Moses tools treat it; sentences
    bpe           byte pair encoding: bpe.learn, bpe.apply, bpe.restore
    attention     attention of any kind on NumPy arrays; Attention: the same with gradients
    kinds         the attention kinds with one line about each
    Error         what failing calls raise

``rela.torch`` has the operator as a PyTorch module; it is imported on request only.
"""
from . import bpe
from ._library import Error
from .corpora import Alignment, align, analyse, filter
from .metrics import Bleu, Metric, bleu, chrf
from .operator import Attention, attention, kinds
from .text import detokenise, normalise, split, tokenise
from .training import TrainEvent, train
from .translator import PairAttention, Score, Translation, Translator

__version__ = "0.2.0"
__all__ = ["Alignment", "Attention", "Bleu", "Error", "Metric", "PairAttention", "Score", "TrainEvent",
           "Translation", "Translator", "align", "analyse", "attention", "bleu", "bpe", "chrf", "detokenise",
           "filter", "kinds", "normalise", "split", "tokenise", "train"]
