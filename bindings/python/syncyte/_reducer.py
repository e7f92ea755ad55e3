"""Sums pieces of memory (buckets) over all ranks, in place, while the ranks compute."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from . import _declarations as c
from . import _library, _views, dtypes
from ._handles import Handle
from .comm import COMM_WORLD, Comm, comm_or_world


class Reducer(Handle):
    """Pieces of memory that are summed over ranks; each has elements of one dtype.

    In a round every rank fills its pieces and starts each one as soon as it is full, in any order; after :meth:`wait`
    they hold scale times the sums, bitwise equal on all ranks.

    Ranks of a node add in each other's memory: any rank that is in a method takes the next part of the work.
    """

    kind = "reducer"

    def __init__(self, pieces: Sequence[tuple[dtypes.DTypeLike, int]], comm: Comm = COMM_WORLD, *, scale: float = 1.0):
        """Makes a reducer. Collective. pieces: dtype (floating-point or complex) and length, equal on all ranks."""
        self._comm = comm_or_world(comm)
        count, kinds, lengths, options = self._comm._prepare("reducer_create", lambda: self._arguments(pieces, scale),
                                                             lifecycle=True)
        handle = ctypes.c_void_p()
        _library.core().syncyte_reducer_create(self._comm.handle, count, kinds, lengths, ctypes.byref(options),
                                               ctypes.byref(handle))
        assert handle.value is not None
        self._own(handle.value)
        self._pieces = [(kind, int(length)) for kind, length in zip(kinds, lengths, strict=True)]

    @staticmethod
    def _arguments(pieces: Sequence[tuple[dtypes.DTypeLike, int]], scale: float) -> tuple[Any, ...]:
        count = len(pieces)
        kinds = (ctypes.c_int32 * count)(*(int(dtypes.as_dtype(dtype)) for dtype, _ in pieces))
        lengths = (ctypes.c_int64 * count)(*(length for _, length in pieces))
        return count, kinds, lengths, _library.options(c.ReducerOptions, scale=float(scale))

    def piece(self, number: int, world: str) -> Any:
        """Returns this rank's memory of a piece, an array or tensor that keeps it alive. Local."""
        buffer = _library.options(c.BufferDescription)
        _library.core().syncyte_reducer_piece(self.handle, number, ctypes.byref(buffer))
        kind, length = self._pieces[number]
        return _views.view(self.kind, self.handle, world, c.DType(kind), (length,), buffer.data)

    def start(self, number: int) -> None:
        """Starts a piece, which this rank has filled and must not use until wait() has returned. Does not wait."""
        _library.core().syncyte_reducer_start(self.handle, number)

    def progress(self) -> None:
        """Works on the sums of pieces that all ranks have started. Does not wait."""
        _library.core().syncyte_reducer_progress(self.handle)

    def wait(self) -> None:
        """Waits for all pieces of the round. Raises MismatchError if a rank has given up the round. Collective."""
        _library.core().syncyte_reducer_wait(self.handle)

    def give_up(self) -> None:
        """Gives up the round: wait() raises on all ranks, this one too. Does not wait."""
        _library.core().syncyte_reducer_give_up(self.handle)
