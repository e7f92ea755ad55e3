# SPDX-License-Identifier: BSD-3-Clause
"""One element of an element type from a Python number, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _library, dtypes
from ._buffers import as_buffer
from ._checks import wrong
from .errors import ArgumentError, DtypeError

_COMPLEX_PARTS = {dtypes.DType.COMPLEX64: dtypes.DType.FLOAT32, dtypes.DType.COMPLEX128: dtypes.DType.FLOAT64}


def as_element(value: Any, dtype: dtypes.DType, name: str) -> np.ndarray:
    """Converts a number to an array of one element, without dimensions; of a type that numpy lacks, it holds the bits.

    Integers are held exactly, or refused. Other numbers are rounded to floating-point and complex types, but not beyond
    their range. Raises DtypeError for anything that is no number, or a number of another kind (1.5 or 2.0 for integers,
    complex for real types), and ArgumentError for a value that the type does not have.
    """
    number, word = _as_number(value, name), dtype.name.lower()
    if dtype in _COMPLEX_PARTS:
        if isinstance(number, complex):
            parts = number.real, number.imag
        else:
            parts = number, 0.0
        real, imaginary = (as_element(part, _COMPLEX_PARTS[dtype], name) for part in parts)
        result = np.empty((), dtypes.numpy_dtype(dtype))
        result.real, result.imag = real, imaginary
        return result
    if isinstance(number, complex):
        raise wrong(DtypeError, name, repr(value), f"a real number, as {word} holds")
    if dtype in dtypes.NUMPY_LACKS or dtypes.numpy_dtype(dtype).kind == "f":
        return _as_float(number, dtype, name)
    if not isinstance(number, int):
        raise wrong(DtypeError, name, repr(value), f"an integer, as {word} holds")
    least, most = _range_of(dtype)
    if not least <= number <= most:
        raise wrong(ArgumentError, name, number, f"{least} to {most}, as {word} holds")
    return np.array(number, dtypes.numpy_dtype(dtype))


def as_own_element(value: Any, dtype: dtypes.DTypeLike, default: dtypes.DType, name: str) -> np.ndarray:
    """Calls as_element(), without a dtype with the default type: an array or scalar of another type is then refused.

    Memory without a type would take its bytes for another number.
    """
    own = _own_type(value)
    if dtype is None and own is not None and own != default:
        expected = f"{default.name.lower()}, or dtype=, the type of the element in memory"
        raise wrong(DtypeError, name, f"of {own.name.lower()}", expected)
    if dtype is None and isinstance(value, float):
        raise wrong(DtypeError, name, repr(value), f"an integer, or dtype=, which is {default.name.lower()} by default")
    return as_element(value, default if dtype is None else dtypes.as_dtype(dtype), name)


def from_element(element: np.ndarray, dtype: dtypes.DType) -> Any:
    """Returns the Python number of one element."""
    return (_converted(element, dtype, dtypes.DType.FLOAT32) if dtype in dtypes.NUMPY_LACKS else element).item()


def _own_type(value: Any) -> dtypes.DType | None:
    if isinstance(value, (np.generic, np.ndarray)):
        return dtypes.from_numpy(value.dtype)
    return dtypes.from_torch(value.dtype) if dtypes.is_torch_tensor(value) else None


def _as_number(value: Any, name: str) -> int | float | complex:
    number = value
    if dtypes.is_torch_tensor(value) or isinstance(value, (np.generic, np.ndarray)):
        number = value.item() if math.prod(value.shape) == 1 else None
    elif hasattr(value, "__index__"):
        number = value.__index__()
    if not isinstance(number, (int, float, complex)):
        raise wrong(DtypeError, name, repr(value), "a number")
    return number


def _range_of(dtype: dtypes.DType) -> tuple[int, int]:
    if dtype == dtypes.DType.BOOL:
        return 0, 1
    limits = np.iinfo(dtypes.numpy_dtype(dtype))
    return int(limits.min), int(limits.max)


def _as_float(number: int | float, dtype: dtypes.DType, name: str) -> np.ndarray:
    word = dtype.name.lower()
    try:
        element = _rounded(number, dtype)
    except OverflowError:  # an integer beyond the range of float
        raise wrong(ArgumentError, name, number, f"a number within the range of {word}") from None
    held = from_element(element, dtype)
    if math.isinf(held) and not math.isinf(number):
        raise wrong(ArgumentError, name, number, f"a number within the range of {word}")
    if isinstance(number, int) and held != number:
        raise wrong(ArgumentError, name, number, f"an integer that {word} holds exactly")
    return element


def _rounded(number: int | float, dtype: dtypes.DType) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype not in dtypes.NUMPY_LACKS:
            return np.array(float(number), dtypes.numpy_dtype(dtype))
        number = math.nan if math.isnan(number) else number  # without sign and payload
        return _converted(np.array(number, np.float32), dtypes.DType.FLOAT32, dtype)


def _converted(element: np.ndarray, dtype: dtypes.DType, to: dtypes.DType) -> np.ndarray:
    """Converts an element as gather_rows() does, and by bits where numpy lacks a type."""
    result = np.empty((), dtypes.numpy_dtype(to))
    table = as_buffer(element.reshape(1), "element", expected=dtype)
    row = as_buffer(np.zeros((), np.int32), "index")
    target = as_buffer(result, "result", writable=True, expected=to)
    _library.core().syncyte_rows_gather(table.reference, row.reference, target.reference)
    return result
