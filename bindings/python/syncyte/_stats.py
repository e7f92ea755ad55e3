"""Counters of operations."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from . import _declarations as c
from . import _library


class OperationStats(NamedTuple):
    """What this process has called of one operation."""

    calls: int  #: all that have ended
    errors: int  #: those that raised
    bytes: int  #: of this rank's parts, where the operation has any
    seconds: float  #: of the calls that were traced (SYNCYTE_TRACE)


def stats() -> dict[str, OperationStats]:
    """What this process has called so far, by operation: ``stats()["comm_allreduce"].bytes``. Local, any time.

    Operations that were never called are not in it. Differences of two results tell of what is between them.
    """
    result: dict[str, OperationStats] = {}
    function = _library.core().unchecked("syncyte_stats")
    found = _library.options(c.OperationStats)
    index = 0
    while function(index, ctypes.byref(found)) == c.Status.SUCCESS:
        name = found.operation.decode()
        before = result.get(name, OperationStats(0, 0, 0, 0.0))  # an operation may have several counters
        result[name] = OperationStats(
            before.calls + found.calls,
            before.errors + found.errors,
            before.bytes + found.bytes,
            before.seconds + found.nanoseconds * 1e-9,
        )
        index += 1
    return result
