# SPDX-License-Identifier: MIT
"""What bench/text.py runs with the packages of others.

    text.py train MERGES TEXT MODEL      Hugging Face tokenizers: train BPE on blank-separated words
    text.py encode MODEL TEXT OUT        ... and apply it, writing the tokens
    text.py tokenise JOBS LANGUAGE       sacremoses, from standard input to standard output
"""
import sys

BATCH = 20000


def train(merges, text, model):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=int(merges), min_frequency=2, show_progress=False,
                                  special_tokens=["<unk>"], end_of_word_suffix="</w>")
    tokenizer.train([text], trainer)
    tokenizer.save(model)


def encode(model, text, out):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(model)
    with open(text, encoding="utf-8", newline="\n") as f, open(out, "w", encoding="utf-8") as o:
        lines = f.read().split("\n")[:-1]
        for i in range(0, len(lines), BATCH):
            for encoding in tokenizer.encode_batch(lines[i:i + BATCH]):
                o.write(" ".join(encoding.tokens) + "\n")


def tokenise(jobs, language):
    from sacremoses.cli import cli

    sys.argv = ["sacremoses", "-l", language, "-j", jobs, "-q", "tokenize"]
    cli()


if __name__ == "__main__":
    {"train": train, "encode": encode, "tokenise": tokenise}[sys.argv[1]](*sys.argv[2:])
