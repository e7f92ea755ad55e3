"""Atomic counters and flags: elements of int32 and int64 whole tensors."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from typing import Any

from . import _declarations as c
from . import _library
from ._checks import as_index, as_int64
from ._handles import Handle
from ._types import Comparison
from .errors import ArgumentError, DtypeError, OutOfRangeError, ShapeError, WaitTimeoutError

# Seconds between a wait's checks for signals (Ctrl-C).
_INTERRUPT_INTERVAL = 0.25
_COMPARISONS = {"==": c.Compare.EQ, "!=": c.Compare.NE, ">=": c.Compare.GE, "<=": c.Compare.LE}


class Counters(Handle):
    """Methods of WholeTensor for single elements. All are local."""

    _shape: tuple[int, ...]
    _name: str | None

    def _called(self) -> str:
        return f"tensor {self._name!r}" if self._name else f"the tensor of shape {self._shape}"

    def _element(self, element: int | Sequence[int]) -> int:
        if not isinstance(element, (tuple, list)):
            return as_index(element, "element")
        if len(element) != len(self._shape):
            raise ShapeError(
                f"element is {tuple(element)}; expected {len(self._shape)} numbers, or one in row-major order"
            )
        number = 0
        for part, extent in zip(element, self._shape, strict=True):
            index = as_index(part, "element")
            if not -extent <= index < extent:
                raise OutOfRangeError(f"element {tuple(element)} is outside the tensor of shape {self._shape}")
            number = number * extent + index % extent
        return number

    def fetch_add(self, element: int | Sequence[int], value: int = 1) -> int:
        """Adds to one element; atomic, acquire and release. Local.

        Parameters
        ----------
        element : int or sequence of int
            Its number in row-major order, or one number for each dimension.
        value : int
            Number to add.

        Returns
        -------
        int
            The old value.
        """
        previous = ctypes.c_int64()
        _library.core().syncyte_tensor_fetch_add(
            self.handle, self._element(element), as_int64(value, "value"), ctypes.byref(previous)
        )
        return previous.value

    def compare_swap(self, element: int | Sequence[int], expected: int, desired: int) -> int:
        """Writes desired to one element if it equals expected; atomic, acquire and release. Local.

        Parameters
        ----------
        element : int or sequence of int
            As of fetch_add().
        expected, desired : int
            Value to compare with, and value to write if they are equal.

        Returns
        -------
        int
            The old value.
        """
        previous = ctypes.c_int64()
        _library.core().syncyte_tensor_compare_swap(
            self.handle,
            self._element(element),
            as_int64(expected, "expected"),
            as_int64(desired, "desired"),
            ctypes.byref(previous),
        )
        return previous.value

    def load(self, element: int | Sequence[int]) -> int:
        """Reads one element; acquire. Local.

        Parameters
        ----------
        element : int or sequence of int
            As of fetch_add().

        Returns
        -------
        int
            Its value.
        """
        value = ctypes.c_int64()
        _library.core().syncyte_tensor_load(self.handle, self._element(element), ctypes.byref(value))
        return value.value

    def store(self, element: int | Sequence[int], value: int) -> None:
        """Writes one element; release: a rank that reads the new value sees earlier writes of this rank. Local.

        Parameters
        ----------
        element : int or sequence of int
            As of fetch_add().
        value : int
            Value to write.
        """
        _library.core().syncyte_tensor_store(self.handle, self._element(element), as_int64(value, "value"))

    def wait(self, element: int | Sequence[int], compare: Comparison, value: int, timeout: float | None = None) -> int:
        """Waits, mostly asleep, until a comparison of one element is true; acquire. Local. Ctrl-C works.

        Parameters
        ----------
        element : int or sequence of int
            As of fetch_add().
        compare : {"==", "!=", ">=", "<="}
            Comparison of the element with value.
        value : int
            Value to compare with.
        timeout : float, optional
            Seconds; None: no limit.

        Returns
        -------
        int
            The element.

        Raises
        ------
        WaitTimeoutError
            After timeout seconds (a TimeoutError).
        DtypeError
            An argument that is not a number.
        """
        if not isinstance(compare, str) or compare not in _COMPARISONS:
            raise ArgumentError(f"compare is {compare!r}; expected one of {', '.join(_COMPARISONS)}")
        limit = None if timeout is None else _seconds(timeout, "timeout")
        number, wanted = self._element(element), as_int64(value, "value")
        end = None if limit is None else time.monotonic() + limit
        while True:
            left = _INTERRUPT_INTERVAL if end is None else min(_INTERRUPT_INTERVAL, max(0.0, end - time.monotonic()))
            found = ctypes.c_int64()
            try:
                _library.core().syncyte_tensor_wait(
                    self.handle, number, int(_COMPARISONS[compare]), wanted, left, ctypes.byref(found)
                )
                return found.value
            except WaitTimeoutError:
                if end is not None and time.monotonic() >= end:
                    raise WaitTimeoutError(
                        f"wait: element {number} of {self._called()} is {self.load(number)}; it was not {compare} "
                        f"{value} within {limit} s"
                    ) from None


def _seconds(value: Any, name: str) -> float:
    try:
        seconds = float("none" if isinstance(value, (str, bytes, bytearray)) else value)  # float() would accept "1"
    except (TypeError, ValueError):
        raise DtypeError(f"{name} is {value!r}; expected a number of seconds, or None") from None
    if not seconds >= 0:
        raise ArgumentError(f"{name} is {value}; expected 0 or more seconds, or None")
    return seconds
