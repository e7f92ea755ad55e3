# SPDX-License-Identifier: BSD-3-Clause
"""Runs Python's handlers of Ctrl-C and other signals while the C library waits."""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import Any

from . import _declarations as c

_raised: BaseException | None = None


def _answers() -> Generator[int, Any, None]:
    """Yields 1 if a handler has raised, so that the wait must end; otherwise 0.

    Python runs handlers between bytecodes of the main thread. In a function it may run them before the first statement,
    where no try could catch an exception; a generator resumes inside its try.
    """
    global _raised
    answer = 0
    while True:
        try:
            while True:
                yield answer
                answer = 0
        except GeneratorExit:
            return
        except BaseException as error:
            _raised, answer = error, 1


def raise_again() -> None:
    """Raises the exception that a handler has raised while the C library was waiting, if any."""
    global _raised
    if threading.current_thread() is not threading.main_thread():
        return  # handlers run in the main thread, which raises the exception
    error, _raised = _raised, None
    if error is not None:
        raise error


_started = _answers()
next(_started)
hook = c.InterruptFn(_started.send)
