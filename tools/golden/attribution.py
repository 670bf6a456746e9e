# SPDX-License-Identifier: MIT
"""Writes tests/golden/inseq.json with inseq: attention of a tiny model with random weights.

    python3 tools/golden/attribution.py tests/golden/inseq.json
"""
import sys
import tempfile

import inseq
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

WORDS = ("</s> <unk> <pad> the old house is small a man sees child das alte haus ist klein ein mann sieht kind "
         "<script>alert(1)</script>").split()
tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
config = MarianConfig(vocab_size=len(WORDS), d_model=16, encoder_layers=2, decoder_layers=3, encoder_attention_heads=2,
                      decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, pad_token_id=2, eos_token_id=0,
                      decoder_start_token_id=2, forced_eos_token_id=0, max_length=12)
torch.manual_seed(1)
with tempfile.TemporaryDirectory() as folder:
    MarianMTModel(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", unk_token="<unk>",
                            pad_token="<pad>").save_pretrained(folder)
    model = inseq.load_model(folder, "attention", model_kwargs={"attn_implementation": "eager"})
    found = model.attribute(["the old house is small", "a man sees the child"],
                            ["das alte haus ist klein", "ein mann sieht <script>alert(1)</script> kind"],
                            attribute_target=True)
found.info["model_name"] = "tiny"
found.save(sys.argv[1], overwrite=True)
