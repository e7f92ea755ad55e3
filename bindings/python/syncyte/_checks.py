# SPDX-License-Identifier: BSD-3-Clause
"""Checks of arguments that several modules share; each error names the argument and its value."""

from __future__ import annotations

import ctypes
import functools
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from ._declarations import Op
from ._foreign import find_op
from .errors import ArgumentError, DtypeError, Error, ErrorFields


def wrong(error: type[Error], argument: str, value: object, expected: str, *, axis: int | None = None) -> Error:
    """Returns the exception for a wrong argument: "argument[axis] is value; expected expected"."""
    place = "" if axis is None else f"[{axis}]"
    made = error(f"{argument}{place} is {value}; expected {expected}")
    made.fields = ErrorFields(argument=argument, axis=-1 if axis is None else axis, value=str(value), expected=expected)
    return made


def check_kind(value: object, kind: type | tuple[type, ...], name: str, expected: str) -> None:
    """Raises DtypeError if a value is not an object of a class."""
    if not isinstance(value, kind):
        raise wrong(DtypeError, name, f"a {type(value).__name__}", expected)


def at_least(least: int, value: int, name: str) -> int:
    """Returns the value. Raises ArgumentError if it is less."""
    if value < least:
        raise wrong(ArgumentError, name, value, f"{least} or more")
    return value


def as_op(op: Any, *, of_window: bool = False) -> Op:
    """Converts a reduction: "sum", "prod", "min" and so on, with `of_window` also "replace"; mpi4py's, or torch's.

    Raises ArgumentError for anything else.
    """
    if isinstance(op, Op):
        return op
    if isinstance(op, str) and op.upper() in Op.__members__:
        return Op[op.upper()]
    known = find_op(op)
    if known is not None:
        return known
    names = [each.name.lower() for each in Op if of_window or each is not Op.REPLACE]
    raise wrong(ArgumentError, "op", repr(op), f"one of {', '.join(names)}")


# ctypes cuts off the bits of an integer that do not fit. Therefore every integer for the C library passes one of these:
# an argument as_int32() and so on, a list integers(), the member of a structure checked_members().


def as_int32(value: Any, name: str) -> int:
    if type(value) is int and -(2**31) <= value < 2**31:  # the shortest way
        return value
    return _within(value, name, -(2**31), 2**31 - 1, "-2^31 to 2^31 - 1")


def as_int64(value: Any, name: str) -> int:
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    return _within(value, name, -(2**63), 2**63 - 1, "-2^63 to 2^63 - 1")


def _within(value: Any, name: str, least: int, most: int, expected: str, axis: int | None = None) -> int:
    number = as_index(value, name, axis=axis)
    if not least <= number <= most:
        raise wrong(ArgumentError, name, number, expected, axis=axis)
    return number


def integers(kind: Any, values: Sequence[Any], name: str) -> Any:
    """Converts numbers to a C array of ctypes' integers of a kind."""
    least, most, expected = _bounds(kind)
    numbers = (_within(value, name, least, most, expected, axis) for axis, value in enumerate(values))
    return (kind * len(values))(*numbers)


@functools.cache
def _bounds(kind: Any) -> tuple[int, int, str]:
    bits, is_signed = 8 * ctypes.sizeof(kind), kind(-1).value < 0
    if is_signed:
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, f"-2^{bits - 1} to 2^{bits - 1} - 1"
    return 0, 2**bits - 1, f"0 to 2^{bits} - 1"


@functools.cache
def _integer_members(structure: type[ctypes.Structure]) -> dict[str, Any]:
    return {name: kind for name, kind, *_ in structure._fields_ if getattr(kind, "_type_", "") in _INTEGER_CODES}


_INTEGER_CODES = tuple("bBhHiIlLqQ")


def checked_members(structure: type[ctypes.Structure], values: dict[str, Any]) -> dict[str, Any]:
    """Checks the integer members of a structure."""
    kinds = _integer_members(structure)
    return {
        name: _within(value, name, *_bounds(kinds[name])) if name in kinds else value for name, value in values.items()
    }


def as_size(value: Any, name: str) -> int:
    """Converts a size. Raises DtypeError, or ArgumentError if it is negative or does not fit 64 bits."""
    number = as_index(value, name)
    if not 0 <= number < 2**63:
        raise wrong(ArgumentError, name, number, "0 to 2^63 - 1")
    return number


def as_index(value: Any, name: str, *, axis: int | None = None) -> int:
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise wrong(DtypeError, name, repr(value), "an integer", axis=axis) from None


def as_text(value: Any, name: str, expected: str, *, may_be_empty: bool = False) -> str:
    """Checks a text for the C library. Raises DtypeError, or ArgumentError if it is empty or has a zero character."""
    if not isinstance(value, str):
        raise wrong(DtypeError, name, repr(value), "a string")
    if "\0" in value or not (value or may_be_empty):
        raise wrong(ArgumentError, name, repr(value), expected)
    return value


def as_float(value: Any, *refused: type) -> float:
    """Converts a number. Raises TypeError for a text, which float() accepts, and for the refused types."""
    if isinstance(value, (str, bytes, bytearray, *refused)):
        raise TypeError(f"a {type(value).__name__} is not a number")
    return float(value)


def as_seconds(value: Any, name: str) -> float:
    """Converts a time limit, which may be infinite. Raises DtypeError or ArgumentError for anything else."""
    try:
        seconds = as_float(value, bool)
    except (TypeError, ValueError):
        raise wrong(DtypeError, name, repr(value), "a number of seconds, or None") from None
    except OverflowError:  # an integer that no double holds
        seconds = math.inf if value > 0 else -math.inf
    if not seconds >= 0:
        raise wrong(ArgumentError, name, value, "a number of seconds, 0 or more, or None")
    return seconds


def as_numbers(values: Any, name: str, expected: str = "integers") -> list[int]:
    """Converts a sequence of integers to a list; `expected` names them in messages."""
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise wrong(DtypeError, name, repr(values), f"a sequence of {expected}")
    try:
        numbers = list(values)
    except TypeError:  # an array of 0 dimensions
        raise wrong(DtypeError, name, repr(values), f"a sequence of {expected}") from None
    try:
        return [operator.index(value) for value in numbers]
    except TypeError:
        return [as_index(value, name, axis=place) for place, value in enumerate(numbers)]  # names the position


def as_counts(counts: Sequence[int], name: str, factor: int = 1) -> Any:
    """Converts ranks' counts, times factor, for the C library, which checks them."""
    numbers = [number * factor for number in as_numbers(counts, name, "integers, one for each rank")]
    return integers(ctypes.c_int64, numbers, name)


# The C library checks counts after the result is allocated: until then wrong ones must give an extent of 0 or more.


def whole_extent(counts: Sequence[int]) -> int:
    """Returns the extent of the whole array from its parts' extents."""
    return max(sum(counts), 0)


def part_extent(counts: Sequence[int], rank: int) -> int:
    """Returns the extent of a rank's part."""
    return max(counts[rank], 0) if rank < len(counts) else 0
