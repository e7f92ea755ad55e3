"""Views of tensors, windows and caches: arrays over their memory, which keep it alive as long as a slice lives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _library, dtypes
from ._buffers import TORCH
from ._declarations import DType


def fixed(tensor: Any) -> Any:
    """Prevents torch from moving a tensor's memory; see _fixed_storage."""
    from ._fixed_storage import fix

    return fix(tensor)


def view(kind: str, handle: int, array_kind: str, dtype: DType, shape: Sequence[int], address: int | None) -> Any:
    """Returns an array over memory of a tensor or window (`kind`), retained while the array or a slice of it lives.

    torch cannot move it. An empty shape gives an empty array without a reference.
    """
    count = int(np.prod(tuple(shape), dtype=np.int64))
    if count == 0 or address is None:
        return _arrays.fresh(array_kind, dtype, shape)
    getattr(_library.core(), f"syncyte_{kind}_retain")(handle)
    memory = _arrays.memory_at(address, count * dtypes.itemsize(dtype), f"syncyte_{kind}_release", handle)
    array = _arrays.array_over(memory, array_kind, dtype, shape)
    return fixed(array) if array_kind == TORCH else array
