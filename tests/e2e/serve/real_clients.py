#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients of LibreTranslate and DeepL, unmodified, against rela serve:  real_clients.py CLIENT URL"""
import sys

name, url = sys.argv[1:]
TEXT = "The old man sees a child."
if name == "libretranslatepy":
    from libretranslatepy import LibreTranslateAPI

    client = LibreTranslateAPI(url)
    assert client.languages()[0]["targets"] == ["de"]
    assert client.translate(TEXT, "en", "de")
    assert client.detect(TEXT)[0]["language"] == "en"
elif name == "deep_translator":
    from deep_translator import LibreTranslator

    client = LibreTranslator(source="en", target="de", api_key="none", custom_url=url + "/")
    assert client.translate(TEXT)
    assert len(client.translate_batch([TEXT, "A dog."])) == 2
elif name == "deepl":
    import deepl

    client = deepl.Translator("none", server_url=url)
    results = client.translate_text([TEXT, "A dog."], target_lang="DE")
    assert len(results) == 2 and results[0].text and results[0].detected_source_lang == "EN"
    assert client.translate_text(TEXT, source_lang="EN", target_lang="DE").text == results[0].text
    assert client.get_source_languages()[0].code == "EN" and client.get_target_languages()[0].code == "DE"
    assert not client.get_usage().any_limit_reached
print(f"{name} works")
