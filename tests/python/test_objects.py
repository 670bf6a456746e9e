# SPDX-License-Identifier: MIT
"""Objects of the package where programs are more than one call: copies, pickles, processes, threads, signals.
Needs model.rela and corpus/ in the current directory."""
import concurrent.futures
import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import typing
import unittest
from pathlib import Path

import numpy as np

import rela
from rela import _library

TEXT = "the old house is small ."
TEXTS = [TEXT, "a dog sleeps ."] * 20
PATIENCE = 60  # seconds for what takes well under one


def run(code, *arguments):
    """A program of its own, as a fault may end or block it."""
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=PATIENCE)


def translated(model, text):
    return model.translate(text)


def scored(op, x):
    return op.forward(x, x, x)


class Copies(unittest.TestCase):
    def test_a_copy_works_after_the_original_has_gone(self):
        for clone in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
            with rela.Translator("model.rela", threads=1) as model:
                want, other = model.translate(TEXT), clone(model)
            self.assertEqual(other.translate(TEXT), want)
            op = rela.Attention(2, 4, "rela-t", max_length=8, epsilon=1e-3)
            x = np.ones((3, 8), np.float32)
            y, other = op.forward(x, x, x), clone(op)
            del op
            np.testing.assert_array_equal(other.forward(x, x, x), y)
            codes = rela.bpe.learn(["low lower lowest"] * 3, merges=4)
            self.assertEqual(clone(codes).apply("lowest"), codes.apply("lowest"))
            vocabulary = rela.vocab.build(TEXTS)
            self.assertEqual(list(clone(vocabulary)), list(vocabulary))

    def test_settings_go_along(self):
        model = rela.Translator(["model.rela", "model.rela"], int8=True)
        other = pickle.loads(pickle.dumps(model))
        self.assertEqual(other.translate(TEXT), model.translate(TEXT))
        with self.assertRaisesRegex(rela.Error, "translate"):
            other.score(TEXT, TEXT)

    def test_a_pickle_does_not_depend_on_the_directory(self):
        here, text = os.getcwd(), pickle.dumps(rela.Translator("model.rela"))
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                self.assertTrue(pickle.loads(text).translate(TEXT))
            finally:
                os.chdir(here)

    def test_handles_are_not_copied(self):
        handle = rela.bpe.learn(TEXTS, merges=4)._codes
        for clone in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "cannot be copied"):
                clone(handle)


class Errors(unittest.TestCase):
    def test_they_are_pickled(self):
        for kind in (rela.Error, *_library._ERRORS.values()):
            e = pickle.loads(pickle.dumps(kind("IO", "a.txt: reason")))
            self.assertEqual((type(e), e.status, e.message, str(e)), (kind, "IO", "a.txt: reason", "a.txt: reason"))

    def test_each_status_has_a_class(self):
        self.assertEqual(set(_library._ERRORS), set(_library.STATUS.values()) - {"OK"})
        Path("bad.rela").write_bytes(b"\xff" * 100)
        for path, own, python in (("missing.rela", rela.FileError, OSError),
                                  ("bad.rela", rela.FormatError, ValueError)):
            for kind in (rela.Error, own, python):
                with self.assertRaisesRegex(kind, f"^{path}: "):
                    rela.Translator(path)
        with self.assertRaises(ValueError) as caught:
            rela.Translator("model.rela").translate(TEXT, beam=0)
        self.assertIs(type(caught.exception), rela.ArgumentError)


class Processes(unittest.TestCase):
    def test_a_pool_returns_results_and_errors(self):
        model, x = rela.Translator("model.rela", threads=2), np.ones((3, 8), np.float32)
        op = rela.Attention(2, 4, threads=2)
        want, y = model.translate(TEXTS), op.forward(x, x, x)
        for method in ("fork", "spawn"):
            with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
                jobs = [pool.submit(translated, model, TEXTS) for _ in range(3)]
                np.testing.assert_array_equal(pool.submit(scored, op, x).result(PATIENCE), y)
                self.assertEqual([job.result(PATIENCE) for job in jobs], [want] * 3)
                with self.assertRaises(rela.FileError) as caught:
                    pool.submit(rela.Translator, "missing.rela").result(PATIENCE)
                self.assertEqual(caught.exception.status, "IO")

    def test_a_child_of_fork_computes_after_threads_were_used(self):
        code = """if True:
            import os, rela
            texts = ["the old house is small .", "a dog sleeps ."] * 20
            model = rela.Translator("model.rela", threads=3)
            want, bleu = model.translate(texts), rela.bleu(texts, texts, threads=3).score
            child = os.fork()
            if child == 0:
                fresh = rela.Translator("model.rela", threads=3)
                same = model.translate(texts) == want == fresh.translate(texts)
                os._exit(0 if same and rela.bleu(texts, texts, threads=3).score == bleu else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert model.translate(texts) == want
        """
        found = run(code)
        self.assertEqual(found.returncode, 0, found.stderr)

    def test_a_child_does_not_wait_for_threads_of_the_parent(self):
        """The thread that has the locks at the moment of the fork does not exist in the child."""
        code = """if True:
            import os, threading, rela
            import numpy as np
            model, op = rela.Translator("model.rela"), rela.Attention(2, 4)
            begun, forked = threading.Event(), threading.Event()
            def work():
                with model._engine.session(), op._lock, model._engine._left:
                    begun.set(); forked.wait()
            thread = threading.Thread(target=work)
            thread.start(); begun.wait()
            child = os.fork()
            if child == 0:
                x = np.ones((3, 8), np.float32)
                model.translate("a dog sleeps ."); op.forward(x, x, x); model.close()
                os._exit(0)
            forked.set(); thread.join()
            assert os.waitpid(child, 0)[1] == 0
        """
        found = run(code)
        self.assertEqual(found.returncode, 0, found.stderr)


class Threads(unittest.TestCase):
    def test_calls_run_at_the_same_time(self):
        """Each waits, at its start, for the other to start."""
        model, both = rela.Translator("model.rela", threads=1), threading.Barrier(2)

        def together(done, _total):
            if done == 0 and not both.broken:
                both.wait(PATIENCE)

        for use in (lambda: model.translate([TEXT], progress=together),
                    lambda: model.score([TEXT], [TEXT], progress=together)):
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                jobs = [pool.submit(use) for _ in range(2)]
                self.assertEqual(len({str(job.result(PATIENCE)) for job in jobs}), 1)
        self.assertFalse(both.broken)

    def test_sessions_are_used_again(self):
        model = rela.Translator("model.rela", threads=1)
        for _ in range(3):
            model.translate(TEXT)
            model.attention(TEXT, TEXT)
        self.assertEqual(len(model._engine._idle), 1)

    def test_a_call_cannot_close_its_own_model(self):
        model = rela.Translator("model.rela", threads=1)
        with self.assertRaisesRegex(RuntimeError, "cannot be closed while"):
            model.translate([TEXT], progress=lambda done, total: model.close())
        self.assertTrue(model.translate(TEXT))


class Signals(unittest.TestCase):
    LONG = {
        "translate": "model.translate(open('corpus/train.src').read().split('\\n') * 200)",
        "score": "model.score(*[open('corpus/train.' + side).read().split('\\n') * 200 for side in ('src', 'tgt')])",
        "train": "rela.train('corpus/train.src', 'corpus/train.tgt', 'endless', preset='demo', width=16, merges=0,"
                 " updates=10**6, batch_tokens=256, threads=1)",
    }

    def interrupted(self, work, delay, raised="KeyboardInterrupt"):
        code = f"""if True:
            import os, signal, sys, threading, time
            import rela
            def late(*_): raise TimeoutError
            signal.signal(signal.SIGALRM, late)
            model = rela.Translator("model.rela", threads=2)
            def interrupt():
                time.sleep({delay}); sent.append(time.monotonic()); os.kill(os.getpid(), {signal.SIGINT.value})
            sent = []
            if "{raised}" == "KeyboardInterrupt":
                threading.Thread(target=interrupt).start()
            else:
                sent.append(time.monotonic() + {delay}); signal.setitimer(signal.ITIMER_REAL, {delay})
            try:
                {work}
            except {raised}:
                print(time.monotonic() - sent[0])
                assert model.translate("a dog .")
        """
        found = run(code)
        self.assertEqual((found.returncode, found.stderr), (0, ""), found.stdout)
        return float(found.stdout)

    def test_control_c_ends_long_calls_within_a_second(self):
        for name, work in self.LONG.items():
            with self.subTest(name):
                self.assertLess(self.interrupted(work, 0.5), 1)

    def test_other_handlers_may_raise_too(self):
        self.assertLess(self.interrupted(self.LONG["translate"], 0.5, "TimeoutError"), 1)

    def test_an_exception_in_progress_arrives(self):
        model = rela.Translator("model.rela", threads=2)

        def fail(done, total):
            raise KeyError(done)

        for use in (lambda: model.translate(TEXTS, progress=fail), lambda: model.score(TEXTS, TEXTS, progress=fail)):
            with self.assertRaises(KeyError):
                use()
        self.assertTrue(model.translate(TEXT))

    def test_progress_counts_sentences(self):
        seen = []
        model = rela.Translator("model.rela", threads=2)
        model.translate(TEXTS, progress=lambda *numbers: seen.append(numbers))
        model.score(TEXTS, TEXTS, progress=lambda *numbers: seen.append(numbers))
        self.assertEqual([n for n in seen if n[1] and n[0] == n[1]], [(len(TEXTS), len(TEXTS))] * 2)
        self.assertEqual(seen[0], (0, 0))


class Shown(unittest.TestCase):
    def test_repr_says_what_it_is(self):
        model = rela.Translator("model.rela")
        self.assertRegex(repr(model), r"^<rela.Translator model.rela: 2\+2 layers, width 32, 4 heads, rela-g>$")
        model.close()
        self.assertEqual(repr(model), "<rela.Translator model.rela: closed>")
        op = rela.Attention(2, 4, "softmax")
        self.assertEqual(repr(eval(repr(op))), repr(op))
        self.assertEqual(repr(rela.bpe.learn(["a b"], merges=0)), "<rela.bpe.Codes: 0 merges>")

    def test_notebooks_show_html_without_markup_of_the_text(self):
        model = rela.Translator("model.rela")
        for shown in (model, model.translate("<b>", attention=True), model.attention("<b>", "<i>"),
                      model.score("<b>", "<i>"), rela.bleu(["<b>"], ["<b>"]), rela.aer(["0-0"], ["0-0"]),
                      rela.align(model, [TEXT], [TEXT])):
            html = shown._repr_html_()
            self.assertIn("<table>", html)
            self.assertNotRegex(html, "<[bi]>")

    @unittest.skipUnless(hasattr(typing, "get_overloads"), "needs Python 3.11")
    def test_types_of_results_are_known(self):
        for function in (rela.Translator.translate, rela.Translator.score, rela.tokenise, rela.attention,
                         rela.Attention.forward, rela.bpe.apply):
            overloads = typing.get_overloads(function)
            self.assertGreaterEqual(len(overloads), 2)
            for overload in overloads:
                self.assertNotIn("Any", overload.__annotations__["return"])


if __name__ == "__main__":
    unittest.main()
