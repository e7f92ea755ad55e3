# SPDX-License-Identifier: BSD-3-Clause
"""The reducer of the C library, which sums buckets of memory over ranks while the caller fills others."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch

from . import _arrays, _library, dtypes
from . import _declarations as c
from ._buffers import TORCH
from ._handles import Handle
from .comm import COMM_WORLD, Comm


class Reducer(Handle):
    """Buckets of memory, each a number of elements of a dtype.

    In a round every rank fills its buckets and starts each as soon as it is full, in any order; after :meth:`wait` they
    hold scale times the sums, with the same bits on all ranks.

    Ranks of a node add up in each other's memory: any rank in a method takes the next part of the work.
    """

    kind = "reducer"

    def __init__(self, buckets: Sequence[tuple[dtypes.DTypeLike, int]], comm: Comm = COMM_WORLD, *, scale: float = 1.0):
        """Collective. buckets: dtype (floating-point or complex) and number of elements of each, alike on all ranks."""
        self._buckets = [(dtypes.as_dtype(dtype), length) for dtype, length in buckets]
        kinds, lengths = zip(*self._buckets, strict=True)
        count = len(buckets)
        arrays = (ctypes.c_int32 * count)(*kinds), (ctypes.c_int64 * count)(*lengths)
        options = _library.new_struct(c.ReducerOptions, scale=scale)
        self._own(_library.core().output("syncyte_reducer_create", comm.handle, count, *arrays, options))

    def bucket(self, bucket: int) -> torch.Tensor:
        """Returns this rank's memory of a bucket, a tensor that keeps it alive. Local."""
        buffer = _library.core().output("syncyte_reducer_bucket", self.handle, bucket)
        dtype, length = self._buckets[bucket]
        return _arrays.view(self.kind, self.handle, TORCH, dtype, (length,), buffer.data)

    def start(self, bucket: int) -> None:
        """Marks this rank's bucket as full: it must not be accessed until wait() has returned. Does not wait."""
        _library.core().syncyte_reducer_start(self.handle, bucket)

    def progress(self) -> None:
        """Works on what all ranks have started. Does not wait."""
        _library.core().syncyte_reducer_progress(self.handle)

    def wait(self) -> None:
        """Waits for all buckets of the round. Raises MismatchError where a rank has given it up. Collective."""
        _library.core().syncyte_reducer_wait(self.handle)

    def give_up(self) -> None:
        """Gives up the round: wait() raises on all ranks, this one too. Does not wait."""
        _library.core().syncyte_reducer_give_up(self.handle)
