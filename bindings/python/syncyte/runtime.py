# SPDX-License-Identifier: BSD-3-Clause
"""Start and end of Syncyte in this process."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading

from . import _declarations as c
from . import _exit, _interrupts, _launcher, _library, _preemption, errors, excepthook
from ._modules import loaded

__all__ = ["finalize", "init", "initialized", "thread_level"]

_launcher.name_rank_process(os.environ)
_lock = threading.Lock()
_started = False
_LEVELS = ("single", "funneled", "serialized", "multiple")


def _short(version: str) -> str:
    return " ".join(version.partition("\n")[0].partition(",")[0].split())


def require_same_mpi() -> None:
    """Raises LibraryError if mpi4py has loaded another MPI library than libsyncyte: each would have its own ranks."""
    mpi = loaded("mpi4py.MPI")
    ours = None if mpi is None else _library.mpi_version()
    if ours is None or _short(ours) == _short(theirs := mpi.Get_library_version()):
        return
    raise errors.LibraryError(
        f"mpi4py has loaded {_short(theirs)}, but libsyncyte {_short(ours)}: these do not know each other's ranks and "
        f"communicators. Let mpi4py use libsyncyte's MPI (its wheel loads the file that MPI4PY_LIBMPI names; or pip "
        f"install --no-binary mpi4py mpi4py with that MPI's mpicc first in PATH), or build Syncyte for mpi4py's"
    )


def init(thread_level: str = "multiple") -> None:
    """Starts Syncyte; initializes MPI if it is not initialized. Collective over all ranks; further calls do nothing.

    The first use of COMM_WORLD (or of anything that needs it) calls this; importing syncyte does not. At exit
    finalize() is called, unless an exception ended the program.

    Parameters
    ----------
    thread_level : {"multiple", "serialized", "funneled", "single"}
        Thread level to request if MPI is not initialized yet.

    Raises
    ------
    NotInitializedError
        MPI or Syncyte is already finalized.
    ArgumentError
        On all ranks: a wrong level or a wrong environment variable on any rank.
    UnsupportedError
        In a worker process that multiprocessing has started under mpirun, unless it was forked after the start.
    LibraryError
        libsyncyte or its MPI cannot be loaded; the program or mpi4py uses another MPI.
    """
    global _started
    with _lock:
        if _started and initialized():
            return
        _refuse_worker()
        require_same_mpi()
        _preemption.install()  # the package may have been imported in another thread
        known = thread_level in _LEVELS
        options = _library.new_struct(c.InitOptions, thread_level=_LEVELS.index(thread_level) if known else -1)
        if not known:
            _library.call_refused("syncyte_init_abi", options, c.ABI_VERSION)
            levels = ", ".join(_LEVELS)
            raise _library.errors.ArgumentError(f"thread_level is {thread_level!r}; expected one of {levels}")
        _library.core().syncyte_watchdog_line_set(_line_hook, None)
        if threading.current_thread() is threading.main_thread():  # Python runs signal handlers only there
            _library.core().syncyte_interrupt_set(_interrupts.hook, None)
        mpi4py_finalizes = _exit.will_mpi4py_finalize()
        _library.core().syncyte_init_abi(options, c.ABI_VERSION)
        if not _started:
            if mpi4py_finalizes:
                excepthook.watch_exit()
            # Registered now, so that it runs before exit handlers of modules imported earlier (mpi4py's finalizes
            # MPI).
            atexit.register(_at_exit, os.getpid(), mpi4py_finalizes)
        _started = True


def _is_worker() -> bool:
    """Whether multiprocessing has started this process; also true while it imports its parent's script."""
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return False
    return process.parent_process() is not None or hasattr(process.current_process(), "_inheriting")


def _refuse_worker() -> None:
    """Refuses a worker process: MPI_Init there would use its parent's rank, and wait forever."""
    rank = _launcher.rank_of(os.environ, only_of_mpi=True)
    if rank is not None and _is_worker():
        raise _library.errors.UnsupportedError(
            f"this process is a multiprocessing worker of rank {rank}, not a rank: it cannot start MPI. Put code "
            f"that uses Syncyte under `if __name__ == '__main__':`, which workers do not run; or start workers with "
            f"fork after the first use of COMM_WORLD (multiprocessing_context='fork' of a DataLoader): they can read "
            f"mapped rows and load checkpoints with COMM_SELF"
        )


def finalize() -> None:
    """Ends Syncyte; finalizes MPI if Syncyte initialized it. Collective over all ranks; further calls do nothing.

    Views of tensors stay readable; everything else raises NotInitializedError afterwards.
    """
    if _library.is_loaded():
        _library.core().syncyte_finalize()


def initialized() -> bool:
    """Returns whether Syncyte is started. Local."""
    return _library.is_loaded() and bool(_library.core().output("syncyte_initialized"))


def thread_level() -> str:
    """Returns the thread level that MPI provides. Local.

    Returns
    -------
    str
        "single", "funneled", "serialized" or "multiple".
    """
    return _LEVELS[_library.core().output("syncyte_thread_level")]


def _at_exit(process: int, mpi4py_finalizes: bool) -> None:
    if os.getpid() != process:
        return
    try:
        if initialized() and _exit.ended_by_exception():
            # The other ranks may be anywhere: a collective finalize could wait forever.
            _library.log.error("an exception ended the program: Syncyte is not finalized")
        else:
            finalize()
        if mpi4py_finalizes and _library.core().output("syncyte_death_known"):
            _exit.leave_without_mpi_finalize()
    finally:  # the C library must not call the hook after the interpreter is finalized
        _library.core().syncyte_watchdog_line_set(c.LineFn(), None)
        _library.core().syncyte_interrupt_set(c.InterruptFn(), None)


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _line() -> str:
    """Returns the main thread's innermost line outside Syncyte: "file.py:12 in function"."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return "the end of the program"
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


def _write_line(size: int, text: int, _context: int | None) -> None:
    # The end of a long path is more useful than its beginning.
    answer = _line().encode("utf-8", "replace")
    answer = answer[max(0, len(answer) - size + 1) :]
    ctypes.memmove(text, answer + b"\0", len(answer) + 1)


_line_hook = c.LineFn(_write_line)
