# SPDX-License-Identifier: MIT
"""Translations that asyncio waits for."""
from __future__ import annotations

import asyncio
import itertools
from ctypes import byref, c_uint64, c_void_p, pointer
from typing import Any, Callable, Sequence

from . import _structs as structs
from ._library import STATUS, call, error, lib, options, text_array


class Waiting:
    """Any number of event loops may use it. Results are read on the thread that made them, since they
    lend from the models, and handed to the loop that waits."""

    def __init__(self, models: Sequence[c_void_p]) -> None:
        self._handle = c_void_p()
        self._requests: dict[int, tuple[Any, Any, Callable[[c_void_p], Any]]] = {}
        self._numbers = itertools.count(1)
        self._on_end = structs.ON_END(self._end)  # must live as long as the handle
        call("rela_async_create", byref(self._handle), (c_void_p * len(models))(*[m.value for m in models]),
             len(models), None)

    def __reduce__(self) -> Any:
        raise TypeError("requests cannot be copied or pickled")

    def close(self) -> None:
        """Cancels what is left."""
        handle, self._handle = self._handle, c_void_p()
        lib.rela_async_destroy(handle)

    async def translate(self, texts: list[str], o: Any, seconds: float, read: Callable[[c_void_p], Any]) -> Any:
        loop = asyncio.get_running_loop()
        future, number, ident = loop.create_future(), next(self._numbers), c_uint64()
        r = options(structs.AsyncRequest)
        r.texts, r.lens = text_array(texts)
        r.options, r.seconds, r.on_end, r.ctx = pointer(o), seconds, self._on_end, number
        self._requests[number] = loop, future, read
        try:
            call("rela_async_submit", self._handle, byref(ident), byref(r))
        except BaseException:
            del self._requests[number]
            raise
        try:
            return await future
        except asyncio.CancelledError:
            if self._handle:
                lib.rela_async_cancel(self._handle, ident)
            raise

    def _end(self, number: int, _ident: int, result: int | None, err: Any) -> None:
        """On a thread of the library."""
        loop, future, read = self._requests.pop(number)
        value, failure = None, None
        try:
            if result:
                value = read(c_void_p(result))
            else:
                status = STATUS.get(err.contents.status, str(err.contents.status))
                failure = error(status, err.contents.message.decode("utf-8", "replace"))
        except BaseException as e:
            failure = e
        finally:
            lib.rela_result_free(result)
        try:
            loop.call_soon_threadsafe(_deliver, future, value, failure)
        except RuntimeError:
            pass  # the loop has been closed: no one waits


def _deliver(future: Any, value: Any, failure: BaseException | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(value)
    else:
        future.set_exception(failure)
