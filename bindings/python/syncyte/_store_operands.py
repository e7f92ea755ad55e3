"""Keys and values of the store's operations, described for the C library."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from . import _declarations as c
from . import dtypes
from ._buffers import Buffer

if TYPE_CHECKING:
    import torch


class Operands:
    """Keys and values that as_buffer() has described."""

    __slots__ = ("_keys", "_values", "references", "result")

    def __init__(self, keys: Buffer, values: Buffer, result: Any):
        self._keys, self._values = keys, values
        self.references = keys.reference, values.reference
        self.result = result  #: the values, as the caller gave them, if the operation writes them; otherwise None

    @property
    def array(self) -> Any:
        return self._values.array

    def finish(self) -> Any:
        """Returns the result, after the call that used the descriptions."""
        if self.result is not None:
            self._values.mark_written()
        return self.result


class PooledOperands:
    """Plain torch tensors of keys and values, with descriptions that are used again: faster than as_buffer()."""

    __slots__ = ("array", "keys", "references", "result", "values")

    def __init__(self) -> None:
        self.keys, self.values = _of_one_dimension(c.DType.INT64), _of_one_dimension(c.DType.FLOAT32)
        self.references = ctypes.byref(self.keys), ctypes.byref(self.values)
        self.array: Any = None
        self.result: Any = None

    def finish(self) -> Any:
        """Returns the result, and leaves the descriptions to the next call."""
        result = self.result
        self.array = self.result = None
        _unused.append(self)
        if result is not None:
            dtypes.import_torch().autograd.graph.increment_version(result)
        return result


def _of_one_dimension(dtype: c.DType) -> Any:
    numbers = ctypes.c_int64 * c.MAX_NDIM
    size = ctypes.sizeof(c.BufferDescription)
    return c.BufferDescription(size, 0, dtype, 1, numbers(0), numbers(dtypes.itemsize(dtype)))


# Operands that no call uses. Other threads and signal handlers may take some at any time.
_unused: list[PooledOperands] = []


def take_operands(keys: Any, values: Any, is_written: bool) -> PooledOperands | None:
    """Describes int64 keys and float32 values. None if as_buffer() must check more."""
    torch = dtypes.loaded_torch()
    if torch is None or type(keys) is not torch.Tensor or type(values) is not torch.Tensor:
        return None
    if keys.dtype is not torch.int64 or values.dtype is not torch.float32:
        return None
    if not (_is_plain(keys) and _is_plain(values)) or (is_written and values.is_inference()):
        return None
    try:
        found = _unused.pop()
    except IndexError:
        found = PooledOperands()
    found.keys.data, found.values.data = keys.data_ptr(), values.data_ptr()
    found.keys.shape[0], found.values.shape[0] = keys.numel(), values.numel()
    found.array, found.result = values, values if is_written else None
    return found


def _is_plain(tensor: torch.Tensor) -> bool:
    if not tensor.is_cpu or tensor.requires_grad or tensor.layout is not dtypes.import_torch().strided:
        return False
    return tensor.is_contiguous() and not tensor.is_neg()
