"""Differentiable collectives that are started, and waited for after other work: what syncyte.torch offers of them.

Started in the same order on all ranks of a communicator; waited for in any. A start waits for no other rank. Backward of
the wait starts the adjoint, backward of the start waits for it. All are linear, differentiable any number of times, and
copy their input. Errors of other ranks come with the wait. As in the blocking ones, gradients are recorded on all ranks
or on none.
"""

from __future__ import annotations

import dataclasses
import operator
import typing
from collections.abc import Sequence

import torch

from ._torch_requests import Request
from .comm import comm_or_world
from .errors import ArgumentError

if typing.TYPE_CHECKING:
    from .comm import Comm

# As in nonblocking.cpp.
_ALLREDUCE, _BCAST, _ALLGATHER, _REDUCE_SCATTER, _ALLTOALL = 0, 1, 3, 4, 5


@dataclasses.dataclass(frozen=True)
class CollectiveRequest(Request):
    """A collective under way."""

    kind: int
    arguments: tuple[int, ...]
    input_shape: tuple[int, ...]
    result_shape: tuple[int, ...]
    dtype: torch.dtype

    def wait(self) -> torch.Tensor:
        """Waits for the end, and returns the result. Raises what went wrong on some rank, on all of them."""
        return torch.ops.syncyte.wait_collective(self.ticket, self.comm, self.kind, self.arguments, self.input_shape,
                                                 self.result_shape, self.dtype)


def _started(tensor: torch.Tensor, comm: Comm, kind: int, arguments: Sequence[int],
             result_shape: Sequence[int]) -> CollectiveRequest:
    handle = comm.handle
    ticket = torch.ops.syncyte.start_collective(tensor, handle, kind, arguments, result_shape)
    return CollectiveRequest(ticket, handle, kind, tuple(arguments), tuple(tensor.shape), tuple(result_shape),
                             tensor.dtype)


def _lengths(values: Sequence[int], name: str, comm: Comm, operation: str) -> list[int]:
    """The lengths, one of each rank; what are none is told to the ranks that have started the operation."""

    def numbers() -> list[int]:
        expected = f"{name} is {values!r}; expected {comm.size} whole numbers, one of each rank, 0 or more"
        try:
            found = [value if isinstance(value, (int, torch.SymInt)) else operator.index(value) for value in values]
        except TypeError:
            raise ArgumentError(expected) from None
        if len(found) != comm.size or any(length < 0 for length in found):
            raise ArgumentError(expected)
        return found

    return comm._prepare_start(operation, numbers)


def _with_extent(shape: Sequence[int], axis: int, extent: int) -> list[int]:
    """The shape, where an extent differs; a wrong axis is left to the operation, which tells all ranks."""
    result = list(shape)
    if -len(result) <= axis < len(result):
        result[axis] = extent
    return result


def _at(values: Sequence[int], place: int) -> int:
    return values[place] if -len(values) <= place < len(values) else 0


def iallreduce(tensor: torch.Tensor, comm: Comm | None = None) -> Request:
    """Starts the sum of ``tensor`` over the ranks: see :func:`allreduce`."""
    return _started(tensor, comm_or_world(comm), _ALLREDUCE, (), tensor.shape)


def ibcast(tensor: torch.Tensor, root: int = 0, comm: Comm | None = None) -> Request:
    """Starts to send root's ``tensor`` to all ranks: see :func:`bcast`."""
    return _started(tensor, comm_or_world(comm), _BCAST, (root,), tensor.shape)


def iallgather_along(tensor: torch.Tensor, lengths: Sequence[int], axis: int = 0, *,
                     comm: Comm | None = None) -> Request:
    """Starts to join all ranks' tensors along an axis: see :func:`allgather_along`.

    lengths: all ranks' extents along the axis.
    """
    group = comm_or_world(comm)
    parts = _lengths(lengths, "lengths", group, "comm_iallgather_along")
    return _started(tensor, group, _ALLGATHER, (axis, *parts), _with_extent(tensor.shape, axis, sum(parts)))


def ireduce_scatter_along(tensor: torch.Tensor, lengths: Sequence[int], axis: int = 0, *,
                          comm: Comm | None = None) -> Request:
    """Starts the sum of all ranks' tensors, of which each keeps a part: see :func:`reduce_scatter_along`.

    lengths: of all ranks' parts along the axis.
    """
    group = comm_or_world(comm)
    parts = _lengths(lengths, "lengths", group, "comm_ireduce_scatter_along")
    return _started(tensor, group, _REDUCE_SCATTER, (axis, *parts),
                    _with_extent(tensor.shape, axis, _at(parts, group.rank)))


def ialltoall_along(tensor: torch.Tensor, gather_axis: int, scatter_axis: int, gather_lengths: Sequence[int],
                    scatter_lengths: Sequence[int], *, comm: Comm | None = None) -> Request:
    """Starts to partition along ``scatter_axis`` what is partitioned along ``gather_axis``: see :func:`alltoall_along`.

    gather_lengths, scatter_lengths: all ranks' extents along the axes, before and after.
    """
    group = comm_or_world(comm)
    before = _lengths(gather_lengths, "gather_lengths", group, "comm_ialltoall_along")
    after = _lengths(scatter_lengths, "scatter_lengths", group, "comm_ialltoall_along")
    whole = _with_extent(tensor.shape, gather_axis, sum(before))
    return _started(tensor, group, _ALLTOALL, (gather_axis, scatter_axis, *before, *after),
                    _with_extent(whole, scatter_axis, _at(after, group.rank)))
