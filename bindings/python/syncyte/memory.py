# SPDX-License-Identifier: BSD-3-Clause
"""Recycled buffers. Local, callable before Syncyte is started."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import _arrays, _library, dtypes
from . import _declarations as c
from ._buffers import NUMPY
from ._checks import as_int32, as_int64, as_numbers
from .errors import OutOfRangeError, ShapeError

__all__ = ["DeviceUse", "MemoryStats", "describe", "device_count", "empty", "stats", "trim"]


class MemoryStats(NamedTuple):
    """Statistics of the pools of recycled buffers, of host memory and of all devices in sum; sizes in bytes."""

    in_use: int  #: acquired and not released, rounded up to size classes
    cached: int  #: kept for re-use
    limit: int  #: limit of cached (SYNCYTE_POOL_LIMIT)
    hits: int  #: requests served from the cache
    misses: int  #: requests that needed fresh memory
    device_in_use: int  #: in_use of devices
    device_cached: int  #: cached of devices
    device_limit: int  #: limit of devices: each has SYNCYTE_POOL_LIMIT
    device_hits: int  #: hits of devices
    device_misses: int  #: misses of devices


def stats() -> MemoryStats:
    """Returns statistics of the pools. Local."""
    found = _library.core().output("syncyte_memory_stats")
    return MemoryStats(*(getattr(found, name) for name in MemoryStats._fields))


class DeviceUse(NamedTuple):
    """Memory of a device that an object of this process has, of describe()."""

    device: str  #: UUID of the CUDA device
    holder: str  #: the object, such as 'tensor "table" (float32, [10, 4])'
    bytes: int  #: of the device's pages that it has


def describe() -> list[DeviceUse]:
    """Lists the whole tensors and shared caches of this process that have memory of devices. Local.

    Of a tensor it has this rank's pages; the state of an optimizer is a tensor of its own. Each process that has a
    shared cache lists it. Buffers are in stats(), models in SharedModels.describe().

    Returns
    -------
    list of DeviceUse
        In the order in which they were made.
    """
    found: list[DeviceUse] = []
    with contextlib.suppress(OutOfRangeError):
        while True:
            each = _library.new_struct(c.DeviceUse)
            _library.core().syncyte_memory_describe(len(found), each)
            found.append(DeviceUse(each.device.decode(), os.fsdecode(each.holder), each.bytes))
    return found


def trim() -> None:
    """Returns all cached buffers to the system and to the devices. Local."""
    _library.core().syncyte_memory_trim()


def device_count(kind: c.Memory = c.Memory.CUDA) -> int:
    """Returns the number of devices of a kind of memory. Local.

    Parameters
    ----------
    kind : Memory
        Kind of memory; by default CUDA.

    Returns
    -------
    int
        The number; 0 for CUDA in a build without it.
    """
    return _library.core().output("syncyte_memory_device_count", as_int32(kind, "kind"))


def empty(shape: Sequence[int], dtype: dtypes.DTypeLike) -> np.ndarray:
    """Returns a numpy array of recycled memory, contents undefined, aligned to 64 bytes. Local.

    The last view of it returns the memory to the pool.

    Parameters
    ----------
    shape : sequence of int
        Its extents.
    dtype : element type
        Its element type.

    Returns
    -------
    numpy.ndarray
        The array.

    Raises
    ------
    OutOfMemoryError, DtypeError, ShapeError
        Too little memory; a wrong dtype; a negative extent.
    """
    extents = [as_int64(extent, "shape") for extent in as_numbers(shape, "shape", "extents")]
    if any(extent < 0 for extent in extents):
        raise ShapeError(f"shape is {tuple(extents)}; extents must not be negative")
    return _arrays.recycled(NUMPY, dtypes.as_dtype(dtype), extents)
