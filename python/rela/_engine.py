# SPDX-License-Identifier: MIT
"""The handles of a translator: a runtime, models, and a session for each call that runs at the same time."""
from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from ctypes import byref, c_void_p
from typing import Any, Callable, Iterator, Sequence

from . import _structs as structs
from ._library import call, lib, options, set_options, share
from ._waiting import Waiting


class Engine:
    """Any number of threads may use it. A session serves one call at a time: those that are idle are
    kept, and a call that finds none creates one."""

    def __init__(self, paths: Sequence[Any], threads: int, log: Callable[[str], None] | None, int8: bool,
                 shortlist: Any) -> None:
        self.models: list[c_void_p] = []
        self.shortlist, self._runtime = c_void_p(), c_void_p()
        self._idle: list[c_void_p] = []
        self._waiting: Waiting | None = None  #: made when the first task needs it
        self._users: list[int] = []  #: threads of the calls that are running
        self._left = threading.Condition()
        o = options(structs.RuntimeOptions)
        set_options(o, {"n_threads": threads})
        if log:
            o.log = structs.LOG(lambda _ctx, _level, line: log(line.decode("utf-8", "replace")))
        self._log = o.log  # must live as long as the runtime
        share(self)
        try:
            call("rela_runtime_create", byref(self._runtime), byref(o))
            for path in paths:
                self.models.append(load(self._runtime, path, int8=int8))
            self._idle.append(self._session())  # now, since the models may not go together
            if shortlist is not None:
                call("rela_shortlist_load", byref(self.shortlist), self.models[0], os.fsencode(shortlist))
        except BaseException:
            self.close()
            raise

    def __reduce__(self) -> Any:
        raise TypeError("an engine cannot be copied or pickled")

    def __del__(self) -> None:
        if hasattr(self, "_left"):
            self.close()

    @property
    def is_open(self) -> bool:
        return bool(self._runtime)

    def close(self) -> None:
        """Frees everything, after the calls of other threads have ended."""
        with self._left:
            if threading.get_ident() in self._users:
                raise RuntimeError("a translator cannot be closed while a call of this thread uses it")
            self._left.wait_for(lambda: not self._users)
            runtime, self._runtime = self._runtime, c_void_p()
            if self._waiting is not None:
                self._waiting.close()
            self._waiting = None
            for session in self._idle:
                lib.rela_session_destroy(session)
            for model in self.models:
                lib.rela_model_free(model)
            lib.rela_shortlist_free(self.shortlist)
            lib.rela_runtime_destroy(runtime)
            self._idle, self.models, self.shortlist = [], [], c_void_p()

    def after_fork(self) -> None:
        """Calls of other threads, and their sessions, do not exist in the child."""
        self._left = threading.Condition()
        self._users = [thread for thread in self._users if thread == threading.get_ident()]
        self._waiting = None

    def waiting(self) -> Waiting:
        with self._left:
            if not self.is_open:
                raise ValueError("the translator is closed")
            if self._waiting is None:
                self._waiting = Waiting(self.models)
            return self._waiting

    @contextmanager
    def used(self) -> Iterator[None]:
        """The models stay until the block ends."""
        thread, joined = threading.get_ident(), False
        try:
            with self._left:
                if not self.is_open:
                    raise ValueError("the translator is closed")
                joined = True
                self._users.append(thread)
            yield
        finally:
            with self._left:
                if joined:
                    self._users.remove(thread)
                self._left.notify_all()

    @contextmanager
    def session(self) -> Iterator[c_void_p]:
        """A session for this call alone, until the block ends."""
        with self.used():
            with self._left:
                session = self._idle.pop() if self._idle else None
            if session is None:
                session = self._session()
            try:
                yield session
            finally:
                with self._left:
                    self._idle.append(session)

    def _session(self) -> c_void_p:
        session = c_void_p()
        models = (c_void_p * len(self.models))(*[m.value for m in self.models])
        call("rela_session_create_ensemble", byref(session), models, len(self.models))
        return session


def load(runtime: c_void_p, path: Any, **settings: Any) -> c_void_p:
    o, model = options(structs.ModelOptions), c_void_p()
    set_options(o, settings)
    call("rela_model_load_with", byref(model), runtime, os.fsencode(path), byref(o))
    return model


@contextmanager
def loaded(path: Any, threads: int, part: int = 0) -> Iterator[c_void_p]:
    """A model of any sort, also one that only aligns, until the block ends. part: of a pair of models, 1 or 2."""
    o, runtime, model = options(structs.RuntimeOptions), c_void_p(), c_void_p()
    set_options(o, {"n_threads": threads})
    call("rela_runtime_create", byref(runtime), byref(o))
    try:
        model = load(runtime, path, part=part)
        yield model
    finally:
        lib.rela_model_free(model)
        lib.rela_runtime_destroy(runtime)
