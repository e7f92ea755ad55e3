"""The current line of the Python program, for the watchdog's report."""

from __future__ import annotations

import ctypes
import os
import sys
import threading

from . import _declarations as c

__all__ = ["hook", "line"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def line() -> str:
    """Returns the main thread's innermost line outside Syncyte: "file.py:12 in function"."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return "the end of the program"
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


def _write(text: int, size: int, _context: int | None) -> None:
    # The end of a long path is more useful than its beginning.
    answer = line().encode("utf-8", "replace")
    answer = answer[max(0, len(answer) - size + 1):]
    ctypes.memmove(text, answer + b"\0", len(answer) + 1)


hook = c.LineFn(_write)
