"""New arrays for results of operations, in Python's memory or in the library's."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _library, dtypes
from ._buffers import TORCH, Buffer
from ._declarations import DType, Memory
from ._handles import release_with

_POOLED_BYTES = 1 << 16  # results of this size or more come from the pool of recycled memory


@functools.lru_cache(maxsize=64)
def _view_type(size: int) -> Any:
    # A subclass, because instances of ctypes' own array types cannot be referred to weakly.
    return type("_View", (ctypes.c_char * size,), {})


def memory_at(address: int, size: int, release: str, handle: int) -> Any:
    """Returns an object with the buffer protocol for `size` > 0 bytes at an address.

    When the last array over it is destroyed, the library's function `release` is called with `handle`: local, without
    MPI, on any thread.
    """
    view = _view_type(size).from_address(address)
    release_with(view, release, handle)
    return view


def array_over(memory: Any, array_kind: str, dtype: DType, shape: Sequence[int]) -> Any:
    """Returns a writable numpy array or torch tensor over all of `memory`, which it keeps alive."""
    if array_kind == TORCH:
        torch = dtypes.import_torch()
        # .data: the result is not a view for autograd, and independent of the grad mode of its creation.
        return torch.frombuffer(memory, dtype=dtypes.torch_dtype(dtype)).view(tuple(shape)).data
    return np.frombuffer(memory, dtypes.numpy_dtype(dtype)).reshape(tuple(shape))


def fresh(array_kind: str, dtype: DType, shape: Sequence[int]) -> Any:
    """Returns a new array that numpy or torch allocates; its contents are undefined."""
    if array_kind == TORCH:
        return dtypes.import_torch().empty(tuple(shape), dtype=dtypes.torch_dtype(dtype))
    return np.empty(tuple(shape), dtypes.numpy_dtype(dtype))


def recycled(array_kind: str, dtype: DType, shape: Sequence[int]) -> Any:
    """Returns a new array in memory of the pool, contents undefined; released with the last view of it."""
    size = dtypes.itemsize(dtype) * math.prod(int(extent) for extent in shape)
    if size == 0:
        return fresh(array_kind, dtype, shape)
    address = ctypes.c_void_p()
    _library.core().syncyte_memory_acquire(size, int(Memory.HOST), 0, ctypes.byref(address))
    assert address.value is not None
    return array_over(memory_at(address.value, size, "syncyte_memory_release", address.value), array_kind, dtype, shape)


def empty(array_kind: str, dtype: DType, shape: Sequence[int]) -> Any:
    """Returns a new contiguous array in host memory, contents undefined; `array_kind` is "numpy" or "torch"."""
    is_large = dtypes.itemsize(dtype) * math.prod(shape) >= _POOLED_BYTES
    return (recycled if is_large else fresh)(array_kind, dtype, shape)


def empty_like(buffer: Buffer, shape: Sequence[int]) -> Any:
    """Returns a new contiguous array of the buffer's element type, kind and device."""
    if buffer.array_kind == TORCH and buffer.array.device.type != "cpu":
        return buffer.array.new_empty(tuple(shape))
    return empty(buffer.array_kind, buffer.dtype, shape)
