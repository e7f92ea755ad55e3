# SPDX-License-Identifier: BSD-3-Clause
"""Named arrays of a torch module, a mapping or a file."""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import dtypes
from ._checks import wrong
from ._modules import loaded
from .errors import DtypeError, FileFormatError

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


def named_arrays(source: Any) -> dict[str, Any]:
    """The arrays that a source has, in its order; tensors without gradients.

    Raises DtypeError for another source, or a value that is no array; FileFormatError, OSError for a file.
    """
    torch = loaded("torch")
    if torch is not None and isinstance(source, torch.nn.Module):
        from ._model_modules import places

        return {name: place.tensor.detach() for name, place in places(source).items()}
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        source = _read_safetensors(path) if path.endswith(".safetensors") else _read_torch(path)
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
    if dtypes.is_torch_tensor(value):
        return value.detach()
    if isinstance(value, np.ndarray):
        return value
    raise wrong(DtypeError, f"source[{key!r}]", f"a {type(value).__name__}", "a tensor or an array")


def _read_torch(path: str) -> Any:
    """A file of torch.save(), whose tensors are read when they are copied."""
    return dtypes.import_torch().load(path, map_location="cpu", mmap=True, weights_only=True)


def _read_safetensors(path: str) -> dict[str, Any]:
    """The arrays of a safetensors file, which are read when they are copied.

    The file has 8 bytes with the size of a header in JSON, the header, and the arrays' bytes.
    """
    with open(path, "rb") as file:
        length = os.fstat(file.fileno()).st_size
        if length < 8:
            raise FileFormatError(f"{path} is no safetensors file: it has {length} bytes")
        memory = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_COPY)  # torch wants memory that can be written
    begin = 8 + int.from_bytes(memory[:8], "little")
    if begin > length:
        raise FileFormatError(
            f"{path} is no safetensors file, or is truncated: its header ends at byte {begin} of {length}"
        )
    try:
        header = json.loads(memory[8:begin])
        entries = [(name, each["dtype"], _counts(each["shape"]), _counts(each["data_offsets"]))
                   for name, each in header.items() if name != "__metadata__"]  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FileFormatError(f"the header of {path} is damaged: {error!r}") from error
    # In the order of the bytes, which is that of the layers; names may be sorted.
    entries.sort(key=lambda entry: entry[3])
    return {name: _view(path, memory, begin, *entry) for name, *entry in entries}


def _counts(values: list[Any]) -> tuple[int, ...]:
    if not all(type(each) is int and each >= 0 for each in values):
        raise ValueError(f"{values} are no counts")
    return tuple(values)


def _view(path: str, memory: mmap.mmap, begin: int, kind: str, shape: tuple[int, ...], ends: tuple[int, ...]) -> Any:
    if kind not in _SAFETENSORS:
        raise DtypeError(f"{path} has an array of {kind}, which is not an element type of Syncyte")
    dtype = dtypes.as_dtype(_SAFETENSORS[kind])
    count = math.prod(shape)
    fits = len(ends) == 2 and ends[0] <= ends[1] <= len(memory) - begin
    if not fits or ends[1] - ends[0] != count * dtypes.itemsize(dtype):
        raise FileFormatError(f"{path} is damaged: an array of shape {shape} and type {kind} is at bytes {ends}")
    if dtypes.loaded_torch() is None:
        return np.frombuffer(memory, dtypes.numpy_dtype(dtype), count, begin + ends[0]).reshape(shape)
    torch = dtypes.import_torch()
    if count == 0:
        return torch.empty(shape, dtype=dtypes.torch_dtype(dtype))
    return torch.frombuffer(memory, dtype=dtypes.torch_dtype(dtype), count=count, offset=begin + ends[0]).view(shape)
