"""Operations under way, and what becomes of those that nobody waits for."""

from __future__ import annotations

import ctypes
import threading
import warnings
from typing import Any, NamedTuple

from . import _declarations as c
from . import _library
from ._buffers import Buffer
from .errors import HandleError


class MessageStatus(NamedTuple):
    """Who sent a message that was received."""

    source: int  #: the sender's rank; NOBODY if there was none
    tag: int  #: its tag


class _Started:
    """What the C library reads and writes until a request has ended."""

    def __init__(self, handle: ctypes.c_void_p, buffer: Buffer, status: Any, written: bool):
        self.handle = handle
        self.buffer = buffer
        self.status = status
        self.written = written

    def test(self) -> bool:
        done = ctypes.c_int32()
        _library.core().syncyte_request_test(ctypes.byref(self.handle), ctypes.byref(done))
        return bool(done.value)

    def is_over(self) -> bool:
        """Whether it has ended, well or not; of one that nobody asks about its errors."""
        done = ctypes.c_int32()
        status = _library.core().unchecked("syncyte_request_test")(ctypes.byref(self.handle), ctypes.byref(done))
        return status != c.Status.SUCCESS or bool(done.value)


# MPI cannot cancel, and a garbage collector is no place to wait in: what was dropped is kept, with its array, until a
# later call finds that it has ended.
_dropped: list[_Started] = []
_lock = threading.Lock()


def reap() -> None:
    """Lets go of dropped requests that have ended. Local, does not wait."""
    if not _dropped:
        return
    with _lock:
        _dropped[:] = [started for started in _dropped if not started.is_over()]


class Request:
    """An operation under way. Call wait(), or test() until it is true, once; until then its array belongs to Syncyte.

    A request that is dropped before warns (ResourceWarning) and is completed later, with its array kept alive.
    """

    def __init__(self, handle: ctypes.c_void_p, buffer: Buffer, operation: str, status: Any = None, *, written: bool):
        """For this package: takes over a C request."""
        self._operation = operation
        self._started: _Started | None = _Started(handle, buffer, status, written)

    def _active(self) -> _Started:
        if self._started is None:
            raise HandleError(f"this request of {self._operation}() has ended, and has been waited for before")
        return self._started

    def _end(self, started: _Started) -> MessageStatus | None:
        if started.written:
            started.buffer.written()
        return None if started.status is None else MessageStatus(started.status.source, started.status.tag)

    def wait(self) -> MessageStatus | None:
        """Waits for the end; raises the operation's error. Local. Returns who has sent, for irecv(), otherwise None.

        Raises HandleError when it has been waited for before.
        """
        started = self._active()
        self._started = None
        _library.core().syncyte_request_wait(ctypes.byref(started.handle))
        reap()
        return self._end(started)

    def test(self) -> bool:
        """Whether it has ended, without waiting; true may be answered several times. Raises the operation's error."""
        started = self._started
        if started is None:
            return True
        try:
            done = started.test()
        except Exception:
            self._started = None
            raise
        if done:
            self._started = None
            self._end(started)
        return done

    def __del__(self) -> None:
        started = self.__dict__.get("_started")
        if started is None:
            return
        _dropped.append(started)
        warnings.warn(
            f"a request of {self._operation}() was dropped before its end: call wait()", ResourceWarning, stacklevel=2
        )

    def __repr__(self) -> str:
        return f"<syncyte.Request of {self._operation}, {'ended' if self._started is None else 'under way'}>"


def wait_all(requests: list[Request]) -> list[MessageStatus | None]:
    """Waits for all requests; raises the first error after all have ended. Local."""
    answers: list[MessageStatus | None] = []
    first: Exception | None = None
    for request in requests:
        try:
            answers.append(request.wait())
        except Exception as error:
            first = first or error
    if first is not None:
        raise first
    return answers
