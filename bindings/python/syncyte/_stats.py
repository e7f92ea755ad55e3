# SPDX-License-Identifier: BSD-3-Clause
"""Counters of operations."""

from __future__ import annotations

from typing import NamedTuple

from . import _declarations as c
from . import _library


class OperationStats(NamedTuple):
    """Counters of one operation in this process."""

    calls: int  #: calls that have ended
    errors: int  #: calls that raised
    bytes: int  #: bytes of this rank's parts
    seconds: float  #: duration of the calls that were traced (SYNCYTE_TRACE)


class StatsTable(dict[str, OperationStats]):
    """Counters by operation. str() returns a table, sorted by time, then bytes, then calls."""

    def __str__(self) -> str:
        ranked = sorted(self.items(), key=lambda item: (item[1].seconds, item[1].bytes, item[1].calls), reverse=True)
        table = [("operation", "calls", "errors", "bytes", "seconds")]
        table += [(name, f"{of.calls}", f"{of.errors}", f"{of.bytes}", f"{of.seconds:.6f}") for name, of in ranked]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = []
        for name, *numbers in table:
            cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *cells]))
        return "\n".join(lines)


def stats() -> StatsTable:
    """Returns counters of this process's calls by operation: ``stats()["comm_allreduce"].bytes``. Local, any time.

    ``print(syncyte.stats())`` shows a table. It lists no operations that were never called, and no lookups (of a rank,
    a shape). Subtract two results to measure the code between them.
    """
    result = StatsTable()
    function = _library.core().unchecked("syncyte_stats")
    found = _library.new_struct(c.OperationStats)
    index = 0
    while function(index, found) == c.Status.SUCCESS:
        name = found.operation.decode()
        found_now = found.calls, found.errors, found.bytes, found.nanoseconds * 1e-9
        before = result.get(name, (0, 0, 0, 0.0))  # an operation may have several counters
        result[name] = OperationStats(*map(sum, zip(before, found_now, strict=True)))
        index += 1
    return result
