"""Gather from any array in this process's memory."""

from __future__ import annotations

from typing import Any

from . import _library, dtypes
from ._arrays import empty
from ._buffers import NOT_RECORDED, as_buffer
from ._checks import wrong
from .errors import ShapeError


def gather_rows(table: Any, index: Any, *, dtype: dtypes.DTypeLike = None, out: Any = None) -> Any:
    """Reads rows of an array: ``result[i] = table[index[i]]``; checks the index, and may convert types. Local.

    Parameters
    ----------
    table : array
        1 or more dimensions, any strides, numpy or torch, in host memory.
    index : array of int32 or int64
        Any number of dimensions; contiguous. Rows may repeat.
    dtype : element type, optional
        Element type of the result, by default the table's. float16, bfloat16, float32 and float64 are converted into
        each other, float64 to 16-bit types by way of float32.
    out : array, optional
        Contiguous, of the result's shape and element type; must not overlap the table.

    Returns
    -------
    array
        ``out``, or a new array of the table's kind and of shape ``index.shape + table.shape[1:]``.

    Raises
    ------
    OutOfRangeError
        Names the first index that is out of range, and its position; nothing was written.
    DtypeError, ShapeError
        Types that cannot be converted; strides or shapes that do not fit.
    """
    source = as_buffer(table, "table", contiguous=False, recorded_by=NOT_RECORDED)
    rows = as_buffer(index, "index")
    expected = None if dtype is None else dtypes.as_dtype(dtype)
    shape = rows.shape + source.shape[1:]
    if out is None:
        out = empty(source.array_kind, source.dtype if expected is None else expected, shape)
    target = as_buffer(out, "out", writable=True, expected=expected)
    if target.shape != shape:
        raise wrong(ShapeError, "out", f"of shape {target.shape}", f"shape {shape}")
    _library.core().syncyte_rows_gather(source.reference, rows.reference, target.reference)
    target.written()
    return out
