# SPDX-License-Identifier: BSD-3-Clause
"""The tensors of a bound model as arrays over its memory."""

from __future__ import annotations

import functools
import os
import struct
from typing import Any, NamedTuple

import numpy as np

from . import _declarations as c
from . import _library, dtypes
from ._arrays import memory_at
from ._buffers import TORCH
from .errors import UnsupportedError


class TensorRecord(NamedTuple):
    """A tensor of a model."""

    number: int
    name: str
    address: int
    bytes: int
    group: int
    same_as: int  # number of the first tensor that has this memory
    dtype: c.DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements


_NUMBERS = struct.Struct(f"@N2P3q2i{c.MAX_NDIM}q{c.MAX_NDIM}q")  # a ModelTensor: its fields are slower one by one
_ELEMENTS = {int(dtype): (dtype, dtypes.itemsize(dtype)) for dtype in c.DType}


class ModelMemory:
    """All tensors of a model, by name. Arrays keep the memory alive, by a reference of their own."""

    device: str  #: torch's name of the device on which the tensors are
    is_read_only: bool  #: no process may write the tensors

    def __init__(self, handle: int, info: c.ModelInfo) -> None:
        self._handle, tensors = handle, info.tensors
        self.device = "cpu" if info.memory == c.Memory.HOST else f"cuda:{info.device}"
        self.is_read_only = bool(info.read_only)
        describe, found = _library.core().syncyte_model_tensor, _library.new_struct(c.ModelTensor)
        self.records = records = dict[str, TensorRecord]()
        for number in range(tensors):
            describe(handle, number, found)
            numbers = _NUMBERS.unpack_from(found)
            _, _, address, size, group, same_as, kind, ndim = numbers[:8]
            name, (dtype, itemsize) = os.fsdecode(found.name), _ELEMENTS[kind]
            shape, distances = numbers[8 : 8 + ndim], numbers[8 + c.MAX_NDIM : 8 + c.MAX_NDIM + ndim]
            strides = tuple([distance // itemsize for distance in distances])
            records[name] = TensorRecord(number, name, address, size, group, same_as, dtype, shape, strides)
        self._first = min(each.address for each in self.records.values())
        end = max(each.address + each.bytes for each in self.records.values())
        _library.core().syncyte_model_retain(handle)
        # On a device it is never accessed: it holds the reference.
        self._memory = memory_at(self._first, max(end - self._first, 1), "syncyte_model_release", handle)

    def array(self, record: TensorRecord, array_kind: str) -> Any:
        """A tensor, or a numpy array, with a storage of its own. Does not touch the memory."""
        if array_kind == TORCH:
            return self.tensor(record)
        if self.device != "cpu":
            raise UnsupportedError(f"the model is on {self.device}, of which numpy has no arrays: import torch first")
        if record.bytes == 0:
            return np.empty(record.shape, dtypes.numpy_dtype(record.dtype))
        size = dtypes.itemsize(record.dtype)
        return np.ndarray(record.shape, dtypes.numpy_dtype(record.dtype), self._memory, record.address - self._first,
                          [stride * size for stride in record.strides])  # fmt: skip

    def tensor(self, record: TensorRecord, has_memory: bool = True) -> Any:
        """A new torch tensor, with a storage of its own. On a device it may be without memory."""
        if self.device != "cpu":
            return self._operators.model_tensor(self._handle, record.number, has_memory)
        torch, dtype = self._torch, self.torch_dtypes[record.dtype]
        if record.bytes == 0:
            return torch.empty_strided(record.shape, record.strides, dtype=dtype, device="cpu")
        flat = torch.frombuffer(self._memory, dtype=dtype, count=record.bytes // dtype.itemsize,
                                offset=record.address - self._first)  # fmt: skip
        return flat if record.strides == (1,) else flat.as_strided_(record.shape, record.strides)

    @functools.cached_property
    def _operators(self) -> Any:
        from ._torch_operators import operators

        return operators

    @functools.cached_property
    def _torch(self) -> Any:
        return dtypes.import_torch()

    @functools.cached_property
    def torch_dtypes(self) -> list[Any]:
        """Torch's element types, by number: a dictionary would hash enumerators, which is slower."""
        found: list[Any] = [None] * (max(c.DType) + 1)
        for dtype in c.DType:
            found[dtype] = dtypes.torch_dtype(dtype)
        return found
