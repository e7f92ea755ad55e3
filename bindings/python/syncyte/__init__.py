# SPDX-License-Identifier: BSD-3-Clause
"""Syncyte: one memory for all the ranks of an MPI job.

    import syncyte

    table = syncyte.WholeTensor((1000, 64), "float32")  # over the memory of all ranks; collective
    table.local_array[:] = syncyte.COMM_WORLD.rank      # this rank's rows, in place
    table.sync()                                        # collective: all ranks see all earlier writes
    rows = table.gather([3, 999, 3])                    # any rows, without a call by their owners

Importing this package does not load a library, initialize MPI or import torch; the first use of COMM_WORLD (or of
anything that needs it) starts Syncyte. Run programs as ``python -m syncyte script.py``: a rank that raises then ends
the job instead of leaving the others waiting. Differentiable operations for PyTorch are in syncyte.torch.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import sys
from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036  (gives users of an older Python a clear message)
    raise ImportError(f"Syncyte needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})")

from . import _preemption  # noqa: F401  (before numpy and all others: it catches a signal from here on)

if importlib.util.find_spec("numpy") is None:
    raise ModuleNotFoundError(
        f"Syncyte needs numpy, which {sys.executable} does not have: install it there, or use the Python that has it "
        f"(.venv/bin/python after cmake/quickstart.sh setup)",
        name="numpy",
    )

from . import bundle, cache, cart, checkpoint, comm, errors, excepthook, layout, memory, runtime, tensor, window
from ._arrays import gather_rows
from ._declarations import VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH, DType, Status
from ._messages import ANY, PROC_NULL
from ._requests import MessageStatus, Request, wait_all, wait_any
from ._stats import OperationStats, stats
from .bundle import *  # noqa: F403  (the names that its __all__ lists, as of the other modules)
from .cache import SharedCache
from .cart import *  # noqa: F403
from .comm import *  # noqa: F403
from .errors import *  # noqa: F403
from .excepthook import *  # noqa: F403
from .layout import *  # noqa: F403
from .models import Model, PublishedModel, SharedModels
from .runtime import *  # noqa: F403
from .store import Store, StoreWorker
from .tensor import *  # noqa: F403
from .window import *  # noqa: F403

__version__ = f"{VERSION_MAJOR}.{VERSION_MINOR}.{VERSION_PATCH}"

__all__ = [
    "ANY",
    "PROC_NULL",
    "DType",
    "MessageStatus",
    "Model",
    "OperationStats",
    "PublishedModel",
    "Request",
    "SharedCache",
    "SharedModels",
    "Status",
    "Store",
    "StoreWorker",
    "cache",
    "checkpoint",
    "errors",
    "gather_rows",
    "memory",
    "stats",
    "wait_all",
    "wait_any",
]
for _module in (bundle, cart, comm, errors, excepthook, layout, runtime, tensor, window):
    __all__ += _module.__all__

logging.getLogger("syncyte").addHandler(logging.NullHandler())


if TYPE_CHECKING:  # a type checker reports names that do not exist
    from . import compat as compat
    from . import nn as nn
    from . import torch as torch
else:

    def __getattr__(name: str) -> Any:
        if name in ("compat", "nn", "torch"):  # imported on first use, because they import torch itself
            return importlib.import_module(f"syncyte.{name}")
        # Python suggests a name only if it prints the traceback itself; python -m syncyte prints it. The error has no
        # `obj`, so that Python does not suggest a name again.
        import difflib

        from ._renamed import PACKAGE

        if name in PACKAGE:
            raise AttributeError(f"syncyte.{name} is now {PACKAGE[name]}", name=name)
        close = [] if name.startswith("_") else difflib.get_close_matches(name, __all__, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise AttributeError(f"module 'syncyte' has no attribute {name!r}{hint}", name=name)
