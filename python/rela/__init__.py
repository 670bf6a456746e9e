# SPDX-License-Identifier: MIT
"""Neural machine translation with rectified linear attention.

    Translator    translate, score and look at the attention of a model
    train         train a model from raw parallel text
    attention     attention of any kind on NumPy arrays; Attention: the same with gradients
    kinds         the attention kinds with one line about each
    Error         what failing calls raise

``rela.torch`` has the operator as a PyTorch module; it is imported on request only.
"""
from ._library import Error
from .operator import Attention, attention, kinds
from .training import TrainEvent, train
from .translator import PairAttention, Score, Translation, Translator

__version__ = "0.2.0"
__all__ = ["Attention", "Error", "PairAttention", "Score", "TrainEvent", "Translation", "Translator",
           "attention", "kinds", "train"]
