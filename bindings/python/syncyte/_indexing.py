# SPDX-License-Identifier: BSD-3-Clause
"""Indexing of a whole tensor, `t[key]`: reads one box or one gather, and applies the rest of the key locally."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np

from . import dtypes
from ._buffers import NUMPY, TORCH, refuse_masked
from .errors import ArgumentError, DtypeError, OutOfRangeError, ShapeError, UnsupportedError


class Box(NamedTuple):
    """A key that begins with an integer, a slice or None: reads a box, then applies `local` to it by select()."""

    lower: tuple[int, ...]
    extent: tuple[int, ...]
    local: tuple[Any, ...]


class Rows(NamedTuple):
    """A key with arrays of integers in the first dimensions, or a slice with steps: gathers `index`, then apply()."""

    index: Any  # valid row numbers, numpy or torch
    pick: tuple[Any, ...]  # arrays of the next dimensions, of index's shape
    rest: tuple[Any, ...]  # the remaining parts of the key


def is_array(key: object) -> bool:
    """Whether a part of a key is an array of numbers or a mask, and not a zero-dimensional integer."""
    if isinstance(key, (int, slice)):
        return False
    if isinstance(key, np.ndarray) or dtypes.is_torch_tensor(key):
        # torch.compile cannot turn a tensor of one number into a Python integer.
        return key.ndim > 0 or _is_bool(key) or dtypes.is_compiling()  # type: ignore[attr-defined]
    return isinstance(key, (list, range))


def array_kind_of(key: object) -> str | None:
    """Returns the kind of arrays in a key, torch before numpy; None if there are none."""
    parts = key if isinstance(key, tuple) else (key,)
    if any(dtypes.is_torch_tensor(part) for part in parts if not isinstance(part, np.ndarray)):
        return TORCH
    return NUMPY if any(isinstance(part, np.ndarray) for part in parts) else None


def _is_bool(array: Any) -> bool:
    return array.dtype == bool if isinstance(array, np.ndarray) else str(array.dtype) == "torch.bool"


def _is_integer(array: Any) -> bool:
    if isinstance(array, np.ndarray):  # str() of its type is slow
        return array.dtype.kind in "iu" and array.dtype.isnative
    return str(array.dtype).startswith(("torch.int", "torch.uint"))


def _consumed(part: Any) -> int:
    """Number of dimensions that a part of a key indexes."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if is_array(part) and _is_bool(part) else 1


def _no_single_bool(value: object) -> DtypeError:
    return DtypeError(
        f"an index is {value!r}, a single truth value; expected integers, slices, None, '...', or arrays of integers "
        f"or of truth values, one for each row"
    )


def _as_array(part: Any) -> Any:
    """Converts lists and ranges to arrays; an empty list selects nothing."""
    if isinstance(part, np.ndarray) and type(part) is not np.ndarray:
        refuse_masked(part, "an index")
    if isinstance(part, (bool, np.bool_)):
        raise _no_single_bool(part)
    if not isinstance(part, (list, range)):
        return part
    if dtypes.is_compiling():  # torch.compile supports torch better than numpy
        tensor = dtypes.import_torch().tensor(list(part) if isinstance(part, range) else part)
        return tensor.long() if tensor.numel() == 0 else tensor
    try:
        array = np.asarray(part)
    except ValueError as error:
        raise DtypeError(f"an index is {part!r}: {error}") from None
    return array.astype(np.int64) if array.size == 0 else array


def _expanded(key: Any, ndim: int) -> list[Any]:
    """Converts the key to a list of parts that cover all dimensions; lists become arrays."""
    parts = [_as_array(part) for part in (key if isinstance(key, tuple) else (key,))]
    used = sum(_consumed(part) for part in parts)
    if used > ndim:
        raise OutOfRangeError(f"too many indices: {used} for a tensor of {ndim} dimensions")
    fill = [slice(None)] * (ndim - used)
    where = [number for number, part in enumerate(parts) if part is Ellipsis]
    if len(where) > 1:
        raise OutOfRangeError("an index can have only one ellipsis ('...')")
    place = where[0] if where else len(parts)
    return parts[:place] + fill + parts[place + 1 :]


def _integer(part: Any, extent: int, dimension: int) -> int:
    try:
        number = operator.index(part)
    except TypeError:
        raise DtypeError(
            f"an index of dimension {dimension} is {part!r}; expected integers, slices, or arrays"
        ) from None
    if not -extent <= number < extent:
        raise OutOfRangeError(f"index {number} is out of range for dimension {dimension} of extent {extent}")
    return number + extent if number < 0 else number


def _numbers(part: slice, extent: int, dimension: int) -> range:
    """Returns the numbers that a slice selects."""
    try:
        return range(*part.indices(extent))
    except TypeError:
        raise DtypeError(f"the slice of dimension {dimension} is {part}; expected integers or None in it") from None
    except ValueError:
        raise ArgumentError(f"the slice of dimension {dimension} is {part}; expected a step other than 0") from None


def _span(numbers: Any, extent: int) -> tuple[int, int, Any]:
    """Returns begin and extent of the smallest range that contains all numbers, and the numbers relative to it."""
    if not isinstance(numbers, np.ndarray) and dtypes.is_compiling():
        return 0, extent, numbers
    if 0 in tuple(numbers.shape):
        return 0, 0, numbers
    low, high = int(numbers.min()), int(numbers.max())
    return low, high - low + 1, numbers - low


def _box(parts: list[Any], shape: tuple[int, ...]) -> Box:
    lower: list[int] = []
    extent: list[int] = []
    local: list[Any] = []
    for part in _without_masks(parts, shape):
        dimension = len(lower)
        if part is None:
            local.append(None)
            continue
        if isinstance(part, slice):
            numbers = _numbers(part, shape[dimension], dimension)
            first, last = sorted((numbers[0], numbers[-1])) if numbers else (0, -1)
            count = last - first + 1
            rest: Any = slice(None, None, numbers.step)
        elif is_array(part):
            first, count, rest = _span(wrapped(part, shape[dimension], dimension), shape[dimension])
        else:
            first, count, rest = _integer(part, shape[dimension], dimension), 1, 0
        lower.append(first)
        extent.append(count)
        local.append(rest)
    return Box(tuple(lower), tuple(extent), tuple(local))


def _without_masks(parts: list[Any], shape: tuple[int, ...], dimension: int = 0) -> list[Any]:
    """Converts masks to numbers in the parts of a key from a dimension on."""
    result: list[Any] = []
    for part in parts:
        is_mask = is_array(part) and _is_bool(part)
        result += _mask_numbers(part, shape, dimension) if is_mask else [part]
        dimension += _consumed(part)
    return result


def _mask_numbers(mask: Any, shape: tuple[int, ...], dimension: int) -> list[Any]:
    """Returns a mask's true positions, one array for each of its dimensions."""
    if mask.ndim == 0:
        raise _no_single_bool(mask)
    expected = shape[dimension : dimension + mask.ndim]
    if tuple(mask.shape) != expected:
        raise ShapeError(f"a mask has shape {tuple(mask.shape)}; expected {expected} from dimension {dimension} on")
    return list(mask.nonzero() if isinstance(mask, np.ndarray) else mask.nonzero(as_tuple=True))


def wrapped(numbers: Any, extent: int, dimension: int) -> Any:
    """Converts negative row numbers, which count from the end. Raises OutOfRangeError, naming index and position."""
    if not _is_integer(numbers):
        raise DtypeError(f"an index of dimension {dimension} is an array of {numbers.dtype}; expected integers or bool")
    if 0 in tuple(numbers.shape):
        return numbers
    if not isinstance(numbers, np.ndarray) and dtypes.is_compiling():  # the graph checks the range when it runs
        return dtypes.import_torch().where(numbers < 0, numbers.long() + extent, numbers)
    smallest, largest = int(numbers.min()), int(numbers.max())
    if smallest < -extent or largest >= extent:
        flat = np.asarray(numbers if isinstance(numbers, np.ndarray) else numbers.cpu()).ravel()
        position = int(np.flatnonzero((flat < -extent) | (flat >= extent))[0])
        raise OutOfRangeError(
            f"index {int(flat[position])} at position {position} is out of range for dimension {dimension} of extent "
            f"{extent}"
        )
    if smallest >= 0:
        return numbers
    wide = numbers.astype(np.int64) if isinstance(numbers, np.ndarray) else numbers.long()
    return wide % extent  # in a narrow type the extent might overflow


def _arrays(parts: list[Any], shape: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
    """Returns the arrays at the front of a key, masks as numbers, and the parts after them."""
    arrays: list[Any] = []
    while parts and is_array(parts[0]):
        part = parts.pop(0)
        arrays += _mask_numbers(part, shape, len(arrays)) if _is_bool(part) else [part]
    if not arrays or any(is_array(part) for part in parts):
        raise UnsupportedError(
            "an index that begins with an array must have all its arrays and masks next to each other; gather the "
            "rows, then index the result"
        )
    return [wrapped(array, shape[number], number) for number, array in enumerate(arrays)], parts


def _broadcast(arrays: list[Any]) -> list[Any]:
    if len(arrays) == 1:
        return arrays
    try:
        if any(dtypes.is_torch_tensor(array) for array in arrays):
            return list(dtypes.import_torch().broadcast_tensors(*(as_torch(array) for array in arrays)))
        return list(np.broadcast_arrays(*arrays))
    except (ValueError, RuntimeError) as error:
        raise ShapeError(f"the arrays of an index do not fit each other: {error}") from error


def _as_rows(numbers: Any) -> Any:
    """Converts row numbers for the C library: int32 or int64, contiguous."""
    if isinstance(numbers, np.ndarray):
        return np.ascontiguousarray(numbers, numbers.dtype if numbers.dtype in (np.int32, np.int64) else np.int64)
    return (numbers if str(numbers.dtype) in ("torch.int32", "torch.int64") else numbers.long()).contiguous()


def _rest(parts: list[Any], shape: tuple[int, ...], dimension: int) -> tuple[Any, ...]:
    """Checks and converts the parts from a dimension on: masks to numbers, negative numbers to positive ones."""
    result: list[Any] = []
    for part in _without_masks(parts, shape, dimension):
        if isinstance(part, slice):
            _numbers(part, shape[dimension], dimension)
        elif part is not None:
            check = wrapped if is_array(part) else _integer
            part = check(part, shape[dimension], dimension)
        result.append(part)
        dimension += part is not None
    return tuple(result)


def parse(key: Any, shape: tuple[int, ...]) -> Box | Rows:
    """Parses `t[key]` of a tensor of `shape` into the rows or box to read.

    Raises OutOfRangeError, ShapeError, DtypeError, ArgumentError, UnsupportedError (an array in the first dimension and
    another after a slice).
    """
    if is_array(key):  # the most frequent key: one array of row numbers
        array = _as_array(key)
        if array.ndim > 0 and not _is_bool(array):
            return Rows(_as_rows(wrapped(array, shape[0], 0)), (), ())
    parts = _expanded(key, len(shape))
    if isinstance(parts[0], slice) and parts[0].step is not None:
        numbers = _numbers(parts[0], shape[0], 0)
        if numbers.step != 1:  # gather the rows: a box would include all rows between them
            rows = np.arange(numbers.start, numbers.stop, numbers.step)
            return Rows(_as_rows(rows), (), _rest(parts[1:], shape, 1))
    if not is_array(parts[0]):
        return _box(parts, shape)
    arrays, rest = _arrays(parts, shape)
    first, *others = _broadcast(arrays)
    return Rows(_as_rows(first), tuple(others), _rest(rest, shape, len(arrays)))


def as_torch(numbers: Any) -> Any:
    """Converts row numbers to a torch tensor."""
    return dtypes.import_torch().from_numpy(np.array(numbers)) if isinstance(numbers, np.ndarray) else numbers


def rows_of_box(box: Box) -> tuple[range, tuple[slice, ...]]:
    """Returns the rows that contain a box, and the box's slices of these rows."""
    first, *others = zip(box.lower, box.extent, strict=True)
    parts = (slice(low, low + count) for low, count in others)
    return range(first[0], sum(first)), (slice(None), *parts)


def _is_all(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def select(array: Any, key: tuple[Any, ...]) -> Any:
    """Returns array[key], contiguous, with torch's order of dimensions and numpy's negative steps.

    `key` has a part for each dimension; its numbers are valid.
    """
    flipped: list[int] = []  # dimensions
    parts: list[Any] = []
    integers: list[Any] = []  # first pass: integers only
    for part in key:
        if part is None:
            parts.append(None)
            continue
        dimension = len(integers)
        if isinstance(part, slice) and part.step is not None and part.step < 0:
            flipped.append(dimension)
            numbers, last = range(*part.indices(array.shape[dimension])), array.shape[dimension] - 1
            part = slice(last - numbers[0], last - numbers[-1] + 1, -numbers.step) if numbers else slice(0, 0)
        is_number = not isinstance(part, slice) and not is_array(part)
        integers.append(part if is_number else slice(None))
        if not is_number:
            parts.append(part)
    return _selected(array, tuple(flipped), tuple(integers), parts)


def _selected(array: Any, flipped: tuple[int, ...], integers: tuple[Any, ...], parts: list[Any]) -> Any:
    is_torch = not isinstance(array, np.ndarray)
    parts = [_index_for(array, part) if is_array(part) else part for part in parts]
    flip = dtypes.import_torch().flip if is_torch else np.flip
    found = (flip(array, flipped) if flipped else array)[integers][tuple(parts)]
    if is_torch:
        return found.contiguous()
    return np.ascontiguousarray(found) if found.ndim > 0 else found  # ascontiguousarray would add a dimension


def _index_for(array: Any, part: Any) -> Any:
    """Converts an array of a key to the kind of the array that it indexes."""
    return np.asarray(part) if isinstance(array, np.ndarray) else dtypes.import_torch().as_tensor(part).long()


def apply(rows: Rows, gathered: Any) -> Any:
    """Returns the result of `t[key]` from the gathered rows."""
    if not rows.pick:
        trivial = all(_is_all(part) for part in rows.rest)
        return gathered if trivial else select(gathered, (slice(None),) * rows.index.ndim + rows.rest)
    count = math.prod(rows.index.shape)
    flat = gathered.reshape((count, *gathered.shape[rows.index.ndim :]))
    numbers = _index_for(gathered, np.arange(count))
    picks = [_index_for(gathered, part).reshape(-1) for part in rows.pick]
    picked = flat[(numbers, *picks)]
    picked = picked.reshape((*rows.index.shape, *picked.shape[1:]))
    return select(picked, (slice(None),) * rows.index.ndim + rows.rest)


def assigned_shape(box: Box) -> tuple[int, ...]:
    """Returns the shape of values for `t[key] = values`. Raises UnsupportedError for arrays, steps and None."""
    if any(part is None or is_array(part) or (isinstance(part, slice) and part.step != 1) for part in box.local):
        raise _not_assignable()
    return tuple(extent for extent, part in zip(box.extent, box.local, strict=True) if isinstance(part, slice))


def check_assignable(rows: Rows) -> None:
    """Raises UnsupportedError unless whole rows are selected."""
    if rows.pick or not all(_is_all(part) for part in rows.rest):
        raise _not_assignable()


def _not_assignable() -> UnsupportedError:
    return UnsupportedError("an assignment takes integers and slices without a step, or one array of rows")
