# SPDX-License-Identifier: BSD-3-Clause
"""The end of a job whose ranks all call sys.exit() with the same status: no rank needs to abort it."""

from __future__ import annotations

import ctypes
import time
import zlib

from . import _declarations as c
from . import _library

SECONDS = 5.0  # how long a rank that exits waits for the others to exit too


def all_exit_alike(status: int, message: str) -> tuple[bool, bool]:
    """Returns whether all ranks exit with this status within SECONDS, and whether with the same message.

    Collective over the ranks that exit; another rank does not notice it.
    """
    text = zlib.crc32(message.encode("utf-8", "replace"))
    try:
        highest = _highest([status, -status, text, -text])
    except BaseException:  # a dead rank, another operation of the other ranks, an exception of a signal handler
        return False, False
    if highest is None or highest[0] != -highest[1]:
        return False, False
    return True, highest[2] == -highest[3]


def _highest(numbers: list[int]) -> list[int] | None:
    """Returns the maxima over all ranks; None if not all ranks have come within SECONDS, or checks are off."""
    core = _library.core()
    if not core.output("syncyte_initialized"):
        return None
    world = ctypes.c_void_p(core.output("syncyte_comm_world"))
    if core.output("syncyte_comm_check_level", world) == 0:
        return None  # SYNCYTE_CHECK=off: another rank's own allreduce would be taken for this one
    mine, highest = ((ctypes.c_int64 * len(numbers))(*numbers) for _ in range(2))
    buffers = [_library.new_struct(c.BufferDescription) for _ in range(2)]
    for values, buffer in zip((mine, highest), buffers, strict=True):
        core.syncyte_buffer_set(values, int(c.DType.INT64), 1, (ctypes.c_int64 * 1)(len(numbers)), buffer)
    fact = _library.new_struct(c.Fact, name=b"exit", value=1)  # the application's reductions have no such fact
    options = _library.new_struct(c.CollectiveOptions, facts=ctypes.pointer(fact), fact_count=1)
    request, done = ctypes.c_void_p(), ctypes.c_int32()
    core.syncyte_comm_iallreduce(world, buffers[0], int(c.Op.MAX), options, buffers[1], request)
    deadline = time.monotonic() + SECONDS
    while True:
        core.syncyte_request_test(request, done)
        if done.value:
            return list(highest)
        if time.monotonic() > deadline:
            return None  # the job ends now, and with it the request
        time.sleep(0.002)
