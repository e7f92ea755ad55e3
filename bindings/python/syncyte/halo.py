# SPDX-License-Identifier: BSD-3-Clause
"""Halo exchange between neighbours on a grid of ranks."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Sequence
from typing import Any

from . import _declarations as c
from . import _library, dtypes
from ._buffers import Buffer, as_buffer
from ._checks import as_int64, as_numbers, check_kind, integers
from ._handles import Access, Handle
from ._requests import Request, _Started, drop, start
from ._types import Array
from .comm import Cart, no_part

__all__ = ["Halo"]


def _widths(value: Any, name: str, count: int) -> Any:
    try:
        numbers = [operator.index(value)] * count
    except TypeError:
        numbers = as_numbers(value, name, f"{count} integers, one per dimension, or one integer for all")
    return integers(ctypes.c_int64, numbers, name)


def _axes(value: Any) -> Any:
    return integers(ctypes.c_int32, as_numbers(value, "axes", "axes, one per dimension of the grid"), "axes")


def _interior(shape: tuple[int, ...], axes: Sequence[int], low: Any, high: Any) -> tuple[slice, ...]:
    interior = [slice(None)] * len(shape)
    for axis, first, last in zip(axes, low, high, strict=True):
        interior[axis] = slice(first, shape[axis] - last)
    return tuple(interior)


class Halo(Handle):
    """The plan of an exchange of ghost cells, which are copies of neighbours' cells, for arrays of one type and shape.

    It is made once, collectively; exchanges are messages between neighbours only. Dimension d of the grid cuts axis
    axes[d] of the array, which has low[d] and high[d] ghost cells at its ends. Ghosts beyond an edge that is not
    periodic are not written.
    """

    kind = "halo"

    def __init__(
        self,
        cart: Cart,
        shape: Sequence[int],
        dtype: Any,
        low: int | Sequence[int],
        high: int | Sequence[int] | None = None,
        *,
        axes: Sequence[int] | None = None,
        corners: bool = True,
    ):
        """Makes a halo. Collective.

        Element type, widths, axes, corners and the extents along axes that are not cut must be equal.

        Parameters
        ----------
        cart : Cart
            The grid of ranks.
        shape : sequence of int
            Shape of this rank's arrays, ghosts included; extents along cut axes may differ between ranks.
        dtype : element type
            Element type of the arrays.
        low, high : int or sequence of int
            Ghosts at both ends, one number or one for each dimension of the grid; high None: as low.
        axes : sequence of int, optional
            Axis that each dimension of the grid cuts, negative from the end; None: 0, 1, ...
        corners : bool
            Whether to fill ghosts beyond several borders too.
        """
        if cart is None:
            raise no_part("cart")
        check_kind(cart, Cart, "cart", "a syncyte.Cart (see Comm.cartesian)")
        self._cart = cart
        self._refused: _Started | None = None  # passes the error of a wrong array to the neighbours
        count = cart.ndim

        def prepare() -> tuple[Any, ...]:
            self._shape = tuple(as_int64(extent, "shape") for extent in as_numbers(shape, "shape", "extents"))
            cut = None if axes is None else _axes(axes)
            self._dtype = dtypes.as_dtype(dtype)
            widths = _widths(low, "low", count), _widths(low if high is None else high, "high", count)
            return cut, *widths, _library.new_struct(c.HaloOptions, corners=int(bool(corners)))

        cut, below, above, options = cart._prepare("halo_create", prepare, always=True)
        extents = integers(ctypes.c_int64, self._shape or (0,), "shape")
        array = self._dtype, len(self._shape), extents
        widths = len(below), below, len(above), above, len(cut or ()), cut
        self._own(_library.core().output("syncyte_halo_create", cart.handle, *array, *widths, options))
        used = range(count) if cut is None else [axis % len(self._shape) for axis in cut]
        self._interior = _interior(self._shape, used, below, above)
        self._ghosts = f"{tuple(below)} below and {tuple(above)} above axes {tuple(used)}"
        self._corners = bool(corners)

    @property
    def cart(self) -> Cart:
        """The communicator."""
        return self._cart

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of this rank's arrays, ghosts included."""
        return self._shape

    @property
    def dtype(self) -> c.DType:
        """Element type of the arrays."""
        return self._dtype

    @property
    def interior(self) -> tuple[slice, ...]:
        """Slices of the interior: array[halo.interior] is a view without ghosts."""
        return self._interior

    def __repr__(self) -> str:
        corners = "" if self._corners else ", no corners"
        freed = ", freed" if self._is_freed else ""
        return (
            f"<syncyte.Halo of arrays of shape {self._shape}, {self._dtype.name.lower()}: "
            f"ghosts {self._ghosts}{corners}, over {self._cart!r}{freed}>"
        )

    def _refuse(self, function: str = "syncyte_halo_exchange", *outputs: Any) -> None:
        """Passes the error of a wrong array to the neighbours: the C library refuses an empty description."""
        _library.call_refused(function, self.handle, c.BufferDescription(), *outputs)

    def _buffer(self, array: Any, function: str, *outputs: Any) -> Buffer:
        if self._refused is not None:  # it keeps the halo busy until the neighbours have the error
            self._refused.complete()
            self._refused = None
        try:
            return as_buffer(array, "array", writable=True, contiguous=False, recorded_by="halo_exchange")
        except Exception:
            self._refuse(function, *outputs)
            raise

    def _call(self, name: str, array: Any) -> Any:
        buffer = self._buffer(array, f"syncyte_halo_{name}")
        return self._run(name, Access((buffer,), (buffer.reference,), array, buffer))

    def exchange(self, array: Array) -> Array:
        """Fills the ghosts, in place. All ranks call it; waits for the neighbours only.

        Parameters
        ----------
        array : array
            Array of the halo's element type and shape, any strides.

        Returns
        -------
        array
            `array`.

        Raises
        ------
        DtypeError, ShapeError, ArgumentError
            Here and on the neighbours: a wrong array.
        """
        return self._call("exchange", array)

    def accumulate(self, array: Array) -> Array:
        """Adjoint of exchange(), in place: adds the ghosts to the cells that they copy, and sets them to 0.

        Parameters, result and errors as of exchange().
        """
        return self._call("accumulate", array)

    def _start(self, function: str, array: Any) -> Request[None]:
        refused = ctypes.c_void_p()
        try:
            buffer = self._buffer(array, function, refused)
        finally:
            if refused.value is not None:
                self._refused = drop(refused.value, None)
        return start(function, self.handle, buffer.reference, arrays=buffer, finish=buffer.mark_written)

    def iexchange(self, array: Any) -> Request[None]:
        """Starts to fill the ghosts, and does not wait.

        Until the request has ended, ghosts must not be read, and cells that ghosts copy must not be written.

        Parameters
        ----------
        array : array
            As of exchange().

        Returns
        -------
        Request
            The request; its result is None.

        Raises
        ------
        BusyError
            Another exchange of this halo is in flight. Others as of exchange().
        """
        return self._start("syncyte_halo_iexchange", array)

    def iaccumulate(self, array: Any) -> Request[None]:
        """Starts the adjoint, and does not wait; until the end the array must not be used.

        Parameters, result and errors as of iexchange().
        """
        return self._start("syncyte_halo_iaccumulate", array)
