# SPDX-License-Identifier: BSD-3-Clause
"""Reductions of numbers: what a rank sends, and the product of integers, which may have more than 64 bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._checks import as_int64, wrong
from .errors import ArgumentError

_MOST = 2**63 - 1


def is_number(value: object) -> bool:
    """Whether a value is a Python number, or an integer or truth value of numpy; a reduction of it is a number too."""
    return isinstance(value, (bool, int, float, complex, np.integer, np.bool_))


def is_integer(value: object) -> bool:
    """Whether a value is a number without a fraction; True counts as 1 in sums and products."""
    return isinstance(value, (int, np.integer, np.bool_))


def summand(value: Any, ranks: int) -> np.ndarray:
    """Converts an integer to an int64 element. Raises ArgumentError if a sum over the ranks might not fit 64 bits."""
    number, most = int(value), _MOST // ranks
    if abs(number) > most:
        expected = f"an integer from -{most} to {most}, because the sum over {ranks} ranks must fit 64 bits"
        raise wrong(ArgumentError, "array", number, expected)
    return np.asarray(number, np.int64)


def factor(value: Any) -> np.ndarray:
    """Converts an integer to an int64 element. Raises ArgumentError if it does not fit."""
    return np.asarray(as_int64(int(value), "array"), np.int64)


def product(values: Sequence[int], name: str, rank: int, numbers: tuple[Any, ...]) -> int:
    """Returns the product of the values that a reduction (`name`, its last arguments) combines on a rank."""
    if not name.endswith("scan"):
        return math.prod(values)
    own = 0 if name == "exscan" else 1
    if numbers[0]:  # reverse
        return math.prod(values[rank + 1 - own :])
    return math.prod(values[: rank + own])


def store_product(value: int, out: Any) -> None:
    """Writes a product to an int64 array of one element. Raises ArgumentError if it does not fit."""
    if not -_MOST - 1 <= value <= _MOST:
        raise wrong(ArgumentError, "out", f"an int64 array for the product {value}", "no out, which gives a number")
    out[...] = value
