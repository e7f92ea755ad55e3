"""Syncyte: one memory for all the ranks of an MPI job.

    import syncyte

    table = syncyte.WholeTensor((1000, 64), "float32")  # over the memory of all ranks; collective
    table.local_array[:] = syncyte.COMM_WORLD.rank      # this rank's rows, in place
    table.sync()                                        # collective: all ranks see all earlier writes
    rows = table.gather([3, 999, 3])                    # any rows, without a call by their owners

Importing this package does not load a library, initialise MPI or import torch; the first use of COMM_WORLD (or of
anything that needs it) starts Syncyte. Run programs as ``python -m syncyte script.py``: a rank that raises then ends
the job instead of leaving the others waiting. Differentiable operations for PyTorch are in syncyte.torch.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import sys
from typing import Any

if sys.version_info < (3, 11):  # noqa: UP036  (gives users of an older Python a clear message)
    raise ImportError(f"Syncyte needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})")
if importlib.util.find_spec("numpy") is None:
    raise ModuleNotFoundError(
        f"Syncyte needs numpy, which {sys.executable} does not have: install it there, or use the Python that has it "
        f"(.venv/bin/python after cmake/quickstart.sh setup)",
        name="numpy",
    )

from . import cache, checkpoint, errors, memory
from ._declarations import VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH, DType, Op, Status
from ._messages import ANY, PROC_NULL
from ._requests import MessageStatus, Request, wait_all
from ._rows import gather_rows
from ._stats import OperationStats, stats
from .cache import SharedCache
from .cart import Cart, Halo, Shift
from .comm import COMM_SELF, COMM_WORLD, Comm, Topology, even_counts
from .errors import *  # noqa: F403  (the exceptions, which errors.__all__ lists)
from .excepthook import install_excepthook
from .runtime import finalize, init, initialized, thread_level
from .store import Store, StoreWorker
from .tensor import WholeTensor
from .window import Window

__version__ = f"{VERSION_MAJOR}.{VERSION_MINOR}.{VERSION_PATCH}"

__all__ = [
    "ANY",
    "COMM_SELF",
    "COMM_WORLD",
    "PROC_NULL",
    "Cart",
    "Comm",
    "DType",
    "Halo",
    "MessageStatus",
    "Op",
    "OperationStats",
    "Request",
    "SharedCache",
    "Shift",
    "Status",
    "Store",
    "StoreWorker",
    "Topology",
    "WholeTensor",
    "Window",
    "cache",
    "checkpoint",
    "errors",
    "even_counts",
    "finalize",
    "gather_rows",
    "init",
    "initialized",
    "install_excepthook",
    "memory",
    "stats",
    "thread_level",
    "wait_all",
    *errors.__all__,
]

logging.getLogger("syncyte").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    if name == "torch":  # imported on first use, because it imports torch itself
        return importlib.import_module("syncyte.torch")
    # Python suggests a name only if it prints the traceback itself; python -m syncyte prints it. The error has no
    # `obj`, so that Python does not suggest a name again.
    import difflib

    close = [] if name.startswith("_") else difflib.get_close_matches(name, __all__, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise AttributeError(f"module 'syncyte' has no attribute {name!r}{hint}", name=name)
