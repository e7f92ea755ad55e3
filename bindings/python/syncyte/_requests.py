# SPDX-License-Identifier: BSD-3-Clause
"""Requests: non-blocking operations, and the completion of requests that were dropped."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple

from . import _declarations as c
from . import _interrupts, _library
from ._checks import wrong
from ._types import Result
from .errors import DtypeError, HandleError


class MessageStatus(NamedTuple):
    """Sender and tag of a received message."""

    source: int  #: the sender's rank; PROC_NULL if there was none
    tag: int  #: the message's tag


class _Started:
    """A C request, and the arrays that the C library uses until it has ended."""

    def __init__(self, handle: int | None, arrays: Any):
        self.handle = ctypes.c_void_p(handle)
        self.arrays = arrays

    def complete(self) -> None:
        """Waits, for a dropped request; its error is ignored."""
        status = _library.core().unchecked("syncyte_request_wait")(self.handle)
        if status == c.Status.ERR_INTERRUPTED:
            _interrupts.raise_again()

    def is_over(self) -> bool:
        """Whether it has ended, for a dropped request; its error is ignored."""
        done = ctypes.c_int32()
        status = _library.core().unchecked("syncyte_request_test")(self.handle, done)
        return status != c.Status.SUCCESS or bool(done.value)


# Dropped requests and their arrays, kept until a later call finds that they have ended: MPI cannot cancel, and a
# garbage collector must not wait. Another thread may append at any time, also during reap(): use only atomic
# operations.
_dropped: list[_Started] = []


def reap() -> None:
    """Frees dropped requests that have ended. Local, does not wait."""
    for _ in range(len(_dropped)):
        try:
            started = _dropped.pop(0)
        except IndexError:  # another thread has taken the last one
            return
        if not started.is_over():
            _dropped.append(started)


def drop(handle: int, arrays: Any) -> _Started:
    """Leaves a C request to reap()."""
    started = _Started(handle, arrays)
    _dropped.append(started)
    return started


def _call(statuses: list[int], function: str, *arguments: Any) -> None:
    """Calls a C function, and appends its status.

    A signal's handler may raise as soon as the function has returned: extend() has the status by then.
    """
    statuses.extend(map(_library.core().unchecked(function), *((each,) for each in arguments)))


class Request(Generic[Result]):
    """A non-blocking operation of Comm, Halo, WholeTensor, Window or StoreWorker.

    Those of syncyte.torch return a syncyte.torch.Request.

    Call wait() once; until the operation has ended, its arrays must not be used.

    If a request is dropped earlier, it warns (ResourceWarning) and is completed later, with its arrays kept alive.
    """

    def __init__(self, started: _Started, operation: str, finish: Callable[[], Result]):
        """Takes over a C request; for use within this package.

        Parameters
        ----------
        started : _Started
            The C request; a null one: the operation has ended without an error.
        operation : str
            Name for messages.
        finish : callable
            Called when it has ended without error; returns its result.
        """
        self._operation = operation
        self._finish = finish
        self._started: _Started | None = started if started.handle else None
        # The result and the error of an operation that has ended; wait() returns the one or raises the other, once.
        self._result: tuple[Result, ...] = () if started.handle else (finish(),)
        self._error: Exception | None = None

    def wait(self) -> Result:
        """Waits for the end. Local.

        Ctrl-C ends the wait, not the operation: wait again.

        Returns
        -------
        object
            The MessageStatus for irecv(), the output for collectives and reads, the tensor for its writes, None for
            writes of a store.

        Raises
        ------
        Error
            The operation's error.
        HandleError
            It has been waited for before.
        """
        self._await_end()
        return self._take()

    def _await_end(self) -> None:
        """Waits for the end, and keeps the result or error. Raises what has ended the wait earlier."""
        if self._started is None:
            return
        started, self._started = self._started, None
        statuses: list[int] = []
        try:
            _call(statuses, "syncyte_request_wait", started.handle)
        finally:
            if started.handle:  # in flight
                self._started = started
            elif statuses:
                self._end(statuses[0])
        if self._started is not None:
            _library.raise_if_failed(statuses[0])
        reap()

    def _end(self, status: int) -> None:
        self._started = None
        if status == c.Status.SUCCESS:
            self._result = (self._finish(),)
        else:
            self._error = _library.last_error(status)

    def _take(self) -> Result:
        """Gives away what was kept at the end."""
        error, self._error = self._error, None
        if error is not None:
            raise error
        if not self._result:
            raise HandleError(f"this request of {self._operation}() has ended, and has been waited for before")
        (answer,), self._result = self._result, ()
        return answer

    def test(self) -> bool:
        """Returns whether the operation has ended, without waiting. May be called again after the end.

        Returns
        -------
        bool
            Whether it has ended.

        Raises
        ------
        Error
            The operation's error.
        """
        self._poll()
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._started is None

    def _poll(self) -> None:
        """Keeps the result or error, and lets go of the arrays, if the operation has ended."""
        started, statuses = self._started, list[int]()
        if started is None:
            return
        try:
            _call(statuses, "syncyte_request_test", started.handle, ctypes.c_int32())
        finally:
            if statuses and not started.handle and self._started is started:  # no other thread has found the end
                self._end(statuses[0])
        if self._started is not None:
            _library.raise_if_failed(statuses[0])

    def leave(self) -> None:
        """Leaves the operation to later calls, as if the request were dropped, but without a warning. Local."""
        started, self._started = self._started, None
        if started is not None:
            _dropped.append(started)

    def __del__(self) -> None:
        started = self.__dict__.get("_started")
        if started is None:
            return
        _dropped.append(started)
        warnings.warn(
            f"a request of {self._operation}() was dropped before its end: call wait()", ResourceWarning, stacklevel=2
        )

    def __repr__(self) -> str:
        return f"<syncyte.Request of {self._operation}, {'ended' if self._started is None else 'in flight'}>"


def start(
    function: str, *arguments: Any, arrays: Any, finish: Callable[[], Result], operation: str = ""
) -> Request[Result]:
    """Calls a C function that starts an operation; its last parameter, the request, is not among the arguments.

    arrays: objects to keep alive until the end. operation: name for messages, if it is not the function's.
    """
    reap()
    started = _Started(None, arrays)
    try:
        getattr(_library.core(), function)(*arguments, started.handle)
        return Request(started, operation or function.removeprefix("syncyte_"), finish)
    except BaseException:
        if started.handle:  # a signal's handler has raised after the start
            _dropped.append(started)
        raise


def wait_all(requests: Iterable[Request[Any]]) -> list[Any]:
    """Waits for all requests. Local.

    Parameters
    ----------
    requests : iterable of Request
        Requests of any communicators.

    Returns
    -------
    list
        Their results, in the same order.

    Raises
    ------
    Error
        The first error, after all have ended.
    DtypeError
        Not a request; raised before any wait.
    """
    given = _checked(requests, Request)
    for request in given:
        request._await_end()  # all results are kept if a signal's handler raises
    return _results(request._take for request in given)


def wait_any(requests: Iterable[Request[Any]]) -> tuple[int, Any] | None:
    """Waits until one of the requests has ended, as its wait() does. Local.

    Parameters
    ----------
    requests : iterable of Request
        Requests of any objects, such as a halo and a store.

    Returns
    -------
    tuple or None
        The position of the request, and its result. Further calls skip it; None if all have been waited for.

    Raises
    ------
    Error
        The request's error; further calls skip it.
    DtypeError
        Not a request; raised before any wait.
    """
    given = _checked(requests, Request)
    for place, request in enumerate(given):
        if request._result or request._error:  # a test or another wait has found the end
            return place, request._take()
    handles = [request._started.handle.value if request._started else None for request in given]
    index, statuses = ctypes.c_int64(-1), list[int]()
    try:
        array = (ctypes.c_void_p * len(given))(*handles)
        _call(statuses, "syncyte_request_wait_any", len(given), array, index)
    finally:
        if statuses and index.value >= 0:
            given[index.value]._end(statuses[0])
    if index.value >= 0:
        return index.value, given[index.value]._take()
    _library.raise_if_failed(statuses[0])
    return None


def _checked(requests: Iterable[Any], kind: type) -> list[Any]:
    if not isinstance(requests, Iterable):
        raise wrong(DtypeError, "requests", repr(requests), "a list of requests")
    given = list(requests)
    for place, request in enumerate(given):
        if not isinstance(request, kind):
            raise wrong(DtypeError, "requests", repr(request), "a request", axis=place)
    return given


def wait_each(requests: Iterable[Any], kind: type) -> list[Any]:
    """Waits for all requests of class `kind`. Raises DtypeError for anything else, before any wait."""
    return _results(request.wait for request in _checked(requests, kind))


def _results(functions: Iterable[Callable[[], Any]]) -> list[Any]:
    """Calls all functions; raises the first error after that."""
    answers: list[Any] = []
    first: Exception | None = None
    for function in functions:
        try:
            answers.append(function())
        except Exception as error:
            first = first or error
    if first is not None:
        raise first
    return answers
