# SPDX-License-Identifier: BSD-3-Clause
"""Catches the signal that announces the end of a job: SYNCYTE_PREEMPTION names it.

The package imports this module first, so that a signal that comes while numpy, torch or the script are imported does
not end the process. Without the variable no signal is caught: other packages (PyTorch Lightning) set their handler only
where there is none.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

_VARIABLE = "SYNCYTE_PREEMPTION"
_OWN_MEANING = ("SEGV", "BUS", "FPE", "ILL", "CHLD")  # of a defect of the process itself, or of a child process
signalled = False  #: whether the signal has come to this process


def _note(_number: int, _frame: Any) -> None:
    global signalled
    signalled = True


def install() -> None:
    """Catches the signal, unless the process has a handler of it already. Only Python's main thread can."""
    name = os.environ.get(_VARIABLE)
    if not name or threading.current_thread() is not threading.main_thread():
        return
    try:
        number = signal.Signals["SIG" + name.removeprefix("SIG")]
        if name.removeprefix("SIG") in _OWN_MEANING:
            raise KeyError
        if signal.getsignal(number) in (signal.SIG_DFL, signal.SIG_IGN, signal.default_int_handler):
            signal.signal(number, _note)
    except (KeyError, OSError):
        raise ValueError(f"{_VARIABLE} is {name!r}; expected a signal that can be caught, such as USR1") from None


install()
