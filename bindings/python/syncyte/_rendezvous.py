# SPDX-License-Identifier: BSD-3-Clause
"""The socket by which processes of a user meet, and waits of the shared cache that signals end."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import threading
from collections.abc import Iterator
from typing import Any

from . import _declarations as c
from . import _interrupts, _library
from ._checks import as_index, as_seconds, as_text, wrong
from .errors import ArgumentError, DtypeError
from .runtime import initialized


def seconds_or_default(timeout: float | None) -> float:
    """Converts a time limit; negative for None."""
    seconds = -1.0 if timeout is None else as_seconds(timeout, "timeout")
    if math.isinf(seconds):
        raise wrong(ArgumentError, "timeout", timeout, "a number of seconds, 0 or more")
    return seconds


def rendezvous(name: str | None, folder: Any, nonce: int, timeout: float | None) -> Any:
    """The C library's description of a socket, from the arguments of SharedCache.send()."""
    seconds = seconds_or_default(timeout)
    if isinstance(nonce, bool):
        raise wrong(DtypeError, "nonce", nonce, "an integer")
    secret = as_index(nonce, "nonce")
    if not 0 <= secret < 2**128:
        raise wrong(ArgumentError, "nonce", "of more bits" if secret > 0 else secret, "0 to 2^128 - 1")
    made = _library.new_struct(c.CacheRendezvous, name=_text(name, "name"), timeout=seconds,
                               folder=_text(None if folder is None else os.fspath(folder), "folder"))  # fmt: skip
    halves = secret & (2**64 - 1), secret >> 64
    made.nonce[0], made.nonce[1] = (ctypes.c_int64(half).value for half in halves)
    return made


def _text(value: str | None, argument: str) -> bytes | None:
    if value is None:
        return None
    expected = "a string that is not empty, without a zero character"
    return os.fsencode(as_text(value, argument, expected))


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Makes waits of the main thread check for signals, even if Syncyte is not started."""
    if initialized() or threading.current_thread() is not threading.main_thread():
        yield
        return
    _library.core().syncyte_interrupt_set(_interrupts.hook, None)
    try:
        yield
    finally:
        _library.core().syncyte_interrupt_set(c.InterruptFn(), None)
