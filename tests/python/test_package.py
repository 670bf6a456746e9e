# SPDX-License-Identifier: MIT
"""The package as a program uses it. Needs model.rela and corpus/ in the current directory."""
import asyncio
import contextlib
import ctypes
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import rela
from rela import _library, _structs, translator

SOURCE = Path(os.environ["RELA_SOURCE"])
TEXTS = ["the old house is small .", "a dog sleeps .", "", "ä \0 \N{GRINNING FACE}"]


class Version(unittest.TestCase):
    def test_all_places_have_that_of_the_library(self):
        header = (SOURCE / "include" / "rela" / "rela.h").read_text()
        want = ".".join(re.findall(r"define RELA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
        for project in (SOURCE / "pyproject.toml", SOURCE / "python" / "pyproject.toml"):
            self.assertIn(f'\nversion = "{want}"\n', project.read_text())
        changelog = (SOURCE / "debian" / "changelog").read_text()
        self.assertTrue(changelog.startswith(f"rela ({want}"), changelog[:20])
        self.assertEqual(rela.__version__, want)
        self.assertEqual(list(_library.VERSION), [int(n) for n in want.split(".")[:2]])


class Library(unittest.TestCase):
    NAME = "librela.so.%d.%d" % _library.VERSION

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name).resolve()
        self.env = {k: v for k, v in os.environ.items() if k != "RELA_LIBRARY"}
        self.env |= {"HOME": str(self.root / "home"), "PATH": "/usr/bin:/bin"}

    def install(self, folder):
        """The library under its run-time name; a link, so that its own libraries are found."""
        (self.root / folder).mkdir(parents=True)
        place = self.root / folder / self.NAME
        place.symlink_to(Path(os.environ["RELA_LIBRARY"]).resolve())
        return str(place)

    def found(self):
        code = "from rela import _library; print(_library.lib._name)"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                              env=self.env).stdout.strip()

    def prefix(self, name):
        """A prefix with a program that PATH finds first."""
        program = self.root / name / "bin" / "rela"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        self.env["PATH"] = f"{program.parent}:{self.env['PATH']}"
        return self.root / name

    def test_it_is_found_in_the_home_directory(self):
        place = self.install("home/.local/lib")
        self.assertEqual(self.found(), place)

    def test_it_is_found_beside_the_program_first(self):
        self.install("home/.local/lib")
        for folder in ("lib/x86_64-linux-gnu", "lib64", "lib"):
            with self.subTest(folder):
                place = self.install(self.prefix(folder.replace("/", "-")) / folder)
                self.assertEqual(self.found(), place)

    def test_one_that_does_not_load_is_passed_over(self):
        place = self.install("home/.local/lib")
        library = self.prefix("broken") / "lib" / self.NAME
        library.parent.mkdir()
        library.write_text("not a library")
        self.assertEqual(self.found(), place)

    def test_another_version_is_refused(self):
        library = self.root / "librela.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], check=True, text=True,
                       input="unsigned rela_version(void) { return 9 << 16 | 8 << 8; }\n")
        self.env["RELA_LIBRARY"] = str(library)
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            self.found()
        self.assertIn(f"{library}: version 9.8; expected", caught.exception.stderr)

    def test_the_order_is_that_of_the_documentation(self):
        with mock.patch.dict(os.environ, {"HOME": "/h"}), mock.patch.object(
                shutil, "which", return_value="/p/bin/rela"):
            folders = [str(f) for f in _library._folders()]
        own = str(Path(_library.__file__).parent)
        self.assertEqual(folders, [own, "/p/lib", "/p/lib64", "/h/.local/lib", "/usr/local/lib"])
        with mock.patch.dict(os.environ):
            del os.environ["RELA_LIBRARY"]
            self.assertEqual(list(_library._places())[-1], self.NAME)


class Structs(unittest.TestCase):
    def test_members_are_where_a_c_compiler_has_them(self):
        lines, want = [], []
        for struct in _structs.ALL:
            name = struct.C_NAME
            lines.append(f'printf("%zu\\n", sizeof({name}));')
            want.append(ctypes.sizeof(struct))
            for member, *_ in struct._fields_:
                lines.append(f'printf("%zu\\n", offsetof({name}, {member}));')
                want.append(getattr(struct, member).offset)
        with tempfile.TemporaryDirectory() as folder:
            code, program = Path(folder) / "sizes.c", Path(folder) / "sizes"
            headers = ("analyse", "async", "attention", "corpus", "metric", "model", "subword", "text", "train", "translate",
                       "view", "vocab")
            code.write_text("".join(f'#include "rela/{h}.h"\n' for h in headers) + "#include <stdio.h>\n"
                            "int main(void) {\n" + "\n".join(lines) + "\n}\n")
            subprocess.run(["cc", "-I", SOURCE / "include", code, "-o", program], check=True)
            got = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        self.assertEqual(list(map(int, got.split())), want)


    def test_a_size_that_is_not_known_is_refused(self):
        for change, status in ((lambda size: 0, "ARG"), (lambda size: size + 8, "UNSUP")):
            for struct, name in ((_structs.AttentionOptions, "rela_attention_create"),
                                 (_structs.RuntimeOptions, "rela_runtime_create")):
                room = (ctypes.c_char * (ctypes.sizeof(struct) + 8))()
                o = struct.from_buffer(room)
                ctypes.pointer(o)[0] = _library.options(struct)
                o.struct_size = change(ctypes.sizeof(struct))
                with self.assertRaisesRegex(rela.Error, struct.C_NAME + ": struct_size") as caught:
                    _library.call(name, ctypes.byref(ctypes.c_void_p()), ctypes.byref(o))
                self.assertEqual(caught.exception.status, status)


class SeveralSources(unittest.TestCase):
    """A model that reads two texts of each sentence, trained here for a few updates."""

    SMALL = dict(preset="tiny", merges=30, width=32, ffn=32, heads=2, enc_layers=1, dec_layers=1, updates=6,
                 batch_tokens=200, save_every=3, keep=1, average=1, valid_beam=0)

    @classmethod
    def setUpClass(cls):
        for name, words in {"a": "the _ is _ .", "b": "_ house _ small .", "t": "das Haus ist klein ."}.items():
            pathlib.Path(f"two.{name}").write_text((words + "\n") * 40)
        cls.path = rela.train("two.a", "two.t", "two", train_src_2="two.b", share_encoders=True, **cls.SMALL)
        cls.model = rela.Translator(cls.path)

    def test_a_sentence_is_a_tuple(self):
        pair = ("the _", "_ house")
        one = self.model.translate(pair)
        self.assertEqual(self.model.translate([pair, ("", "")]), [one, ""])
        self.assertIsInstance(self.model.translate(("the house", "")), str)
        self.assertEqual(self.model.shape["sources"], 2)
        for wrong in ("text", ("one",), ("a", "b", "c")):
            with self.assertRaisesRegex(ValueError, "2 sources"):
                self.model.translate(wrong)

    def test_scores_and_attention_are_of_both(self):
        pair = ("the _ is", "_ house")
        score = self.model.score(pair, "das Haus")
        self.assertEqual(self.model.score([pair], ["das Haus"])[0].logp, score.logp)
        seen = self.model.attention(pair, "das Haus")
        self.assertEqual(list(seen.stacks), ["encoder0", "encoder1", "decoder", "cross0", "cross1"])
        for k in (0, 1):
            t = self.model.translate(pair, attention=True, source=k)
            self.assertEqual(t.source_tokens, seen.sources[k])
            self.assertEqual(seen.stacks[f"cross{k}"].shape[2:], (len(seen.target), len(seen.sources[k])))

    def test_lists_of_files_are_read_one_after_the_other(self):
        for name in "abt":
            lines = pathlib.Path(f"two.{name}").read_text().splitlines(True)
            for part, chosen in enumerate((lines[:15], lines[15:])):
                pathlib.Path(f"part{part}.{name}").write_text("".join(chosen))
        parts = rela.train(["part0.a", "part1.a"], ["part0.t", "part1.t"], "parts",
                           train_src_2=["part0.b", "part1.b"], share_encoders=True, **self.SMALL)
        self.assertEqual(rela.Translator(parts).translate(("the _", "_ house")),
                         self.model.translate(("the _", "_ house")))
        with self.assertRaisesRegex(ValueError, "as many files"):
            rela.train(["part0.a", "part1.a"], "two.t", "wrong", **self.SMALL)


class Translate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = rela.Translator("model.rela", threads=2)

    def test_five_lines_translate_a_sentence(self):
        program = ("import rela\n"
                   "model = rela.Translator('model.rela')\n"
                   "text = model.translate('the old house is small .')\n"
                   "assert isinstance(text, str)\n"
                   "print(text)\n")
        found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                               check=True).stdout
        self.assertEqual(found.strip("\n"), self.model.translate(TEXTS[0]))

    def test_a_list_gives_what_its_texts_give(self):
        self.assertEqual(self.model.translate(TEXTS), [self.model.translate(t) for t in TEXTS])
        self.assertEqual(self.model.translate([]), [])

    def test_the_program_says_the_same(self):
        found = subprocess.run([os.environ["RELA"], "translate", "-q", "-b", "4", "model.rela"],
                               input="\n".join(TEXTS[:2]) + "\n", capture_output=True, text=True,
                               check=True).stdout
        self.assertEqual(found.splitlines(), self.model.translate(TEXTS[:2], beam=4))

    def test_details_fit_together(self):
        for t in self.model.translate(TEXTS[0], n_best=3, attention=True):
            self.assertAlmostEqual(sum(t.token_logps), t.logp, places=3)
            self.assertEqual(t.attention.shape[0], len(t.tokens))
            self.assertEqual(t.attention.shape[3], len(t.source_tokens))
            self.assertIsInstance(t.links, list)
        self.assertEqual(self.model.translate(TEXTS[0], details=True).text,
                         self.model.translate(TEXTS[0]))

    def test_samples_depend_on_the_seed_alone(self):
        one, same, other = (self.model.translate(TEXTS[0], sample=True, seed=s) for s in (1, 1, 2))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    def test_a_prefix_is_followed(self):
        self.assertTrue(self.model.translate(TEXTS[0], prefix="das").startswith("das"))

    def test_sentences_are_translated_one_by_one(self):
        both = self.model.translate(" ".join(TEXTS[:2]), details=True)
        self.assertEqual(both.text, " ".join(self.model.translate(TEXTS[:2])))
        self.assertEqual(both.source_tokens.count("<eos>"), 2)
        self.assertAlmostEqual(sum(both.token_logps), both.logp, places=3)
        for how in ({"split": "never"}, {"attention": True}, {"prefix": "das"}):
            whole = self.model.translate(" ".join(TEXTS[:2]), details=True, **how)
            self.assertEqual(whole.source_tokens.count("<eos>"), 1, how)
        with self.assertRaisesRegex(rela.Error, "with a prefix cannot be split"):
            self.model.translate(TEXTS[0], prefix="das", split="always")
        with self.assertRaisesRegex(rela.Error, "'germn' is not known"):
            self.model.translate(TEXTS[0], src_lang="germn")

    def test_scores_of_a_list_are_those_of_its_pairs(self):
        a, b = self.model.score(TEXTS[:2], ["das Haus .", "ein Hund ."])
        self.assertAlmostEqual(sum(a.token_logps), a.logp, places=3)
        self.assertAlmostEqual(b.logp, self.model.score(TEXTS[1], "ein Hund .").logp, places=4)

    def test_attention_is_that_of_the_translation(self):
        """The search shows cross attention; told its own words, the model attends alike."""
        best = self.model.translate(TEXTS[1], beam=1, attention=True)
        seen = self.model.attention(TEXTS[1], best.text)
        self.assertEqual(seen.source, best.source_tokens)
        self.assertEqual(seen.encoder.shape[2:], (len(seen.source),) * 2)
        self.assertTrue((np.triu(seen.decoder, 1) == 0).all())
        if seen.target == best.tokens:
            np.testing.assert_allclose(seen.cross.transpose(2, 0, 1, 3), best.attention, atol=1e-4)

    def test_threads_may_share_it(self):
        want = self.model.translate(TEXTS)
        found = [None] * 4

        def work(i):
            found[i] = self.model.translate(TEXTS)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(found, [want] * 4)

    def test_close_waits_for_results_that_are_read(self):
        """Their tokens are lent by the model."""
        for use in (lambda model: model.translate(TEXTS[0], n_best=2),
                    lambda model: model.score(TEXTS[0], "das Haus .")):
            model = rela.Translator("model.rela")
            closing, waited = threading.Thread(target=model.close), []

            def read(text, plain=translator._str):
                if not closing.ident:
                    closing.start()
                    closing.join(0.1)
                    waited.append(closing.is_alive())
                return plain(text)

            with mock.patch.object(translator, "_str", read):
                use(model)
            closing.join()
            self.assertEqual(waited, [True])

    def test_a_model_and_itself_are_that_model(self):
        both = rela.Translator(["model.rela", "model.rela"])
        self.assertEqual(both.translate(TEXTS[:2]), self.model.translate(TEXTS[:2]))

    def test_eight_bits_translate_and_do_nothing_else(self):
        with rela.Translator("model.rela", int8=True) as model:
            found = subprocess.run([os.environ["RELA"], "translate", "-q", "--int8", "model.rela"],
                                   input="\n".join(TEXTS[:2]) + "\n", capture_output=True,
                                   text=True, check=True).stdout
            self.assertEqual(found.splitlines(), model.translate(TEXTS[:2]))
            with self.assertRaises(rela.Error) as caught:
                model.score(TEXTS[0], "das Haus .")
            self.assertEqual(caught.exception.status, "FORMAT")

    def test_a_shortlist_is_that_of_the_program(self):
        run = lambda *command, **more: subprocess.run([os.environ["RELA"], *command], check=True,
                                                      capture_output=True, text=True, **more).stdout
        run("shortlist", "-q", "model.rela", "--src", "corpus/train.src", "--tgt",
            "corpus/train.tgt", "--frequent", "10", "--best", "4", "--out", "shortlist")
        found = run("translate", "-q", "model.rela", "--shortlist", "shortlist",
                    input="\n".join(TEXTS[:2]) + "\n").splitlines()
        with rela.Translator("model.rela", shortlist=Path("shortlist")) as model:
            self.assertEqual(model.translate(TEXTS[:2]), found)
            self.assertEqual(model.translate(TEXTS, shortlist=False), self.model.translate(TEXTS))
        with self.assertRaises(rela.Error) as caught:
            rela.Translator("model.rela", shortlist="model.rela")
        self.assertEqual(caught.exception.status, "FORMAT")

    def test_batches_change_nothing(self):
        want = self.model.translate(TEXTS, n_best=2)
        for settings in (dict(batch_sentences=1), dict(batch_tokens=1)):
            found = self.model.translate(TEXTS, n_best=2, **settings)
            self.assertEqual([[(t.text, t.logp) for t in ts] for ts in found],
                             [[(t.text, t.logp) for t in ts] for ts in want])
        a, b = (self.model.score(TEXTS[:2], ["das Haus .", "ein Hund ."], batch_tokens=n)
                for n in (1, 4096))
        self.assertEqual([s.tokens for s in a], [s.tokens for s in b])

    def test_links_are_those_of_the_chosen_head(self):
        for settings in ({}, dict(layer=0), dict(layer=0, head=1)):
            t = self.model.translate(TEXTS[0], attention=True, links="soft", **settings)
            hard = self.model.translate(TEXTS[0], attention=True, **settings).links
            self.assertLessEqual(set(hard), {(s, k) for s, k, _ in t.links})
            self.assertTrue(all(w > 0 for *_, w in t.links))
        with self.assertRaises(rela.Error) as caught:
            self.model.translate(TEXTS[0], attention=True, layer=99)
        self.assertEqual(caught.exception.status, "ARG")

    def test_random_numbers_depend_on_the_number_of_a_text(self):
        one = self.model.translate([TEXTS[1], TEXTS[0]], sample=True)[1]
        self.assertEqual(one, self.model.translate(TEXTS[0], sample=True, first_line=1))

    def test_notices_arrive(self):
        lines = []
        with rela.Translator("model.rela", log=lines.append) as model:
            model.translate("dog " * 500, long_sentence="cut", beam=1)
        self.assertTrue(lines)
        with self.assertRaisesRegex(ValueError, "closed"):
            model.translate("dog")


class Async(unittest.TestCase):
    def test_tasks_end_as_if_alone(self):
        async def run(model):
            return await asyncio.gather(*(model.translate_async(t) for t in TEXTS * 5),
                                        model.translate_async(TEXTS[0], n_best=2, attention=True))

        with rela.Translator("model.rela", threads=2) as model:
            *found, best = asyncio.run(run(model))
            self.assertEqual(found, model.translate(TEXTS) * 5)
            want = model.translate(TEXTS[0], n_best=2, attention=True)
            self.assertEqual([t.text for t in best], [t.text for t in want])
            np.testing.assert_array_equal(best[0].attention, want[0].attention)
            self.assertEqual(asyncio.run(model.translate_async(TEXTS[0])), found[0])  # another loop

    def test_tasks_can_be_cancelled_and_be_late(self):
        async def run(model):
            tasks = [asyncio.create_task(model.translate_async(" ".join(TEXTS * 50))) for _ in range(20)]
            await asyncio.sleep(0.01)
            for task in tasks:
                task.cancel()
            gone = await asyncio.gather(*tasks, return_exceptions=True)
            self.assertTrue(any(isinstance(g, asyncio.CancelledError) for g in gone))
            with self.assertRaises(rela.CancelledError):
                await model.translate_async(TEXTS[0], seconds=1e-9)
            with self.assertRaises(TypeError):
                await model.translate_async(TEXTS)
            with self.assertRaises(ValueError):
                await model.translate_async(TEXTS[0], penalty="none at all")
            return await model.translate_async(TEXTS[0])

        with rela.Translator("model.rela", threads=2) as model:
            self.assertEqual(asyncio.run(run(model)), model.translate(TEXTS[0]))

    def test_closing_ends_what_waits(self):
        async def run():
            model = rela.Translator("model.rela", threads=1)
            tasks = [asyncio.create_task(model.translate_async(TEXTS[0])) for _ in range(50)]
            await asyncio.sleep(0)
            model.close()
            found = await asyncio.gather(*tasks, return_exceptions=True)
            self.assertTrue(all(isinstance(f, (str, rela.CancelledError)) for f in found))
            with self.assertRaises(ValueError):
                await model.translate_async(TEXTS[0])

        asyncio.run(run())


class Failures(unittest.TestCase):
    def test_errors_have_status_and_message(self):
        Path("bad.rela").write_bytes(b"\xff" * 100)
        for path, status in (("missing.rela", "IO"), ("bad.rela", "FORMAT")):
            with self.assertRaises(rela.Error) as caught:
                rela.Translator(path)
            self.assertEqual(caught.exception.status, status)
            self.assertIn(path, caught.exception.message)
        model = rela.Translator("model.rela")
        with self.assertRaises(rela.Error) as caught:
            model.translate("a", beam=0)
        self.assertEqual(caught.exception.status, "ARG")
        with self.assertRaisesRegex(ValueError, "unk 'perhaps' is not one of"):
            model.translate("a", unk="perhaps")
        with self.assertRaisesRegex(ValueError, "2 sources, but 1 targets"):
            model.score(["a", "b"], ["c"])
        with self.assertRaisesRegex(ValueError, "beam_size: 5000000000 is out of range"):
            model.translate("a", beam=5 * 10**9)

    def test_overflow_is_an_error_or_marked(self):
        out = rela.train("corpus/train.src", "corpus/train.tgt", "wild", preset="demo", width=16, ffn=16,
                         heads=2, merges=0, lr=1e6, warmup=0, schedule="constant", updates=4,
                         max_skipped=9, threads=1)
        with rela.Translator(out) as model:
            texts = ["", "the old house", "a dog"]
            for call in (lambda: model.translate(texts), lambda: model.score(texts, texts),
                         lambda: model.attention("a dog", "a dog")):
                with self.assertRaises(rela.Error) as caught:
                    call()
                self.assertEqual(caught.exception.status, "NOTFINITE")
                self.assertRegex(caught.exception.message, "^line [12]: (logits are|attention is) not finite")
            self.assertEqual(model.translate(texts, not_finite="mark"), ["", None, None])
            best = model.translate(texts, details=True, not_finite="mark")[1]
            self.assertTrue(best.text == "" and best.tokens == [] and np.isnan(best.score))
            self.assertTrue(np.isnan(model.score("a", "b", not_finite="mark").logp))
            with self.assertRaisesRegex(ValueError, "not_finite 'skip' is not one of"):
                model.translate("a", not_finite="skip")

    def test_a_library_that_is_missing_is_named(self):
        code = "import rela"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                               env=os.environ | {"RELA_LIBRARY": "no/such/librela.so"})
        self.assertIn("librela was not found", found.stderr)


class Train(unittest.TestCase):
    SMALL = dict(preset="demo", width=16, merges=50, updates=6, report_every=2, batch_tokens=256)

    def train(self, out, callback=None, **settings):
        return rela.train("corpus/train.src", "corpus/train.tgt", out, callback,
                          **(self.SMALL | settings))

    def test_it_trains_stops_and_resumes(self):
        events = []
        with self.assertRaises(rela.Error) as caught:
            self.train("stopped", lambda e: "stop" if e.update == 3 else events.append(e))
        self.assertEqual(caught.exception.status, "CANCEL")
        path = self.train("stopped")
        self.assertEqual(path.read_bytes(), self.train("whole").read_bytes())
        self.assertIn("report", {e.kind for e in events})
        self.assertGreater([e.loss for e in events if e.kind == "report"][0], 0)

    def test_exceptions_of_a_callback_arrive(self):
        def fail(event):
            raise KeyError(event.kind)

        with self.assertRaises(KeyError):
            self.train("failed", fail)
        with self.assertRaisesRegex(ValueError, "expected None, 'save' or 'stop'"):
            self.train("failed", lambda e: "perhaps")

    def test_bad_settings_are_refused(self):
        with self.assertRaisesRegex(TypeError, "unknown option 'widht'"):
            self.train("bad", widht=3)
        with self.assertRaisesRegex(rela.Error, "width"):
            self.train("bad", width=10**6)


class Operator(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(5)
        self.q, self.k, self.v = (random.standard_normal((3, n, 8)) for n in (4, 6, 6))

    def test_relu_and_softmax_by_their_formulas(self):
        s = self.q @ self.k.transpose(0, 2, 1) / np.sqrt(8)
        np.testing.assert_allclose(rela.attention(self.q, self.k, self.v, "relu"),
                                   np.maximum(s, 0) @ self.v, rtol=1e-4, atol=1e-5)
        e = np.exp(s)
        np.testing.assert_allclose(rela.attention(self.q, self.k, self.v, "softmax"),
                                   e / e.sum(-1, keepdims=True) @ self.v, rtol=1e-4, atol=1e-5)

    def test_one_sequence_is_a_batch_of_one(self):
        for kind in rela.kinds():
            y, w = rela.attention(self.q, self.k, self.v, kind, heads=2, return_weights=True)
            y0, w0 = rela.attention(self.q[1], self.k[1], self.v[1], kind, 2, return_weights=True)
            np.testing.assert_array_equal(y[1], y0)
            np.testing.assert_array_equal(w[1], w0)

    def test_lengths_hide_rows(self):
        y = rela.attention(self.q, self.k, self.v, heads=2, k_lengths=[6, 3, 0], q_lengths=[4, 2, 4])
        cut = rela.attention(self.q[1, :2], self.k[1, :3], self.v[1, :3], heads=2)
        np.testing.assert_array_equal(y[1, :2], cut)
        self.assertTrue((y[1, 2:] == 0).all() and (y[2] == 0).all())

    def test_nothing_gives_nothing(self):
        empty = np.zeros((2, 0, 8))
        self.assertEqual(rela.attention(empty, self.k[:2], self.v[:2]).shape, (2, 0, 8))
        self.assertTrue((rela.attention(self.q[:2], empty, empty) == 0).all())

    def test_bad_shapes_are_refused(self):
        for bad, message in (((self.q[:2], self.k, self.v), "do not fit"),
                             ((self.q, self.k[..., :7], self.v), "expected"),
                             ((self.q, self.k[0], self.v), "expected")):
            with self.assertRaisesRegex(ValueError, message):
                rela.attention(*bad)
        with self.assertRaisesRegex(ValueError, "3 heads do not divide a width of 8"):
            rela.attention(self.q, self.k, self.v, heads=3)
        with self.assertRaisesRegex(ValueError, "k_lengths"):
            rela.attention(self.q, self.k, self.v, k_lengths=[7, 1, 1])
        with self.assertRaisesRegex(ValueError, "gain has 3 numbers"):
            rela.attention(self.q, self.k, self.v, gain=[1, 2, 3])
        with self.assertRaisesRegex(rela.Error, "unknown attention"):
            rela.attention(self.q, self.k, self.v, "odd")


class Documentation(unittest.TestCase):
    def test_examples_run(self):
        """Those of a page one after the other; "python torch" is for test_torch."""
        subprocess.run([os.environ["RELA"], "analyse", "-q", "model.rela", "--src", "corpus/test.src", "--tgt",
                        "corpus/test.tgt", "--out", "analysis", "--dump", "attention.npz"], check=True,
                       capture_output=True)
        for page, least in (("README.md", 1), ("docs/python.md", 8), ("docs/analyse.md", 1)):
            blocks = re.findall(r"^```python\n(.*?)^```", (SOURCE / page).read_text(), re.M | re.S)
            self.assertGreaterEqual(len(blocks), least)
            names = {}
            for code in blocks:
                with self.subTest(page), contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(code, page, "exec"), names)
        pages = [p for p in SOURCE.glob("docs/**/*.md") if "```python\n" in p.read_text()]
        self.assertEqual(sorted(p.name for p in pages), ["analyse.md", "python.md"])

    def test_a_head_is_drawn(self):
        script = SOURCE / "examples" / "python" / "plot_head.py"
        subprocess.run([sys.executable, script, "model.rela", TEXTS[0], "das alte Haus .",
                        "--place", "cross", "--layer", "1", "--head", "2", "-o", "head.svg"],
                       check=True)
        picture = Path("head.svg").read_text()
        self.assertTrue(picture.startswith("<svg") and picture.rstrip().endswith("</svg>"))
        self.assertIn("&lt;eos&gt;", picture)


if __name__ == "__main__":
    unittest.main()
