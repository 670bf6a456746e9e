# SPDX-License-Identifier: MIT
"""CTranslate2 as people usually serve it: FastAPI and uvicorn, one sentence per request. The peer of rela serve.

    python bench/peers/ct2_server.py MODEL_DIRECTORY PORT THREADS [COMPUTE_TYPE]

MODEL_DIRECTORY is made by `rela convert --to ctranslate2`. Takes LibreTranslate's POST /translate, but q must already be
tokenised and split into subwords, and so is the answer: the text processing of rela is left out. `bench_serve` loads it:

    rela tokenise -l en < text | rela bpe apply -c codes > text.bpe     (as the model does)
    bench_serve PORT text.bpe 64 1000
"""
import sys

import ctranslate2
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

directory, port, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
translator = ctranslate2.Translator(directory, inter_threads=threads, intra_threads=1,
                                    compute_type=sys.argv[4] if len(sys.argv) > 4 else "float32")
app = FastAPI()


class Request(BaseModel):
    q: str
    source: str = "en"
    target: str = "de"


@app.post("/translate")
def translate(request: Request):
    result = translator.translate_batch([request.q.split()], beam_size=4, max_decoding_length=256)
    return {"translatedText": " ".join(result[0].hypotheses[0])}


uvicorn.run(app, port=port, log_level="warning")
