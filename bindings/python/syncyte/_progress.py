# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar of saves and loads, on rank 0, if its stderr is a terminal."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

DELAY = 1.0  # seconds after which the bar appears
_INTERVAL = 0.1


@contextlib.contextmanager
def progress(rank: int, title: str, nbytes: int, counter: str) -> Iterator[None]:
    """Shows how much of `nbytes` rank 0 has written or read, if that takes over a second; needs tqdm.

    counter: "wchar" or "rchar", the line of /proc/self/io that counts them.
    """
    if rank != 0 or nbytes == 0 or not _is_terminal():
        yield
        return
    before = _transferred(counter)  # here: the thread may run later than the first transfers
    if before is None:
        yield
        return
    over, done = threading.Event(), threading.Event()
    shown = threading.Thread(target=_show, args=(over, done, title, nbytes, counter, before), daemon=True)
    try:
        shown.start()
    except RuntimeError:  # no more threads
        yield
        return
    try:
        yield
        done.set()
    finally:
        over.set()
        shown.join()


def _is_terminal() -> bool:
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError, OSError):  # None, an object without isatty, a closed file
        return False


def _show(over: threading.Event, done: threading.Event, *transfer: Any) -> None:
    with contextlib.suppress(Exception):  # an exception would end the job, see install_excepthook()
        _show_bar(over, done, *transfer)


def _show_bar(over: threading.Event, done: threading.Event, title: str, nbytes: int, counter: str, before: int) -> None:
    if over.wait(DELAY):
        return
    try:
        tqdm: Any = importlib.import_module("tqdm")
    except ImportError:
        return
    with tqdm.tqdm(total=nbytes, desc=title, unit="B", unit_scale=True, unit_divisor=1024) as bar:
        while not over.wait(_INTERVAL):
            _move_to(bar, min((_transferred(counter) or 0) - before, nbytes))
        if done.is_set():
            _move_to(bar, nbytes)


def _move_to(bar: Any, count: int) -> None:
    bar.update(count - bar.n)


def _transferred(counter: str) -> int | None:
    """Returns the bytes that this process has written or read so far; None where the system does not tell."""
    try:
        with open("/proc/self/io") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith(f"{counter}:"))
    except (OSError, StopIteration):
        return None
