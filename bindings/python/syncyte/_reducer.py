"""Buckets of memory that all ranks sum in place while they compute: gradient averaging."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from . import _declarations as c
from . import _library, _views, dtypes
from ._handles import Handle
from .comm import COMM_WORLD, Comm, comm_or_world


class Reducer(Handle):
    """Buckets of memory, each a number of elements of a dtype.

    In a round every rank fills its buckets and starts each as soon as it is full, in any order; after :meth:`wait` they
    hold scale times the sums, with the same bits on all ranks.

    Ranks of a node add up in each other's memory: any rank in a method takes the next part of the work.
    """

    kind = "reducer"

    def __init__(self, buckets: Sequence[tuple[dtypes.DTypeLike, int]], comm: Comm = COMM_WORLD, *, scale: float = 1.0):
        """Collective. buckets: dtype (floating-point or complex) and number of elements of each, alike on all ranks."""
        self._comm = comm_or_world(comm)
        count, kinds, lengths, options = self._comm._prepare("reducer_create", lambda: self._arguments(buckets, scale),
                                                             lifecycle=True)
        handle = ctypes.c_void_p()
        _library.core().syncyte_reducer_create(self._comm.handle, count, kinds, lengths, ctypes.byref(options),
                                               ctypes.byref(handle))
        assert handle.value is not None
        self._own(handle.value)
        self._buckets = [(kind, int(length)) for kind, length in zip(kinds, lengths, strict=True)]

    @staticmethod
    def _arguments(buckets: Sequence[tuple[dtypes.DTypeLike, int]], scale: float) -> tuple[Any, ...]:
        count = len(buckets)
        kinds = (ctypes.c_int32 * count)(*(int(dtypes.as_dtype(dtype)) for dtype, _ in buckets))
        lengths = (ctypes.c_int64 * count)(*(length for _, length in buckets))
        return count, kinds, lengths, _library.options(c.ReducerOptions, scale=float(scale))

    def bucket(self, number: int, array_kind: str) -> Any:
        """This rank's memory of a bucket, an array or tensor that keeps it alive. Local."""
        buffer = _library.options(c.BufferDescription)
        _library.core().syncyte_reducer_bucket(self.handle, number, ctypes.byref(buffer))
        kind, length = self._buckets[number]
        return _views.view(self.kind, self.handle, array_kind, c.DType(kind), (length,), buffer.data)

    def start(self, number: int) -> None:
        """This rank's bucket is full; until wait() has returned nobody may touch it. Does not wait."""
        _library.core().syncyte_reducer_start(self.handle, number)

    def progress(self) -> None:
        """Works on what all ranks have started. Does not wait."""
        _library.core().syncyte_reducer_progress(self.handle)

    def wait(self) -> None:
        """Waits for all buckets of the round. Raises MismatchError where a rank has given it up. Collective."""
        _library.core().syncyte_reducer_wait(self.handle)

    def give_up(self) -> None:
        """Gives up the round: wait() raises on all ranks, this one too. Does not wait."""
        _library.core().syncyte_reducer_give_up(self.handle)
