"""Cartesian communicators: ranks on a grid."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _library
from ._checks import as_int32, as_numbers
from .comm import Comm
from .errors import DtypeError, Error, ShapeError

__all__ = ["Cart", "Halo", "Shift"]


class Shift(NamedTuple):
    """Neighbours along a dimension of a grid; PROC_NULL beyond an edge."""

    source: int  #: rank that sends to this rank
    dest: int  #: rank that receives from this rank


class Cart(Comm):
    """A communicator whose ranks lie on a grid, in row-major order. Made by syncyte.Comm.cartesian().

    Row-major: the last coordinate changes fastest. Coordinates count from 0.
    """

    @property
    def ndim(self) -> int:
        """Number of dimensions. Local."""
        return _library.core().output("syncyte_cart_ndim", self.handle)

    @property
    def dims(self) -> tuple[int, ...]:
        """Ranks along each dimension. Local."""
        return self._grid()[0]

    @property
    def periods(self) -> tuple[bool, ...]:
        """Whether each dimension is periodic. Local."""
        return tuple(bool(flag) for flag in self._grid()[1])

    def _grid(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        ndim = self.ndim
        dims, periods = (ctypes.c_int32 * ndim)(), (ctypes.c_int32 * ndim)()
        _library.core().syncyte_cart_grid(self.handle, ndim, dims, periods)
        return tuple(dims), tuple(periods)

    @property
    def coords(self) -> tuple[int, ...]:
        """Coordinates of this rank. Local."""
        return self.coords_of(self.rank)

    def coords_of(self, rank: int) -> tuple[int, ...]:
        """Returns the coordinates of a rank. Local.

        Parameters
        ----------
        rank : int
            A rank of this communicator.

        Returns
        -------
        tuple of int
            One number for each dimension.
        """
        ndim = self.ndim
        place = (ctypes.c_int32 * ndim)()
        _library.core().syncyte_cart_coordinates(self.handle, as_int32(rank, "rank"), ndim, place)
        return tuple(place)

    def rank_at(self, coords: Sequence[int]) -> int:
        """Returns the rank at some coordinates. Local.

        Parameters
        ----------
        coords : sequence of int
            One number for each dimension; they wrap round in periodic dimensions.

        Returns
        -------
        int
            A rank; PROC_NULL beyond an edge.
        """
        numbers = [as_int32(index, "coords") for index in as_numbers(coords, "coords")]
        place = (ctypes.c_int32 * len(numbers))(*numbers)
        return _library.core().output("syncyte_cart_rank", self.handle, len(numbers), place)

    def shift(self, dimension: int, displacement: int = 1) -> Shift:
        """Returns this rank's neighbours in a shift, in which all ranks send `displacement` places up. Local.

        Parameters
        ----------
        dimension : int
            Dimension of the grid.
        displacement : int
            Number of places; negative: down.

        Returns
        -------
        Shift
            Source and destination; PROC_NULL beyond an edge.
        """
        along, places = as_int32(dimension, "dimension"), as_int32(displacement, "displacement")
        return Shift(*_library.core().output("syncyte_cart_shift", self.handle, along, places))

    def _state(self) -> str:
        try:
            return f"{super()._state()}, at {self.coords} of dims {self.dims}, periods {self.periods}"
        except Error:  # freed, or Syncyte has ended
            return super()._state()


def extents_and_flags(dims: Sequence[int], periods: bool | Sequence[bool]) -> tuple[int, Any, Any]:
    """Converts a new grid's arguments for the C library: number of dimensions, extents, periods."""
    places = [as_int32(extent, "dims") for extent in as_numbers(dims, "dims", "integers, one per dimension")]
    if not isinstance(periods, (bool, list, tuple, np.ndarray)):
        raise DtypeError(f"periods is {periods!r}; expected True or False, or a sequence of them, one per dimension")
    flags = [periods] * len(places) if isinstance(periods, bool) else [bool(flag) for flag in periods]
    if len(flags) != len(places):
        raise ShapeError(f"periods has {len(flags)} entries; expected {len(places)}, one per dimension")
    numbers = ctypes.c_int32 * len(places)
    return len(places), numbers(*places), numbers(*flags)


from .halo import Halo  # noqa: E402  (which imports Cart from here; this module exports it too)
