# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of the store's keys and values that are used again by later calls."""

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import _declarations as c
from . import dtypes

if TYPE_CHECKING:
    import torch


class PooledOperands:
    """An Access to plain torch tensors of keys and values: faster than as_buffer()."""

    __slots__ = ("arguments", "arrays", "keys", "result", "values")

    def __init__(self) -> None:
        self.keys, self.values = _of_one_dimension(c.DType.INT64), _of_one_dimension(c.DType.FLOAT32)
        self.keys.read_only = 1
        self.arguments = ctypes.byref(self.keys), ctypes.byref(self.values)
        self.arrays: Any = None
        self.result: Any = None

    def finish(self) -> Any:
        """Returns the result, and leaves the descriptions to the next call."""
        result = self.result
        self.arrays = self.result = None
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
    if not (_is_plain(keys, torch) and _is_plain(values, torch)) or (is_written and values.is_inference()):
        return None
    try:
        found = _unused.pop()
    except IndexError:
        found = PooledOperands()
    found.keys.data, found.values.data = keys.data_ptr(), values.data_ptr()
    found.keys.shape[0], found.values.shape[0] = keys.numel(), values.numel()
    found.values.read_only = not is_written
    found.arrays, found.result = values, values if is_written else None
    return found


def _is_plain(tensor: torch.Tensor, torch: ModuleType) -> bool:
    if not tensor.is_cpu or tensor.requires_grad or tensor.layout is not torch.strided:
        return False
    return tensor.is_contiguous() and not tensor.is_neg()
