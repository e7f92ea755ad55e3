# SPDX-License-Identifier: BSD-3-Clause
"""New arrays for results of operations, in Python's memory or in the library's."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _library, dtypes
from ._buffers import NOT_RECORDED, TORCH, Buffer, as_buffer
from ._checks import wrong
from ._declarations import DType, Memory
from ._devices import on_current_stream
from ._handles import release_with
from .errors import ShapeError

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


def pointer(array: np.ndarray) -> Any:
    """Returns a pointer to a numpy array's elements, for C functions of arrays."""
    return array.ctypes.data_as(ctypes.POINTER(np.ctypeslib.as_ctypes_type(array.dtype)))


def array_over(memory: Any, array_kind: str, dtype: DType, shape: Sequence[int]) -> Any:
    """Returns a writable numpy array or torch tensor over all of `memory`, which it keeps alive."""
    if array_kind == TORCH:
        torch = dtypes.import_torch()
        # .data: the result is not a view for autograd, and independent of the grad mode of its creation.
        return torch.frombuffer(memory, dtype=dtypes.torch_dtype(dtype)).view(tuple(shape)).data
    return np.frombuffer(memory, dtypes.numpy_dtype(dtype)).reshape(tuple(shape))


def recycled(array_kind: str, dtype: DType, shape: Sequence[int]) -> Any:
    """Returns a new array in memory of the pool, contents undefined; released with the last view of it."""
    size = dtypes.itemsize(dtype) * math.prod(int(extent) for extent in shape)
    if size == 0:
        return empty(array_kind, dtype, shape)
    address = _library.core().output("syncyte_memory_allocate", size, int(Memory.HOST), 0)
    return array_over(memory_at(address, size, "syncyte_memory_free", address), array_kind, dtype, shape)


def empty(array_kind: str, dtype: DType, shape: Sequence[int]) -> Any:
    """Returns a new contiguous array in host memory, contents undefined; `array_kind` is "numpy" or "torch"."""
    numpy_dtype = dtypes.numpy_dtype(dtype)
    if numpy_dtype.itemsize * math.prod(shape) >= _POOLED_BYTES:
        return recycled(array_kind, dtype, shape)
    if array_kind == TORCH:
        return dtypes.import_torch().empty(tuple(shape), dtype=dtypes.torch_dtype(dtype), device="cpu")
    return np.empty(tuple(shape), numpy_dtype)


def new_buffer(array_kind: str, dtype: DType, shape: Sequence[int]) -> Buffer:
    """Describes a new array of empty()."""
    return Buffer(empty(array_kind, dtype, shape), array_kind, dtype)


def empty_like(buffer: Buffer, shape: Sequence[int]) -> Any:
    """Returns a new contiguous array of the buffer's element type, kind and device."""
    if buffer.array_kind == TORCH and buffer.array.device.type != "cpu":
        return buffer.array.new_empty(tuple(shape))
    return empty(buffer.array_kind, buffer.dtype, shape)


def fixed(tensor: Any) -> Any:
    """Prevents torch from moving a tensor's memory; see _fixed_storage."""
    from ._fixed_storage import fix

    return fix(tensor)


def view(kind: str, handle: int, array_kind: str, dtype: DType, shape: Sequence[int], address: int | None) -> Any:
    """Returns an array over memory of a tensor or window (`kind`), retained while the array or a slice of it lives.

    torch cannot move it. An empty shape gives an empty array without a reference.
    """
    count = math.prod(shape)
    if count == 0 or address is None:
        return empty(array_kind, dtype, shape)
    getattr(_library.core(), f"syncyte_{kind}_retain")(handle)
    memory = memory_at(address, count * dtypes.itemsize(dtype), f"syncyte_{kind}_release", handle)
    array = array_over(memory, array_kind, dtype, shape)
    return fixed(array) if array_kind == TORCH else array


def gather_rows(table: Any, index: Any, *, dtype: dtypes.DTypeLike = None, out: Any = None) -> Any:
    """Reads rows of an array: ``result[i] = table[index[i]]``; checks the index, and may convert types. Local.

    Parameters
    ----------
    table : array
        1 or more dimensions, any strides, numpy or torch. Of a CUDA tensor, rows are contiguous; index and out are on
        its device, and the operation is enqueued on torch's current stream.
    index : array of int32 or int64
        Any number of dimensions; contiguous. Rows may repeat.
    dtype : element type, optional
        Element type of the result, by default the table's. float16, bfloat16, float32 and float64 are converted into
        each other, float64 to 16-bit types by way of float32.
    out : array, optional
        Contiguous, of the result's shape and element type; must not overlap the table.

    Returns
    -------
    array
        ``out``, or a new array of the table's kind and of shape ``index.shape + table.shape[1:]``.

    Raises
    ------
    OutOfRangeError
        Names the first index that is out of range, and its position; nothing was written. On a device the index is
        skipped, and a later call raises the error.
    DtypeError, ShapeError
        Types that cannot be converted; strides or shapes that do not fit.
    """
    queued = dtypes.is_torch_tensor(table) and table.is_cuda
    source = as_buffer(table, "table", contiguous=False, recorded_by=NOT_RECORDED, queued=queued)
    rows = as_buffer(index, "index", queued=queued)
    expected = None if dtype is None else dtypes.as_dtype(dtype)
    shape = rows.shape + source.shape[1:]
    if out is None:
        element = source.dtype if expected is None else expected
        if queued:
            out = table.new_empty(shape, dtype=dtypes.torch_dtype(element))
        else:
            out = empty(source.array_kind, element, shape)
    target = as_buffer(out, "out", writable=True, expected=expected, queued=queued)
    if target.shape != shape:
        raise wrong(ShapeError, "out", f"of shape {target.shape}", f"shape {shape}")
    with on_current_stream(table.device) if queued else contextlib.nullcontext():
        _library.core().syncyte_rows_gather(source.reference, rows.reference, target.reference)
    target.mark_written()
    return out
