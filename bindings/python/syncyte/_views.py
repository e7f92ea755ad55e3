"""Arrays over memory of the C library that keep it alive: a view holds a reference until its last slice is gone."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _buffers, _library, dtypes
from ._declarations import DType
from ._handles import release_with


@functools.lru_cache(maxsize=64)
def _view_type(size: int) -> Any:
    # A subclass, because instances of ctypes' own array types cannot be referred to weakly.
    return type("_View", (ctypes.c_char * size,), {})


def memory_at(address: int, size: int, release: str, handle: int) -> Any:
    """`size` > 0 bytes at an address as an object with the buffer protocol; when the last array over it is gone, the
    library's function `release` gets `handle`: local, without MPI, on any thread."""
    view = _view_type(size).from_address(address)
    release_with(view, release, handle)
    return view


def array_over(memory: Any, world: str, dtype: DType, shape: Sequence[int]) -> Any:
    """A writable numpy array or torch tensor over all of `memory`, which it keeps alive."""
    if world == _buffers.TORCH:
        torch = dtypes.import_torch()
        # .data: neither a view in autograd's sense nor bound to the grad mode of its creation.
        return torch.frombuffer(memory, dtype=dtypes.torch_dtype(dtype)).view(tuple(shape)).data
    return np.frombuffer(memory, dtypes.numpy_dtype(dtype)).reshape(tuple(shape))


def fixed(tensor: Any) -> Any:
    """A torch tensor whose memory torch cannot move from now on; see _fixed_storage."""
    from ._fixed_storage import fix

    return fix(tensor)


def view(kind: str, handle: int, world: str, dtype: DType, shape: Sequence[int], address: int | None) -> Any:
    """An array over memory of a tensor or window (`kind`), which is retained while the array or a slice of it lives.
    torch cannot move it.

    Empty shapes give an empty array that refers to nothing.
    """
    count = int(np.prod(tuple(shape), dtype=np.int64))
    if count == 0 or address is None:
        return _buffers.empty(world, dtype, shape)
    getattr(_library.core(), f"syncyte_{kind}_retain")(handle)
    memory = memory_at(address, count * dtypes.itemsize(dtype), f"syncyte_{kind}_release", handle)
    array = array_over(memory, world, dtype, shape)
    return fixed(array) if world == _buffers.TORCH else array
