# SPDX-License-Identifier: MIT
"""Neural machine translation with rectified linear attention.

    Translator    translate and score with a model, and inspect its attention
    train         train a model from raw parallel text
    align         word alignment of parallel text
    analyse       measure the attention of models
    show, view    the attention viewer in a notebook, and as a page; view_file: attention of other programs
    filter        remove pairs that are not translations from parallel text
    info          what a model file contains
    bleu, chrf    evaluate translations; compare: is one system better than another?
    aer           compare word links with gold links
    convert, average, shortlist    other forms of a model, the mean of several, likely words
    tokenise, detokenise, normalise, split    process text as the Moses tools do; split sentences
    bpe           byte pair encoding: bpe.learn, bpe.apply, bpe.restore
    vocab         word counts and vocabularies: vocab.count, vocab.build, vocab.load
    corpus        a corpus for trying things, and a check of yours: corpus.make, corpus.check
    attention     attention of any kind on NumPy arrays; Attention: the same with gradients
    kinds         the kinds of attention, each with a one-line summary
    Error         raised by calls that fail, as FileError, FormatError, ArgumentError ...

``rela.torch`` has the operator as a PyTorch module; import it explicitly.
"""
from . import bpe, corpus, vocab
from ._library import (ArgumentError, CancelledError, ClosedError, Error, FileError, FormatError, NoMemoryError,
                       NotFiniteError, StateError, UnsupportedError)
from .corpora import Alignment, align, analyse, filter, shortlist
from .links import Aer, aer
from .metrics import Bleu, Comparison, Metric, bleu, chrf, compare
from .models import average, convert
from .operator import Attention, attention, kinds
from .results import PairAttention, Score, Translation
from .text import detokenise, normalise, split, tokenise
from .training import TrainEvent, train
from .translator import Translator, info
from .viewer import View, show, view, view_file

__version__ = "0.2.0"
__all__ = ["Aer", "Alignment", "ArgumentError", "Attention", "Bleu", "CancelledError", "ClosedError", "Comparison",
           "Error", "FileError", "FormatError", "Metric", "NoMemoryError", "NotFiniteError", "PairAttention", "Score",
           "StateError", "TrainEvent", "Translation", "Translator", "UnsupportedError", "View", "aer", "align", "analyse",
           "attention", "average", "bleu", "bpe", "chrf", "compare", "convert", "corpus", "detokenise", "filter",
           "info", "kinds", "normalise", "shortlist", "show", "split", "tokenise", "train", "view", "view_file",
           "vocab"]
