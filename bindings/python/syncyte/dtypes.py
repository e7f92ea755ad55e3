# SPDX-License-Identifier: BSD-3-Clause
"""Conversion of element types between Syncyte, numpy and torch. Only torch_dtype() and import_torch() import torch."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ._declarations import DType
from ._modules import loaded
from .errors import DtypeError, UnsupportedError

if TYPE_CHECKING:
    import torch

__all__ = ["DType", "DTypeLike", "as_dtype"]

#: An element type: a DType, its name, a numpy dtype or scalar type, or a torch dtype.
DTypeLike = Any

_NAMES: dict[str, DType] = {member.name.lower(): member for member in DType}
#: Element types that numpy lacks, and the numpy type that holds their bits; as_buffer() accepts such an array if the
#: element type is expected.
NUMPY_LACKS = {DType.BFLOAT16: np.dtype(np.uint16)}
_NUMPY = {dtype: NUMPY_LACKS.get(dtype) or np.dtype(dtype.name.lower()) for dtype in DType}
_FROM_NUMPY = {found: dtype for dtype, found in _NUMPY.items() if dtype not in NUMPY_LACKS}
_from_torch: dict[Any, DType] = {}
_torch: ModuleType | None = None  # once it is loaded; this is asked of every array


def loaded_torch() -> ModuleType | None:
    """Returns the module torch, if the program has imported it; None while a thread still imports it."""
    global _torch
    if _torch is None:
        _torch = loaded("torch")
    return _torch


def import_torch() -> ModuleType:
    """Imports and returns the module torch. Raises UnsupportedError if it is not installed."""
    try:
        import torch
    except ImportError as error:
        raise UnsupportedError(f"this needs PyTorch, which cannot be imported: {error}") from error
    return torch


def is_torch_tensor(value: object) -> bool:
    """Whether value is a torch tensor; never imports torch."""
    torch_module = loaded_torch()
    return torch_module is not None and isinstance(value, torch_module.Tensor)


def is_torch_dtype(value: object) -> bool:
    """Whether value is a torch dtype; never imports torch."""
    torch_module = loaded_torch()
    return torch_module is not None and isinstance(value, torch_module.dtype)


def is_compiling() -> bool:
    """Whether torch.compile is tracing, so that ctypes and branches on values are impossible. Never imports torch."""
    torch_module = loaded_torch()
    return torch_module is not None and torch_module.compiler.is_compiling()


def itemsize(dtype: DType) -> int:
    """Returns the bytes of one element."""
    return _NUMPY[dtype].itemsize


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Returns numpy's dtype; for NUMPY_LACKS the dtype of the bits."""
    return _NUMPY[dtype]


@functools.cache
def torch_dtype(dtype: DType) -> torch.dtype:
    """Returns torch's dtype; imports torch."""
    return getattr(import_torch(), dtype.name.lower())


def from_torch(dtype: torch.dtype) -> DType:
    """Converts a torch dtype.

    Raises DtypeError for one that Syncyte does not have.
    """
    found = _from_torch.get(dtype)
    if found is None:
        found = _NAMES.get(str(dtype).removeprefix("torch."))
        if found is None:
            raise DtypeError(f"{dtype} is not an element type of Syncyte ({', '.join(_NAMES)})")
        _from_torch[dtype] = found
    return found


def from_numpy(dtype: np.dtype[Any]) -> DType:
    """Converts a numpy dtype, also ml_dtypes' bfloat16.

    Raises DtypeError for one that Syncyte does not have.
    """
    found = _FROM_NUMPY.get(dtype)
    if found is not None and dtype.isnative:
        return found
    if (named := _NAMES.get(dtype.name)) in NUMPY_LACKS:
        return named
    reason = "not in this machine's byte order" if not dtype.isnative else "not an element type of Syncyte"
    raise DtypeError(f"numpy's {dtype!r} is {reason} ({', '.join(_NAMES)})")


def as_dtype(dtype: DTypeLike) -> DType:
    """Converts a name or dtype to a syncyte.DType. Local.

    Parameters
    ----------
    dtype : element type
        A syncyte.DType, a name ("float32", "bfloat16"), a numpy dtype or scalar type, or a torch dtype.

    Returns
    -------
    DType
        The element type.

    Raises
    ------
    DtypeError
        Anything else.
    """
    if isinstance(dtype, DType):
        return dtype
    if is_torch_dtype(dtype):
        return from_torch(dtype)
    if isinstance(dtype, str) and dtype in _NAMES:
        return _NAMES[dtype]
    if isinstance(dtype, (int, np.integer)):  # np.dtype() would accept some integers
        raise DtypeError(f"dtype is the number {dtype}; expected a syncyte.DType, a name, a numpy or a torch dtype")
    try:
        converted = np.dtype(dtype)
    except TypeError:
        raise DtypeError(f"dtype is {dtype!r}; expected one of {', '.join(_NAMES)}") from None
    return from_numpy(converted)
