# SPDX-License-Identifier: BSD-3-Clause
"""Ends the job when a rank ends by an exception: otherwise the other ranks would wait for it forever."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import traceback
from types import TracebackType
from typing import Any, NoReturn

from . import _launcher, _library, _meeting
from ._modules import loaded
from .errors import Error

__all__ = ["install_excepthook"]

exit_status = 0  # the uncaught SystemExit's, if watch_exit() was called before and sys.exit() raised it
_process: int | None = None  # process that installed the hooks: a forked child must not end its parent's job
_previous_excepthook = sys.excepthook
_previous_threading_hook = threading.excepthook


def rank_label() -> str:
    """Returns this process's rank from the launcher's environment, or "?" outside mpirun."""
    return _launcher.rank_of(os.environ) or "?"


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # closed or missing: nothing to flush
            stream.flush()


def _tell(text: str) -> None:
    # One write, and the rank on every line, because several ranks may fail at once.
    label = f"[rank {rank_label()}] "
    lines = "".join(f"{label}{line}\n" for line in text.rstrip("\n").split("\n"))
    _flush()
    with contextlib.suppress(OSError):  # stderr is closed; the job must end all the same
        os.write(2, lines.encode("utf-8", "backslashreplace"))


def end_job(code: int) -> NoReturn:
    """Ends all ranks, as MPI_Abort does; does not return."""
    try:
        _library.core().syncyte_abort(code)
    except ImportError:
        # libsyncyte cannot be loaded: abort by mpi4py. Without MPI the launcher sees the exit status.
        module = loaded("mpi4py.MPI")
        if module is not None and module.Is_initialized() and not module.Is_finalized():
            module.COMM_WORLD.Abort(code)
    os._exit(code)


def exit_code(code: Any) -> int:
    """Converts SystemExit's code to an exit status, 0 to 255, as the interpreter does."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1


def _agreed_rank(error: BaseException) -> int:
    """Returns this rank's number in the communicator whose ranks all got this error; -1: this rank alone got it."""
    if isinstance(error, Error):
        return error.fields.agreed_rank
    if not _library.is_loaded():
        return -1
    # Operators of torch raise built-in exceptions, whose text contains the C library's.
    message = _library.core().syncyte_last_error().decode("utf-8", "replace")
    return _library.core().output("syncyte_last_error_agreed") if message and message in str(error) else -1


def _leave_to_first_rank(error: BaseException) -> None:
    """Waits, if another rank got the same error and prints it, until that rank's abort has ended this process.

    Returns if it does not end within seconds, because that rank has caught the error; the lowest of the others is then
    the first to return.
    """
    rank = _agreed_rank(error)
    if rank > 0:
        time.sleep(1.0 + rank.bit_length())


def end_job_for(error: BaseException, where: str = "") -> NoReturn:
    """Prints an exception with this process's rank and ends the job. An error of all ranks is printed by the lowest."""
    _flush()
    _leave_to_first_rank(error)
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    _tell(f"{text}Syncyte: this exception is not caught{where}; the whole job ends.")
    end_job(1)


def end_job_for_exit(code: Any) -> Any:
    """Ends the job because this rank exits with a failure, unless all ranks exit with the same status.

    In that case it returns the code to exit with. A message that all ranks give is printed by one of them.
    """
    reason = "" if isinstance(code, int) else f"{code}\n"
    _flush()
    if _library.is_loaded():
        alike, same_message = _meeting.all_exit_alike(exit_code(code), reason)
        if alike:
            is_repeated = same_message and reason and rank_label() not in ("0", "?")
            return exit_code(code) if is_repeated else code
    _tell(f"{reason}Syncyte: this rank exits with status {exit_code(code)}; the whole job ends.")
    end_job(exit_code(code))


def _excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if os.getpid() != _process:
        _previous_excepthook(kind, error, trace)
        return
    if _previous_excepthook is not sys.__excepthook__:
        _previous_excepthook(kind, error, trace)
    end_job_for(error if error is not None else kind())


def _is_of_a_job() -> bool:
    """Whether a launcher has started this process, or it has started Syncyte: other ranks may wait for it."""
    if _launcher.rank_of(os.environ) is not None:
        return True
    return _library.is_loaded() and bool(_library.core().output("syncyte_initialized"))


def _threading_hook(arguments: threading.ExceptHookArgs) -> None:
    error = arguments.exc_value
    is_others = os.getpid() != _process or not _is_of_a_job()
    if is_others or error is None or issubclass(arguments.exc_type, SystemExit):
        _previous_threading_hook(arguments)
        return
    name = arguments.thread.name if arguments.thread is not None else "?"
    end_job_for(error, f" in thread {name}")


class _Exit(SystemExit):
    """A SystemExit that notices when the interpreter reads its code, which it does only to exit."""

    def __init__(self, code: Any):
        super().__init__(code)
        self._code = code

    @property
    def code(self) -> Any:  # type: ignore[override]
        global exit_status
        try:
            sys._getframe(1)
        except ValueError:  # no Python code reads it: the exception was not caught
            exit_status = exit_code(self._code)
            if exit_status != 0 and os.getpid() == _process:
                return end_job_for_exit(self._code)
        return self._code


def _exit(status: Any = None, /) -> NoReturn:
    if threading.current_thread() is threading.main_thread():
        raise _Exit(status)
    raise SystemExit(status)


def watch_exit() -> None:
    """Lets sys.exit() set exit_status."""
    sys.exit = _exit


def install_excepthook() -> None:
    """Makes a rank that ends by an exception end the whole job, with its traceback and rank on stderr.

    It covers uncaught exceptions of all threads, and ``sys.exit`` with a status other than 0 (a bare
    ``raise SystemExit(1)`` only under ``python -m syncyte script.py``). An error that all ranks of a communicator got
    is printed by the lowest of them alone. If all ranks call ``sys.exit`` with the same status within 5 s, the job ends
    with it and is not aborted. In a process that is no rank (no launcher, Syncyte not started) an exception of another
    thread than the main one ends that thread alone, as in Python. Local; further calls do nothing. An earlier hook is
    called first.
    """
    global _process, _previous_excepthook, _previous_threading_hook
    if _process == os.getpid():
        return
    if _process is None:
        _previous_excepthook, sys.excepthook = sys.excepthook, _excepthook
        _previous_threading_hook, threading.excepthook = threading.excepthook, _threading_hook
        watch_exit()
    _process = os.getpid()
