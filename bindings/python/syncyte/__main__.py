# SPDX-License-Identifier: BSD-3-Clause
"""``python -m syncyte script.py [arguments]``: runs a script; an exception on one rank ends the whole job.

Under mpirun, an exception on one rank otherwise leaves the others waiting. The script runs as ``__main__``, with its
own folder first in sys.path, as ``python script.py`` does; ``-m module`` runs a module, ``-c command`` a command.
Variables that torch.distributed reads are set from the launcher's (``_launcher.py``); its ranks meet by MPI
(``_torch_rendezvous.py``).
"""

from __future__ import annotations

import io
import os
import runpy
import sys
import types
from types import TracebackType
from typing import NoReturn

from . import __version__, _build_torch, _launcher, _library, _torch_rendezvous
from .excepthook import end_job_for, end_job_for_exit, exit_code, install_excepthook

_USAGE = """usage: python -m syncyte [--no-torch-env] [-m module | -c command | script.py] [arguments]
       python -m syncyte --version | --prefix | build-torch

Runs a script (module, command) on this rank; if it raises, or exits with a status that is not 0, prints the traceback
with the rank and ends the whole MPI job.

--prefix        the folder of this installation, for compilers: it has include, lib, lib/pkgconfig
build-torch     compiles libsyncyte_torch for this Python's torch, where pip has installed Syncyte
--no-torch-env  leave torch.distributed alone; otherwise RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE that are
                unset are set from the launcher's variables, and init_process_group() without MASTER_ADDR and
                MASTER_PORT finds rank 0 by MPI"""


def _run(arguments: list[str]) -> None:
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(arguments[1], "<string>", "exec"), module.__dict__)
    else:
        sys.argv = arguments
        if not sys.flags.safe_path:
            sys.path[0] = os.path.dirname(os.path.realpath(arguments[0]))
        _run_script(os.path.abspath(arguments[0]))


def _run_script(path: str) -> None:
    """Runs a file as ``python`` does; a pipe too, which is read once."""
    if os.path.isdir(path) or path.endswith((".pyc", ".pyz", ".zip")):
        runpy.run_path(path, run_name="__main__")
        return
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    module.__file__ = path
    exec(code, module.__dict__)


def _from_script_on(trace: TracebackType | None) -> TracebackType | None:
    """Returns the traceback without the frames that started the script."""
    while trace is not None and trace.tb_next is not None:
        if trace.tb_frame.f_code.co_filename not in (__file__, "<frozen runpy>", runpy.__file__):
            break
        trace = trace.tb_next
    return trace


def _print_prefix() -> int:
    folder = _library.prefix()
    if folder is None:
        print("python -m syncyte: this copy of Syncyte is not installed; it belongs to a build tree", file=sys.stderr)
        return 1
    print(folder)
    return 0


def main(arguments: list[str]) -> int:
    """Runs the script, module or command of the command line; returns the exit status."""
    if arguments == ["--version"]:
        print(f"syncyte {__version__}")
        return 0
    if arguments == ["--prefix"]:
        return _print_prefix()
    if arguments == ["build-torch"]:
        return _build_torch.main()
    sets_variables = arguments[:1] != ["--no-torch-env"]
    arguments = arguments if sets_variables else arguments[1:]
    asks_for_help = arguments[:1] in (["-h"], ["--help"])
    if not arguments or asks_for_help or arguments in (["-m"], ["-c"]):
        print(_USAGE, file=sys.stdout if asks_for_help else sys.stderr)
        return 0 if asks_for_help else 2
    if arguments[0] not in ("-m", "-c") and not os.path.exists(arguments[0]):
        what = "unknown option" if arguments[0].startswith("-") else "there is no file"
        print(f"python -m syncyte: {what} {arguments[0]!r}", file=sys.stderr)
        return 2
    if sets_variables:
        _launcher.set_torch_variables(os.environ)
        _torch_rendezvous.install()
    install_excepthook()
    process = os.getpid()
    try:
        _run(arguments)
    except SystemExit as error:
        if exit_code(error.code) != 0 and os.getpid() == process:
            # A plain SystemExit: excepthook's would wait for the other ranks a second time.
            raise SystemExit(end_job_for_exit(error.code)) from None
        raise
    except BaseException as error:  # KeyboardInterrupt too: the other ranks wait for this one
        if os.getpid() != process:
            raise  # a forked child of the script
        end_job_for(error.with_traceback(_from_script_on(error.__traceback__)))
    return 0


def command() -> NoReturn:
    """Is the command ``syncyte``: as ``python -m syncyte``, but Syncyte is not looked for in the current folder."""
    if not sys.flags.safe_path:
        sys.path[0] = os.getcwd()  # a command has its own folder there; for -m and -c
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
