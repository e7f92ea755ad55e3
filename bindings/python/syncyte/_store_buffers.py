"""Cached descriptions of plain torch tensors for the store's operations. They take less time than as_buffer()."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from . import _declarations as c
from . import dtypes

if TYPE_CHECKING:
    import torch


class ShortDescriptions:
    """Descriptions of keys and values, both of one dimension. One call at a time uses them."""

    __slots__ = ("keys", "references", "values")

    def __init__(self) -> None:
        self.keys, self.values = _of_one_dimension(c.DType.INT64), _of_one_dimension(c.DType.FLOAT32)
        self.references = ctypes.byref(self.keys), ctypes.byref(self.values)


def _of_one_dimension(dtype: c.DType) -> Any:
    numbers = ctypes.c_int64 * c.MAX_NDIM
    size = ctypes.sizeof(c.BufferDescription)
    return c.BufferDescription(size, 0, dtype, 1, numbers(0), numbers(dtypes.itemsize(dtype)))


# Descriptions that no call uses. Other threads and signal handlers may take some at any time.
_unused: list[ShortDescriptions] = []


def take_descriptions(keys: Any, values: Any, is_written: bool) -> ShortDescriptions | None:
    """Describes int64 keys and float32 values; return them by give_back(). None if as_buffer() must check more."""
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
        found = ShortDescriptions()
    found.keys.data, found.values.data = keys.data_ptr(), values.data_ptr()
    found.keys.shape[0], found.values.shape[0] = keys.numel(), values.numel()
    return found


def give_back(descriptions: ShortDescriptions) -> None:
    """Returns descriptions for use by the next call."""
    _unused.append(descriptions)


def _is_plain(tensor: torch.Tensor) -> bool:
    if not tensor.is_cpu or tensor.requires_grad or tensor.layout is not dtypes.import_torch().strided:
        return False
    return tensor.is_contiguous() and not tensor.is_neg()


def mark_written(tensor: torch.Tensor) -> None:
    """Tells autograd that the tensor has new contents."""
    dtypes.import_torch().autograd.graph.increment_version(tensor)
