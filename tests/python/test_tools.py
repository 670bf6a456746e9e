# SPDX-License-Identifier: MIT
"""Text, subwords, scores and parallel text from Python: what the program says. Needs model.rela and
corpus/ in the current directory."""
import base64
import json
import os
import subprocess
import threading
import unittest
from pathlib import Path

import numpy as np

import rela

SRC, TGT = Path("corpus/train.src"), Path("corpus/train.tgt")
RAW = ["Mr. O'Neil's [old] dog -- 3,5 kg & more...", "", "Ünïted \"kingdoms\", well-known", "see http://a.b/c?d=1 now"]


def program(*command, text=None):
    """Lines that the program writes."""
    given = None if text is None else "".join(line + "\n" for line in text)
    return subprocess.run([os.environ["RELA"], *map(str, command), "-q"], input=given, capture_output=True,
                          text=True, check=True).stdout.split("\n")[:-1]


def lines(path, n=40):
    return path.read_text().splitlines()[:n]


class Text(unittest.TestCase):
    def test_lines_are_those_of_the_program(self):
        for command, function, settings in (
                (["tokenise", "-l", "de"], rela.tokenise, {"language": "de"}),
                (["tokenise", "--no-escape", "-a", "--lowercase"], rela.tokenise,
                 {"escape": False, "aggressive_dash": True, "lowercase": True}),
                (["tokenise", "--protected", ":web:"], rela.tokenise, {"protect": "web"}),
                (["detokenise", "-l", "fr"], rela.detokenise, {"language": "fr"}),
                (["normalise", "-l", "de"], rela.normalise, {"language": "de"})):
            with self.subTest(command):
                found = function(RAW, **settings)
                self.assertEqual(found, program(*command, text=RAW))
                self.assertEqual(function(RAW[0], **settings), found[0])

    def test_patterns_stay_one_token(self):
        self.assertEqual(rela.tokenise("a b,c d", protect=["b,c"]), "a b,c d")
        with self.assertRaisesRegex(ValueError, "'wen' is not one of web, basic"):
            rela.tokenise("a", protect="wen")
        with self.assertRaises(rela.Error):
            rela.tokenise("a", protect=["("])

    def test_sentences_are_those_of_the_program(self):
        text = "Dr. May came. Did he? Yes! That is all."
        self.assertEqual(rela.split(text), program("split", text=[text]))
        self.assertEqual(rela.split(["", "One. Two."]), [[], ["One.", "Two."]])

    def test_wrong_settings_are_refused(self):
        with self.assertRaisesRegex(ValueError, "form 'nfx' is not one of"):
            rela.normalise("a", form="nfx")
        with self.assertRaisesRegex(TypeError, "unknown option 'lower'"):
            rela.normalise("a", lower=True)
        with self.assertRaises(rela.Error):
            rela.tokenise("a", "no language")


class Subwords(unittest.TestCase):
    def test_codes_and_subwords_are_those_of_the_program(self):
        codes = rela.bpe.learn(SRC, merges=60)
        want = program("bpe", "learn", "-s", 60, SRC)
        self.assertEqual(codes.text.splitlines(), want)
        self.assertEqual(rela.bpe.learn(SRC.read_text().splitlines(), merges=60).text, codes.text)
        codes.save("codes")
        text = lines(TGT)
        for settings, options in (({}, []), ({"merges": 20}, ["-m", "20"]), ({"separator": "~"}, ["-s", "~"]),
                                  ({"dropout": 0.5, "seed": 3}, ["--dropout", "0.5", "--seed", "3"]),
                                  ({"glossaries": ["[a-e]+"]}, ["--glossaries", "[a-e]+"])):
            with self.subTest(settings):
                found = rela.bpe.load("codes", **settings).apply(text)
                self.assertEqual(found, program("bpe", "apply", "-c", "codes", *options, text=text))
                self.assertEqual(rela.bpe.restore(found, settings.get("separator", "@@")), text)
        self.assertEqual(rela.bpe.apply("codes", text[0]), codes.apply(text[0]))
        self.assertEqual(len(rela.bpe.load("codes", merges=20)), 20)

    def test_bad_codes_are_refused(self):
        with self.assertRaises(rela.Error) as caught:
            rela.bpe.Codes("#version: 0.2\na b\nnonsense\n", "mine")
        self.assertEqual(caught.exception.status, "FORMAT")
        self.assertIn("mine: line 3", caught.exception.message)
        with self.assertRaises(FileNotFoundError):
            rela.bpe.load("missing")

    def test_threads_may_share_codes(self):
        codes, text = rela.bpe.learn(SRC, merges=60), lines(TGT)
        want, found = codes.apply(text), [None] * 4
        threads = [threading.Thread(target=lambda i=i: found.__setitem__(i, codes.apply(text)))
                   for i in range(len(found))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(found, [want] * len(found))


class Scores(unittest.TestCase):
    HYP = ["the old dog sleeps in the house", "a cat", "The End ."]
    REFS = [["the old dog sleeps in a house", "a black cat", "the end."], ["old dogs sleep", "a cat", "end"]]

    @classmethod
    def setUpClass(cls):
        for name, text in (("hyp", cls.HYP), ("ref1", cls.REFS[0]), ("ref2", cls.REFS[1])):
            Path(name).write_text("".join(line + "\n" for line in text))

    def test_figures_are_those_of_the_program(self):
        for name, function, options, settings in (
                ("bleu", rela.bleu, [], {}),
                ("bleu", rela.bleu, ["-k", "intl", "-l", "-s", "floor"],
                 {"tokenize": "intl", "lowercase": True, "smooth": "floor"}),
                ("bleu", rela.bleu, ["-e", "--max-order", "6"], {"effective_order": True, "max_order": 6}),
                ("chrf", rela.chrf, [], {}),
                ("chrf", rela.chrf, ["--word-order", "2", "--beta", "3"], {"word_order": 2, "beta": 3})):
            with self.subTest(name, options=options):
                want = json.loads("\n".join(program(name, "-i", "hyp", "--json", "-w", 9, *options, "ref1", "ref2")))
                found = function(self.HYP, self.REFS, **settings)
                self.assertAlmostEqual(found.score, want["score"], places=6)
                self.assertEqual(found.name, want["name"])
                self.assertEqual(found.signature, want["signature"])
                rows = program(name, "-i", "hyp", "--sentence", "-b", "-w", 9, *options, "ref1", "ref2")
                single = function(self.HYP, self.REFS, sentences=True, **settings).sentences
                self.assertEqual([f"{s:.9f}" for s in single], rows)

    def test_one_reference_may_be_a_plain_list(self):
        found = rela.bleu(self.HYP, self.REFS[0])
        self.assertEqual(found, rela.bleu(self.HYP, self.REFS[:1]))
        self.assertEqual(float(found), found.score)
        self.assertEqual(len(found.precisions), 4)

    def test_wrong_lists_are_refused(self):
        with self.assertRaisesRegex(ValueError, "3 hypotheses, but 2 references"):
            rela.bleu(self.HYP, self.REFS[0][:2])
        with self.assertRaisesRegex(TypeError, "a list of texts"):
            rela.chrf("a", ["a"])
        with self.assertRaisesRegex(ValueError, "no hypotheses"):
            rela.bleu([], [])
        with self.assertRaisesRegex(ValueError, "tokenize 'zh' is not one of"):
            rela.bleu(self.HYP, self.REFS, tokenize="zh")


class Comparisons(unittest.TestCase):
    def test_two_systems_are_compared_as_by_the_program(self):
        ref, other = lines(TGT), [line.replace("der", "die") for line in lines(TGT)]
        worse = [" ".join(line.split()[1:]) for line in other]
        for name, texts in (("ref", ref), ("base", other), ("system", worse)):
            Path(f"compare.{name}").write_text("".join(line + "\n" for line in texts))
        for metric, settings, options in (("bleu", {"lowercase": True}, ["-l"]),
                                          ("chrf", {"word_order": 2}, ["--word-order", "2"])):
            files = ["compare.ref", "compare.base", "compare.system", "--metric", metric]
            want = json.loads("".join(program("compare", *files, "--trials", "200", "--seed", "3", "--json", "--force",
                                              *options)))
            base, system = want["metrics"][0]["systems"]
            found = rela.compare(other, worse, ref, metric, trials=200, seed=3, **settings)
            self.assertAlmostEqual(found.baseline, base["score"], places=9)
            self.assertAlmostEqual(found.score, system["score"], places=9)
            self.assertEqual((found.p_bootstrap, found.p_randomisation),
                             (system["p_bootstrap"], system["p_randomisation"]))
            self.assertEqual(found.signature, want["metrics"][0]["signature"])
            self.assertLess(found.difference, 0)
        with self.assertRaisesRegex(ValueError, "40 translations of the baseline, but 39"):
            rela.compare(other, worse[1:], ref)

    def test_links_are_compared_as_by_the_program(self):
        gold, links = ["0-0 1?2", "", "0-1"], ["0-0 1-2", "0-0", "0-1 1-0"]
        for name, texts in (("gold", gold), ("links", links)):
            Path(f"aer.{name}").write_text("".join(line + "\n" for line in texts))
        want = json.loads("".join(program("aer", "aer.gold", "-i", "aer.links", "--json")))
        pairs = [[(0, 0), (1, 2)], [(0, 0)], [(0, 1, 0.5), (1, 0, 0.5)]]
        for found in (rela.aer(gold, links), rela.aer("aer.gold", "aer.links"), rela.aer(gold, pairs),
                      rela.aer([line.translate(str.maketrans("012", "123")) for line in gold], pairs, gold_base=1)):
            self.assertAlmostEqual(100 * found.aer, want["aer"], places=9)
            self.assertEqual((found.links, found.sure, found.possible), (want["links"], want["sure"], want["possible"]))
            self.assertLessEqual(found.interval[0], found.aer)
        with self.assertRaisesRegex(rela.FormatError, "links: line 2: "):
            rela.aer(gold, ["0-0", "0+0", ""])
        with self.assertRaisesRegex(ValueError, "3 pairs of gold links, but 1"):
            rela.aer(gold, ["0-0"])


class Files(unittest.TestCase):
    def test_converted_models_are_those_of_the_program(self):
        for form in ("rela", "int8", "mapped"):
            rela.convert("model.rela", f"py.{form}", form)
            program("convert", "model.rela", "--to", form, "-o", f"c.{form}")
            self.assertEqual(Path(f"py.{form}").read_bytes(), Path(f"c.{form}").read_bytes())
        rela.convert("model.rela", "plain", "safetensors")
        rela.convert("plain", "back.rela", from_="safetensors")
        self.assertEqual(Path("back.rela").read_bytes(), Path("model.rela").read_bytes())
        with self.assertRaises(rela.UnsupportedError):
            rela.convert("model.rela", "c2", "ctranslate2")
        with self.assertRaisesRegex(ValueError, "to 'onnx' is not one of"):
            rela.convert("model.rela", "c2", "onnx")

    def test_the_mean_of_models_is_that_of_the_program(self):
        rela.convert("model.rela", "twin.rela")
        program("average", "model.rela", "twin.rela", "-o", "c.mean")
        rela.average(["model.rela", "twin.rela"], "py.mean")
        self.assertEqual(Path("py.mean").read_bytes(), Path("c.mean").read_bytes())
        with self.assertRaises(rela.FileError):
            rela.average("missing.rela", "py.mean")

    def test_shortlists_are_those_of_the_program(self):
        want = program("shortlist", "model.rela", "--src", SRC, "--tgt", TGT, "--best", "5", "--out", "c.list",
                       "--json")
        found = rela.shortlist("model.rela", SRC, TGT, "py.list", best=5)
        self.assertEqual(Path("py.list").read_bytes(), Path("c.list").read_bytes())
        self.assertEqual(found, json.loads("".join(want)))
        model = rela.Translator("model.rela")
        rela.shortlist(model, lines(SRC), lines(TGT), "linked.list", links=["0-0"] * 40)
        self.assertNotEqual(Path("linked.list").read_bytes(), Path("c.list").read_bytes())

    def test_vocabularies_are_those_of_the_program(self):
        counts = rela.vocab.count(SRC)
        self.assertEqual([f"{word} {n}" for word, n in counts.items()], program("vocab", SRC))
        self.assertEqual(rela.vocab.count(SRC.read_text().splitlines()), counts)
        built = rela.vocab.build(SRC, 20, min_frequency=2)
        want = program("vocab", SRC, "--format", "tokens", "--size", "20", "--min-frequency", "2")
        self.assertEqual(list(built), want)
        built.save("py.vocab")
        loaded = rela.vocab.load("py.vocab")
        self.assertEqual((list(loaded), loaded.id(built[5]), loaded.id("no such word")), (list(built), 5, 1))
        Path("marian.yml").write_text('"</s>": 0\n"<unk>": 1\n"a": 2\n')
        self.assertEqual(list(rela.vocab.load("marian.yml", "marian")), ["<pad>", "<unk>", "<eos>", "a"])
        with self.assertRaises(IndexError):
            built[20]

    def test_corpora_are_those_of_the_program(self):
        made = rela.corpus.make("py.corpus", 60, valid=5, test=5, seed=2, level="easy")
        want = program("corpus", "--size", "60", "--valid", "5", "--test", "5", "--seed", "2", "--level", "easy",
                       "--out", "c.corpus", "--json")
        self.assertEqual(made, json.loads("".join(want)))
        for file in Path("c.corpus").iterdir():
            self.assertEqual((Path("py.corpus") / file.name).read_bytes(), file.read_bytes())
        found = rela.corpus.check(SRC, TGT, max_ratio=1.2, drop_identical=True)
        want = program("corpus", "check", "--src", SRC, "--tgt", TGT, "--max-ratio", "1.2", "--drop-identical",
                       "--json")
        self.assertEqual(found, json.loads("".join(want)))
        self.assertEqual(rela.corpus.check(["a b", "a\u00a0c"], ["c", ""])["pairs"]["dropped"]["empty"]["pairs"], 1)


class Corpora(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = rela.Translator("model.rela", threads=2)
        cls.src, cls.tgt = lines(SRC), lines(TGT)
        Path("some.src").write_text("".join(line + "\n" for line in cls.src))
        Path("some.tgt").write_text("".join(line + "\n" for line in cls.tgt))

    def links(self, *options):
        found = program("align", "model.rela", "--src", "some.src", "--tgt", "some.tgt", *options)
        return [[tuple(map(int, link.split(":")[0].split("-"))) for link in line.split()] for line in found]

    def test_links_are_those_of_the_program(self):
        self.assertEqual(rela.align("model.rela", self.src, self.tgt).links, self.links())
        found = rela.align(self.model, Path("some.src"), "some.tgt", layer=0, head=1, shift=1)
        self.assertEqual(list(found), self.links("--layer", 1, "--head", 2, "--shift"))
        self.assertEqual((found.layer, found.head, found.shift), (0, 1, True))
        soft = rela.align(self.model, self.src, self.tgt, soft=True)
        self.assertEqual([[link[:2] for link in row] for row in soft], self.links("--soft"))
        self.assertTrue(all(w > 0 for row in soft for _, _, w in row))

    def test_gold_links_choose_a_head(self):
        gold = lines(Path("corpus/train.align"), 20)
        Path("gold").write_text("".join(line + "\n" for line in gold))
        found = rela.align(self.model, self.src, self.tgt, best_on=gold)
        self.assertEqual(found.links, self.links("--best-on", "gold"))
        self.assertGreater(found.aer, 0)

    def test_a_model_may_be_its_own_reverse(self):
        found = rela.align(self.model, self.src, self.tgt, reverse=self.model, symmetrise="union")
        self.assertEqual(found.links, self.links("--reverse", "model.rela", "--symmetrise", "union"))

    def test_both_directions_are_learned_from_the_text(self):
        learned = rela.align(self.src, self.tgt, save="pair.rela", updates=20, merges=50, tokenise=True,
                             src_lang="en", tgt_lang="deu", threads=2)
        links = program("align", "some.src", "some.tgt", "--save", "pair2.rela", "--updates", 20, "--merges", 50,
                        "--tokenise", "--src-lang", "eng", "--tgt-lang", "de")
        self.assertEqual([" ".join(f"{i}-{j}" for i, j in row) for row in learned], links)
        self.assertEqual(rela.align("pair.rela", src="some.src", tgt=self.tgt).links, learned.links)
        self.assertEqual(rela.align(Path("pair.rela"), self.src, tgt="some.tgt").links, learned.links)
        for wrong, error in (
                (lambda: rela.align("pair.rela", self.src, self.tgt, updates=9), (TypeError, "'updates' is for learning")),
                (lambda: rela.align("model.rela", self.src, self.tgt, save="x"), (TypeError, "'save' is for learning")),
                (lambda: rela.align("pair.rela", self.src, self.tgt, reverse=self.model), (ValueError, "a pair")),
                (lambda: rela.align(self.src), (TypeError, r"expected align\(src, tgt\)")),
                (lambda: rela.align(self.src, self.tgt, tokenise=True), (rela.Error, "give --src-lang and --tgt-lang")),
                (lambda: rela.align(self.src, self.tgt, tokenise=True, src_lang="en", tgt_lang="xx"),
                 (rela.Error, "language 'xx' is not known")),
                (lambda: rela.align([], []), (rela.Error, "no pairs to learn from"))):
            with self.assertRaisesRegex(*error):
                wrong()

    def test_the_viewer_is_that_of_the_program(self):
        page = rela.view([self.model, "model.rela"], self.src, self.tgt, names=["a", "b"], title="t", worth=True)
        program("view", "model.rela", "model.rela", "--src", "some.src", "--tgt", "some.tgt", "--names", "a", "--names",
                "b", "--title", "t", "--worth", "-n", "0", "-o", "view.html")
        self.assertEqual(page, Path("view.html").read_text(encoding="utf-8"))
        best = json.loads(rela.view(self.model, self.src[:1], [[(self.tgt[0], -1.5), (self.tgt[1], -2.0)]], form="document",
                                    gold=["0-0"]))
        self.assertEqual([o["score"] for o in best["sentences"][0]["outputs"]], [-1.5, -2.0])
        self.assertEqual(best["sentences"][0]["gold"], [[0, 0, 1]])
        shown = rela.show(self.model, self.src[0], self.tgt[0])
        self.assertIn("rela-attention", shown.html)
        frame = shown._repr_html_()
        self.assertTrue(frame.startswith('<iframe sandbox="allow-scripts allow-downloads" srcdoc="&lt;!DOCTYPE html&gt;'))
        self.assertNotIn("<script", frame)
        rela.analyse(self.model, self.src, self.tgt, "analysis", dump="view.npz")
        dumped = json.loads(rela.view_file("view.npz", form="document"))
        own = json.loads(rela.view(self.model, self.src, self.tgt, form="document"))
        self.assertEqual([s["outputs"][0]["attention"] for s in dumped["sentences"]],
                         [s["outputs"][0]["attention"] for s in own["sentences"]])
        Path("soft").write_text("x ||| 0.5,0.5 0,1\n")
        marian = json.loads(rela.view_file("soft", src=["a"], form="document"))
        self.assertEqual([t["pieces"] for t in marian["sentences"][0]["outputs"][0]["texts"]],
                         [["a", "<eos>"], ["x", "<eos>"]])
        with self.assertRaisesRegex(ValueError, "1 sources, but 0 targets"):
            rela.view(self.model, self.src[:1], [])

    def test_an_array_of_attention_is_that_of_the_document(self):
        seen = self.model.attention(self.src[0], self.tgt[0])
        document = json.loads(rela.view(self.model, self.src[:1], self.tgt[:1], form="document"))
        stacks, output = document["models"][0]["stacks"], document["sentences"][0]["outputs"][0]
        for stack, rows in zip(stacks, output["attention"]):
            dense, data = np.zeros_like(seen.stacks[stack["key"]]), base64.b64decode(rows)
            at = 0
            for layer, head, query in np.ndindex(dense.shape[:3]):
                keys = query + 1 if stack["causal"] else dense.shape[3]
                bits = np.unpackbits(np.frombuffer(data, np.uint8, (keys + 7) // 8, at), bitorder="little")[:keys]
                at += (keys + 7) // 8
                dense[layer, head, query, :keys][bits == 1] = np.frombuffer(data, "<f2", int(bits.sum()), at)
                at += 2 * int(bits.sum())
            self.assertEqual(at, len(data))
            np.testing.assert_allclose(dense, seen.stacks[stack["key"]], rtol=2 ** -10, atol=1e-6)
            np.testing.assert_array_equal(dense == 0, seen.stacks[stack["key"]] == 0)

    def test_figures_are_those_of_the_program(self):
        found = rela.analyse([self.model, "model.rela"], self.src, self.tgt, "analysis", names=["a", "b"], seed=5)
        program("analyse", "model.rela", "model.rela", "--src", "some.src", "--tgt", "some.tgt", "--names", "a",
                "--names", "b", "--seed", 5, "--out", "analysis2")
        self.assertEqual(found, json.loads(Path("analysis2/analysis.json").read_text()))
        self.assertTrue(Path("analysis/report.html").stat().st_size)
        with self.assertRaisesRegex(ValueError, "names: 1; expected 2"):
            rela.analyse([self.model] * 2, self.src, self.tgt, "analysis", names=["a"])

    def test_the_same_pairs_are_kept(self):
        for options, settings in (([], {"max_words": 9}), (["model.rela"], {"model": self.model, "by": "null"}),
                                  (["model.rela"], {"model": "model.rela", "keep": 0.5, "calibrate": 40})):
            with self.subTest(options, settings=settings):
                given = [x for name, value in settings.items() if name != "model"
                         for x in (f"--{name.replace('_', '-')}", value)]
                want = json.loads("\n".join(program(
                    "filter", *options, "--src", "some.src", "--tgt", "some.tgt", "--out-src", "want.src",
                    "--out-tgt", "want.tgt", "--json", *given)))
                found = rela.filter("some.src", "some.tgt", "kept.src", "kept.tgt", **settings)
                self.assertEqual(found["read"], want["read"])
                self.assertEqual(sum(found["counts"].values()), found["read"])
                for side in ("src", "tgt"):
                    self.assertEqual(Path(f"kept.{side}").read_text(), Path(f"want.{side}").read_text())
                self.assertEqual(found["counts"]["kept"], len(Path("kept.src").read_text().splitlines()))
                self.assertEqual("cut" in found, "model" in settings)

    def test_heads_count_from_0(self):
        settings = {"model": self.model, "by": "null", "min_score": 0.5}
        rela.filter("some.src", "some.tgt", heads=[(1, 0)], scores="scores.tsv", **settings)
        program("filter", "model.rela", "--src", "some.src", "--tgt", "some.tgt", "--dry-run", "--by", "null",
                "--heads", "2:1", "--min-score", "0.5", "--scores", "want.tsv")
        rows = Path("scores.tsv").read_text().splitlines()
        self.assertEqual(rows, Path("want.tsv").read_text().splitlines())
        self.assertEqual([row.split("\t")[0] for row in rows[:3]], ["line", "0", "1"])
        for heads, message in (([(9, 0)], "no layer 10; "), ([(0, 99)], "no head 100; "), ([(-1, 0)], "no layer 0; ")):
            with self.assertRaisesRegex(rela.Error, message):
                rela.filter("some.src", "some.tgt", heads=heads, **settings)

    def test_info_is_that_of_the_program(self):
        self.assertEqual(rela.info("model.rela"), json.loads("\n".join(program("info", "model.rela", "--json"))))
        with self.assertRaisesRegex(rela.Error, "not a model file"):
            rela.info("some.src")

    def test_info_of_a_pair_has_both_models(self):
        rela.align(self.src, self.tgt, save="both.rela", updates=2, merges=50)
        found = rela.info("both.rela")
        self.assertEqual(found, json.loads("\n".join(program("info", "both.rela", "--json"))))
        self.assertEqual([part["config"]["dec_layers"] for part in found["parts"]], [1, 1])

    def test_wrong_texts_are_refused(self):
        with self.assertRaisesRegex(ValueError, "src: line 2 has a line break"):
            rela.align(self.model, ["a", "b\nc"], ["a", "b"])
        with self.assertRaises(rela.Error):
            rela.align(self.model, ["a", "b"], ["a"])
        with self.assertRaisesRegex(TypeError, "unknown option 'heads'"):
            rela.align(self.model, ["a"], ["a"], heads=1)
        with self.assertRaisesRegex(ValueError, "symmetrise 'diag' is not one of"):
            rela.align(self.model, ["a"], ["a"], symmetrise="diag")
        with self.assertRaisesRegex(ValueError, "by 'luck' is not one of"):
            rela.filter(["a"], ["b"], by="luck")
        closed = rela.Translator("model.rela")
        closed.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            rela.align(closed, ["a"], ["a"])


if __name__ == "__main__":
    unittest.main()
