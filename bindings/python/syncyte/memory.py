"""Recycled buffers. Local, callable before Syncyte is started."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import _arrays, _library, dtypes
from . import _declarations as c
from ._buffers import NUMPY
from ._checks import as_int32, as_numbers
from .errors import ShapeError

__all__ = ["MemoryStats", "device_count", "empty", "stats", "trim"]


class MemoryStats(NamedTuple):
    """What the pool of recycled host buffers holds; sizes in bytes."""

    in_use: int  #: handed out, rounded up to size classes
    cached: int  #: kept for re-use
    limit: int  #: most that is kept: SYNCYTE_POOL_LIMIT, or a 16th of the machine's memory
    hits: int  #: requests served from the cache
    misses: int  #: requests that needed fresh memory


def stats() -> MemoryStats:
    """Figures of the pool. Local."""
    found = _library.options(c.MemoryStats)
    _library.core().syncyte_memory_stats(ctypes.byref(found))
    return MemoryStats(found.in_use, found.cached, found.limit, found.hits, found.misses)


def trim() -> None:
    """Returns all cached buffers to the system. Local."""
    _library.core().syncyte_memory_trim()


def device_count(kind: c.Memory = c.Memory.CUDA) -> int:
    """Number of devices of a kind of memory. Local.

    Parameters
    ----------
    kind : Memory
        CUDA's by default.

    Returns
    -------
    int
        0 for CUDA in a build without it.
    """
    count = ctypes.c_int32()
    _library.core().syncyte_memory_device_count(as_int32(kind, "kind"), ctypes.byref(count))
    return count.value


def empty(shape: Sequence[int], dtype: dtypes.DTypeLike) -> np.ndarray:
    """A numpy array of recycled memory, contents undefined, aligned to 64 bytes. Local.

    It goes back to the pool when the last view of it is gone.

    Parameters
    ----------
    shape : sequence of int
        Its extents.
    dtype : element type
        Of the array.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    OutOfMemoryError, DtypeError, ShapeError
        More than there is; a wrong dtype; a negative extent.
    """
    extents = as_numbers(shape, "shape", "extents")
    if any(extent < 0 for extent in extents):
        raise ShapeError(f"shape is {tuple(extents)}; extents must not be negative")
    return _arrays.recycled(NUMPY, dtypes.as_dtype(dtype), extents)
