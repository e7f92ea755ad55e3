# SPDX-License-Identifier: BSD-3-Clause
"""Named buffers of a torch module, a mapping or a file."""

from __future__ import annotations

import json
import math
import mmap
import os
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _declarations as c
from . import dtypes
from ._buffers import Buffer, as_buffer
from ._checks import wrong
from ._modules import loaded
from .errors import ArgumentError, DtypeError, FileFormatError, ShapeError

# Names of element types in a safetensors file, and Syncyte's.
_SAFETENSORS = {
    **{
        f"{letter}{bits}": f"{word}{bits}" for letter, word in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)
    },
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "BF16": "bfloat16",
    "BOOL": "bool",
    "C64": "complex64",
}


def named_buffers(source: Any) -> dict[str, Buffer]:
    """The arrays that a source has, in its order; tensors without gradients.

    Raises DtypeError for another source, or a value that is no array; ShapeError; ArgumentError for a module that is
    not initialized; FileFormatError, OSError for a file.
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path.endswith(".safetensors"):
            return _read_safetensors(path)
        source = _read_torch(path)
    copies: dict[Any, Any] = {}
    return {key: as_buffer(_without_gaps(array, copies), key, contiguous=False)
            for key, array in _named_arrays(source).items()}  # fmt: skip


def place_of(buffers: dict[str, Buffer]) -> tuple[int, int]:
    """Memory and device on which all buffers are."""
    places = {(each.description.memory, each.description.device): key for key, each in buffers.items()}
    if len(places) > 1:
        raise wrong(ArgumentError, "source", f"a model with tensors in several memories, such as {_shown(places)}",
                    "tensors on one device, or the argument device=")  # fmt: skip
    return next(iter(places), (int(c.Memory.HOST), -1))


def _shown(places: dict[tuple[int, int], str]) -> str:
    return " and ".join(f"{key!r} on {'cpu' if memory == c.Memory.HOST else f'cuda:{device}'}"
                        for (memory, device), key in sorted(places.items()))  # fmt: skip


def _without_gaps(array: Any, copies: dict[Any, Any]) -> Any:
    """A tensor of a device as the library takes it: row-major if it has gaps. Equal views have one copy."""
    if not dtypes.is_torch_tensor(array) or not array.is_cuda:
        return array
    if dtypes.import_torch().ops.aten.is_non_overlapping_and_dense(array):
        return array
    view = array.data_ptr(), array.dtype, array.shape, array.stride()
    return copies.setdefault(view, array.contiguous())


def _named_arrays(source: Any) -> dict[str, Any]:
    torch = loaded("torch")
    if torch is not None and isinstance(source, torch.nn.Module):
        from ._model_modules import places

        return {name: place.tensor.detach() for name, place in places(source).items()}
    if not isinstance(source, Mapping):
        raise wrong(
            DtypeError, "source", f"a {type(source).__name__}", "a module, a mapping of names to arrays, or a path"
        )
    return {_key(key): _array(key, value) for key, value in source.items()}


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise wrong(DtypeError, "source", f"a mapping with the key {key!r}", "strings as keys")
    return key


def _array(key: str, value: Any) -> Any:
    is_torch = dtypes.is_torch_tensor(value)
    if not is_torch and not isinstance(value, np.ndarray):
        raise wrong(DtypeError, f"source[{key!r}]", f"a {type(value).__name__}", "a tensor or an array")
    if value.ndim > c.MAX_NDIM:
        raise wrong(ShapeError, f"source[{key!r}]", f"of {value.ndim} dimensions", f"at most {c.MAX_NDIM}")
    return value.detach() if is_torch else value


def _read_torch(path: str) -> Any:
    """A file of torch.save(), whose tensors are read when they are copied."""
    torch = dtypes.import_torch()
    try:
        return torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except OSError:
        raise
    except (pickle.UnpicklingError, RuntimeError, ValueError, TypeError, LookupError, EOFError) as error:
        raise FileFormatError(f"{path} is no file of torch.save() that can be mapped: {error}") from error


def _read_safetensors(path: str) -> dict[str, Buffer]:
    """The arrays of a safetensors file, which are read when they are copied.

    The file has 8 bytes with the size of a header in JSON, the header, and the arrays' bytes.
    """
    with open(path, "rb") as file:
        length = os.fstat(file.fileno()).st_size
        if length < 8:
            raise FileFormatError(f"{path} is no safetensors file: it has {length} bytes")
        memory = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ)
    begin = 8 + int.from_bytes(memory[:8], "little")
    if begin > length:
        raise FileFormatError(
            f"{path} is no safetensors file, or is truncated: its header ends at byte {begin} of {length}"
        )
    try:
        header = json.loads(memory[8:begin])
        entries = [(name, str(each["dtype"]), _counts(each["shape"]), _counts(each["data_offsets"]))
                   for name, each in header.items() if name != "__metadata__"]  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise FileFormatError(f"the header of {path} is damaged: {error!r}") from error
    body = np.frombuffer(memory, np.uint8)[begin:]
    # In the order of the bytes, which is that of the layers; names may be sorted.
    entries.sort(key=lambda entry: entry[3])
    return {entry[0]: _view(path, body, *entry) for entry in entries}


def _counts(values: list[Any]) -> tuple[int, ...]:
    if not all(type(each) is int and each >= 0 for each in values):
        raise ValueError(f"{values} are no counts")
    return tuple(values)


def _view(path: str, body: Any, name: str, kind: str, shape: tuple[int, ...], ends: tuple[int, ...]) -> Buffer:
    if kind not in _SAFETENSORS:
        raise DtypeError(f"{path}: {name!r} is of {kind}, which is not an element type of Syncyte")
    dtype = dtypes.as_dtype(_SAFETENSORS[kind])
    fits = len(ends) == 2 and ends[0] <= ends[1] <= len(body) and len(shape) <= c.MAX_NDIM
    if not fits or ends[1] - ends[0] != math.prod(shape) * dtypes.itemsize(dtype) or any(n >= 1 << 63 for n in shape):
        raise FileFormatError(f"{path} is damaged: {name!r}, of shape {shape} and type {kind}, is at bytes {ends}")
    found = body[ends[0] : ends[1]]
    if found.ctypes.data % dtypes.itemsize(dtype) != 0:  # the header's size may be any
        found = found.copy()
    # numpy has the bits of bfloat16 alone; the buffer has the file's type.
    array = found.view(dtypes.numpy_dtype(dtype)).reshape(shape)
    return as_buffer(array, name, contiguous=False, expected=dtype)
