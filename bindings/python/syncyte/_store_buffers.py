"""Arrays of the store's operations: cached descriptions of plain torch tensors, and arrays of operations under way.

The descriptions take less time than as_buffer().
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Sequence
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


class ArraysUnderWay:
    """Keeps the arrays of a worker's operations alive until they are waited for, by timestamp.

    Those of operations that have ended without a wait are dropped when the number of arrays has doubled. Other threads
    and signal handlers may add some at any time: use only atomic operations.
    """

    __slots__ = ("_arrays", "_has_ended", "_most")

    def __init__(self, has_ended: Callable[[int], bool]) -> None:
        self._arrays: dict[int, Any] = {}
        self._has_ended = has_ended
        self._most = 16

    def add(self, timestamp: int, array: Any) -> None:
        """Keeps the array of an operation that was started."""
        self._arrays[timestamp] = array
        if len(self._arrays) > self._most:
            self._drop_ended(self.timestamps())
            self._most = max(16, 2 * len(self._arrays))

    def timestamps(self) -> list[int]:
        """The timestamps of all arrays."""
        return list(self._arrays)

    def all(self) -> object:
        """All arrays. Hold the result during a call of the library: another thread may call clear() meanwhile."""
        return self._arrays

    @contextlib.contextmanager
    def waited(self, timestamps: Sequence[int]) -> Iterator[None]:
        """Drops arrays after a wait for their operations. An interrupted wait leaves those that are under way."""
        held = self._arrays
        try:
            yield
        except BaseException:
            self._drop_ended(timestamps)
            raise
        for timestamp in timestamps:
            held.pop(timestamp, None)

    def clear(self) -> None:
        """Drops all arrays, except those that calls of other threads hold: the worker lives until these return."""
        self._arrays = {}

    def _drop_ended(self, timestamps: Sequence[int]) -> None:
        for timestamp in timestamps:
            if timestamp in self._arrays and self._has_ended(timestamp):
                self._arrays.pop(timestamp, None)
