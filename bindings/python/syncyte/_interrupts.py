"""Ctrl-C, and every other signal that Python has a handler for, while the C library waits."""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import Any

from . import _declarations as c

__all__ = ["hook", "raise_again"]

_raised: BaseException | None = None


def _answers() -> Generator[int, Any, None]:
    """Whether a wait shall end: 1 where a handler has raised.

    Python runs handlers between the bytecodes of the main thread. In a function the first such place is before its
    first statement, where nothing could catch what a handler raises; a generator goes on inside of its try.
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


def _started() -> Generator[int, Any, None]:
    answers = _answers()
    next(answers)
    return answers


def raise_again() -> None:
    """Raises what a handler has raised while the C library was waiting, if anything."""
    global _raised
    if threading.current_thread() is not threading.main_thread():
        return  # where handlers run; this thread has waited for the same
    error, _raised = _raised, None
    if error is not None:
        raise error


hook = c.InterruptFn(_started().send)
