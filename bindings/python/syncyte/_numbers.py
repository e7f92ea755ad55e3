"""Reductions of Python's integers, whose sums and products may have more bits than the C library's integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._checks import wrong
from ._declarations import Scan
from .errors import ArgumentError

_LOW_BITS = 32


def is_number(value: object) -> bool:
    """Whether a value is a Python number, of which a reduction is a number too."""
    return isinstance(value, (bool, int, float, complex))


def is_integer(value: object) -> bool:
    """Whether it is a Python integer; True counts as 1 in sums and products."""
    return isinstance(value, int)


def split(value: int, ranks: int) -> np.ndarray:
    """Returns an integer's upper bits and its lower ones, of which each has room for a sum over the ranks."""
    most = (2**63 - 1) // ranks
    high, low = value >> _LOW_BITS, value & (2**_LOW_BITS - 1)
    if not -most <= high <= most or low > most:
        raise wrong(ArgumentError, "array", value, f"an integer of at most {most.bit_length() + _LOW_BITS} bits")
    return np.array([high, low], np.int64)


def join(sums: np.ndarray) -> int:
    """Returns the integer of the sums of its two parts."""
    high, low = sums.tolist()
    return (high << _LOW_BITS) + low


def product(values: Sequence[int], name: str, rank: int, numbers: tuple[Any, ...]) -> int:
    """Returns the product of those ranks' values that a reduction (`name`, its last arguments) combines on a rank."""
    if not name.endswith("scan"):
        return math.prod(values)
    own = 0 if name == "exscan" else 1
    if numbers[0] == Scan.FROM_LAST:
        return math.prod(values[rank + 1 - own :])
    return math.prod(values[: rank + own])
