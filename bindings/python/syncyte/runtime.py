"""Start and end of Syncyte in this process."""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import sys
import threading

from . import _declarations as c
from . import _interrupts, _library, _where

__all__ = ["finalize", "init", "initialized", "thread_level"]

log = logging.getLogger("syncyte")
_lock = threading.Lock()
_started = False
_LEVELS = ("single", "funneled", "serialized", "multiple")


def init(thread_level: str = "multiple") -> None:
    """Starts Syncyte; initialises MPI if it is not initialised. Collective over all ranks; further calls do nothing.

    The first use of COMM_WORLD (or of anything that needs it) calls this; importing syncyte does not. At exit
    finalize() is called, unless an exception ended the program.

    Parameters
    ----------
    thread_level : {"multiple", "serialized", "funneled", "single"}
        Thread level to request if MPI is not initialised yet.

    Raises
    ------
    NotInitialisedError
        MPI or Syncyte is already finalised.
    ArgumentError
        On all ranks: a wrong level or a wrong environment variable on any rank.
    UnsupportedError
        In a worker process that multiprocessing has started under mpirun, unless it was forked after the start.
    """
    global _started
    if _started and initialized():
        return
    known = thread_level in _LEVELS
    with _lock:
        if not (_started and initialized()):
            _refuse_worker()
            # The C library refuses -1 as well, on all ranks: the other ranks are in the same collective.
            options = _library.options(c.InitOptions, thread_level=_LEVELS.index(thread_level) if known else -1)
            if not known:
                _library.core().unchecked("syncyte_init")(ctypes.byref(options))
                levels = ", ".join(_LEVELS)
                raise _library.errors.ArgumentError(f"thread_level is {thread_level!r}; expected one of {levels}")
            _library.core().syncyte_watchdog_line_set(_where.hook, None)
            if threading.current_thread() is threading.main_thread():  # Python runs signal handlers only there
                _library.core().syncyte_interrupt_set(_interrupts.hook, None)
            _library.core().syncyte_init(ctypes.byref(options))
            if not _started:
                # Registered now, so that it runs before exit handlers of modules imported earlier (mpi4py's finalises
                # MPI).
                atexit.register(_at_exit, os.getpid())
            _started = True


def _is_worker() -> bool:
    """Whether multiprocessing has started this process; also true while it imports its parent's script."""
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return False
    return process.parent_process() is not None or hasattr(process.current_process(), "_inheriting")


def _place_in_job() -> str | None:
    """Returns the rank in the launcher's environment variables, which MPI_Init would use.

    None without a launcher: a worker process is then a job of its own.
    """
    names = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"]
    if "SLURM_STEP_ID" in os.environ:
        names.append("PMIX_RANK")  # Open MPI also sets it in a process without a launcher
    return next((os.environ[name] for name in names if name in os.environ), None)


def _refuse_worker() -> None:
    """Refuses a worker process: MPI_Init there would use its parent's rank, and wait forever."""
    rank = _place_in_job()
    if rank is not None and _is_worker():
        raise _library.errors.UnsupportedError(
            f"this process is a multiprocessing worker of rank {rank}, not a rank: it cannot start MPI. Put code "
            f"that uses Syncyte under `if __name__ == '__main__':`, which workers do not run; or start workers with "
            f"fork after the first use of COMM_WORLD (multiprocessing_context='fork' of a DataLoader): they can read "
            f"mapped rows and load checkpoints with COMM_SELF"
        )


def finalize() -> None:
    """Ends Syncyte; finalises MPI if Syncyte initialised it. Collective over all ranks; further calls do nothing.

    Views of tensors stay readable; everything else raises NotInitialisedError afterwards.
    """
    if _library.is_loaded():
        _library.core().syncyte_finalize()


def initialized() -> bool:
    """Returns whether Syncyte is started. Local."""
    if not _library.is_loaded():
        return False
    flag = ctypes.c_int32()
    _library.core().syncyte_initialized(ctypes.byref(flag))
    return bool(flag.value)


def thread_level() -> str:
    """Returns the thread level that MPI provides. Local.

    Returns
    -------
    str
        "single", "funneled", "serialized" or "multiple".
    """
    level = ctypes.c_int32()
    _library.core().syncyte_thread_level(ctypes.byref(level))
    return _LEVELS[level.value]


def _ended_by_exception() -> bool:
    # sys.last_value is the exception that ended the program; at an interactive prompt it is any earlier one.
    interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
    return not interactive and getattr(sys, "last_value", None) is not None


def _at_exit(process: int) -> None:
    if os.getpid() != process:
        return
    try:
        _end()
    finally:  # the C library must not call the hook after the interpreter is finalised
        _library.core().syncyte_watchdog_line_set(c.LineFn(), None)
        _library.core().syncyte_interrupt_set(c.InterruptFn(), None)


def _end() -> None:
    if not initialized():
        return
    if _ended_by_exception():
        # The other ranks may be anywhere: a collective finalize could wait forever.
        log.error("an exception ended the program: Syncyte is not finalised")
        return
    finalize()
