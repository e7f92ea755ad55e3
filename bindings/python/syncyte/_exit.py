# SPDX-License-Identifier: BSD-3-Clause
"""The end of a process in which MPI_Finalize must not be called, because a rank has died.

If mpi4py has initialized MPI, it calls MPI_Finalize after the interpreter's end, and nothing tells it not to:
mpi4py.rc.finalize is read at its import.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from typing import Any

from . import excepthook
from ._modules import loaded


def will_mpi4py_finalize() -> bool:
    """Whether mpi4py has initialized MPI, and will finalize it."""
    module, package = loaded("mpi4py.MPI"), loaded("mpi4py")
    if module is None or package is None:
        return False
    options = package.rc
    wanted = options.initialize if options.finalize is None else options.finalize
    return wanted in (True, "yes") and bool(module.Is_initialized())


def ended_by_exception() -> bool:
    """Whether an uncaught exception has ended the program."""
    # sys.last_value is the exception that ended the program; at an interactive prompt it is any earlier one.
    interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
    return not interactive and getattr(sys, "last_value", None) is not None


class _LastExit:
    """Ends the process by exit() when it is destroyed."""

    def __init__(self, status: int) -> None:
        self._streams: list[Any] = [sys.stdout, sys.stderr]
        self._end, self._status = ctypes.pythonapi.exit, status
        self._ignored = contextlib.suppress(AttributeError, OSError, ValueError)  # closed or missing streams

    def __del__(self) -> None:
        for stream in self._streams:
            with self._ignored:
                stream.flush()
        self._end(self._status)


def leave_without_mpi_finalize() -> None:
    """Ends the process before mpi4py's function at exit, but after all other steps of the interpreter's end."""
    status = 1 if ended_by_exception() else excepthook.exit_status
    sys._syncyte_last_exit = _LastExit(status)  # type: ignore[attr-defined]  # sys is cleared last
