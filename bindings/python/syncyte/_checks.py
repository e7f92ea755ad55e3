"""Checks of arguments that several modules share; each error names the argument and its value."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from ._declarations import Op
from ._types import WindowReduction
from .errors import ArgumentError, DtypeError, Error


def wrong(
    error: type[Error], argument: str, value: object, expected: str, *, axis: int | None = None, object_: str = ""
) -> Error:
    """Returns the exception for a wrong argument: "object: argument[axis] is value; expected expected"."""
    place = "" if axis is None else f"[{axis}]"
    return error(f"{object_ and object_ + ': '}{argument}{place} is {value}; expected {expected}")


def as_op(op: WindowReduction, *, of_window: bool = False) -> Op:
    """Converts the name of a reduction: "sum", "prod", "min" and so on; with `of_window` also "replace".

    Raises ArgumentError for anything else.
    """
    if isinstance(op, Op):
        return op
    if isinstance(op, str) and op.upper() in Op.__members__:
        return Op[op.upper()]
    names = [known.name.lower() for known in Op if of_window or known is not Op.REPLACE]
    raise ArgumentError(f"op is {op!r}; expected one of {', '.join(names)}")


def as_int32(value: Any, name: str) -> int:
    number = as_index(value, name)
    if not -(2**31) <= number < 2**31:
        raise ArgumentError(f"{name} is {number}, which does not fit 32 bits")
    return number


def as_int64(value: Any, name: str) -> int:
    number = as_index(value, name)
    if not -(2**63) <= number < 2**63:
        raise ArgumentError(f"{name} is {number}, which does not fit 64 bits")
    return number


def as_index(value: Any, name: str) -> int:
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise DtypeError(f"{name} is {value!r}; expected an integer") from None


def as_numbers(values: Any, name: str, expected: str = "integers") -> list[int]:
    """Converts a sequence of integers to a list; `expected` names them in messages."""
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise DtypeError(f"{name} is {values!r}; expected a sequence of {expected}")
    try:
        numbers = list(values)
    except TypeError:  # an array of 0 dimensions
        raise DtypeError(f"{name} is {values!r}; expected a sequence of {expected}") from None
    try:
        return [operator.index(value) for value in numbers]
    except TypeError:
        return [as_index(value, f"{name}[{place}]") for place, value in enumerate(numbers)]  # names the position


def as_counts(counts: Sequence[int], name: str, factor: int = 1) -> Any:
    """Converts ranks' counts, times factor, for the C library, which checks them."""
    numbers = [as_int64(number * factor, name) for number in as_numbers(counts, name, "integers, one for each rank")]
    return (ctypes.c_int64 * len(numbers))(*numbers)


# The C library checks counts after the result is allocated: until then wrong ones must give an extent of 0 or more.


def whole_extent(counts: Sequence[int]) -> int:
    """Returns the extent of the whole array from its parts' extents."""
    return max(sum(counts), 0)


def part_extent(counts: Sequence[int], rank: int) -> int:
    """Returns the extent of a rank's part."""
    return max(counts[rank], 0) if rank < len(counts) else 0
