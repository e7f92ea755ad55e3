# SPDX-License-Identifier: BSD-3-Clause
"""Non-blocking differentiable collectives of syncyte.torch: started, and waited for after other work.

All ranks of a communicator start them in the same order; they may wait in any order. A start waits for no other rank.
Backward of the wait starts the adjoint, backward of the start waits for it. All are differentiable any number of times,
and copy their input. Errors of other ranks come with the wait. As in the blocking ones, gradients are recorded on all
ranks or on none, or with ``mixed_grad=True`` (see :mod:`syncyte.torch`).
"""

from __future__ import annotations

import dataclasses
import operator
import typing
from collections.abc import Callable, Sequence

import torch

from ._torch_collectives import _given, _refuse_compiled, number_of
from ._torch_operators import operators
from ._torch_refusals import advise, check_tensor
from ._torch_requests import Request
from ._types import Reduction
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError

__all__ = ["iallgather_along", "iallreduce", "ialltoall_along", "ibcast", "ireduce_scatter_along"]


@dataclasses.dataclass(frozen=True)
class CollectiveRequest(Request):
    """A collective in flight."""

    collective: str
    input_shape: tuple[int, ...]
    dtype: torch.dtype
    arguments: dict[str, typing.Any]

    def wait(self) -> torch.Tensor:
        """Waits for the end, and returns the result. Raises what went wrong on some rank, on all of them."""
        try:
            return operators.wait_collective(
                self.ticket, self.collective, self.comm, self.input_shape, self.dtype, **self.arguments
            )
        except Exception as error:
            advise(error)
            raise


def _started(
    tensor: torch.Tensor,
    comm: Comm,
    collective: str,
    mixed_grad: bool,
    prepare_arguments: Callable[[Comm], dict[str, typing.Any]],
) -> CollectiveRequest:
    """Starts a collective; if this rank's arguments are wrong, the ranks that have started it get the error."""
    group = comm_or_world(comm)
    handle = group.handle
    _refuse_compiled(mixed_grad)

    def prepare() -> dict[str, typing.Any]:
        check_tensor(tensor)
        return prepare_arguments(group)

    arguments = group._prepare_start(f"comm_i{collective}", prepare)
    name = collective.removesuffix("_along")
    try:
        ticket = operators.start_collective(_given(tensor, mixed_grad), name, handle, **arguments)
    except Exception as error:
        advise(error)
        raise
    return CollectiveRequest(ticket, handle, name, tuple(tensor.shape), tensor.dtype, arguments)


def _whole(value: int) -> int:
    """The value as an int of 64 bits; raises TypeError if it has no such value."""
    if isinstance(value, torch.SymInt) or torch.compiler.is_compiling():
        return value
    number = operator.index(value)
    if not -(2**63) <= number < 2**63:
        raise TypeError
    return number


def _number(value: int, name: str) -> int:
    try:
        return _whole(value)
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}; expected a whole number of 64 bits") from None


def _counts(values: Sequence[int], name: str, comm: Comm) -> list[int]:
    expected = f"{name} is {values!r}; expected {comm.size} whole numbers of 64 bits, one of each rank, 0 or more"
    try:
        found = [_whole(value) for value in values]
    except TypeError:
        raise ArgumentError(expected) from None
    if len(found) != comm.size or any(length < 0 for length in found):
        raise ArgumentError(expected)
    return found


def _parts(axis: int, counts: Sequence[int], comm: Comm, direction: str, named: str = "") -> dict[str, typing.Any]:
    """The arguments of parts that are gathered, or scattered, under the names that the caller knows."""
    return {
        f"{direction}_axis": _number(axis, f"{named}axis"),
        f"{direction}_counts": _counts(counts, f"{named}counts", comm),
    }


def iallreduce(
    tensor: torch.Tensor, comm: Comm = COMM_WORLD, *, op: Reduction = "sum", mixed_grad: bool = False
) -> Request:
    """Starts to reduce ``tensor`` over the ranks: see :func:`allreduce`, for ops too.

    Only the sum has an adjoint: with another op, a tensor that requires grad makes all ranks raise NotImplementedError.

    Parameters
    ----------
    tensor, comm, op
        As of :func:`allreduce`.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    Request

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As :func:`allreduce`, at once where this rank is wrong, from wait() on the others.
    """
    return _started(tensor, comm, "allreduce", mixed_grad, lambda _: {"op": number_of(op)})


def ibcast(tensor: torch.Tensor, root: int = 0, comm: Comm = COMM_WORLD, *, mixed_grad: bool = False) -> Request:
    """Starts to send root's ``tensor`` to all ranks: see :func:`bcast`.

    Parameters
    ----------
    tensor, root, comm
        As of :func:`bcast`.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    Request

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As :func:`bcast`, at once where this rank is wrong, from wait() on the others.
    """
    return _started(tensor, comm, "bcast", mixed_grad, lambda _: {"root": _number(root, "root")})


def iallgather_along(
    tensor: torch.Tensor, axis: int = 0, *, counts: Sequence[int], comm: Comm = COMM_WORLD, mixed_grad: bool = False
) -> Request:
    """Starts to join all ranks' tensors along an axis: see :func:`allgather_along`.

    Parameters
    ----------
    tensor, axis, comm
        As of :func:`allgather_along`.
    counts : sequence of int
        All ranks' extents along the axis.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    Request

    Raises
    ------
    ValueError
        Wrong counts, an axis that is no number; and the errors of :func:`allgather_along`, at once where this rank is
        wrong, from wait() on the others.
    """
    return _started(tensor, comm, "allgather_along", mixed_grad, lambda group: _parts(axis, counts, group, "gather"))


def ireduce_scatter_along(
    tensor: torch.Tensor,
    axis: int = 0,
    *,
    op: Reduction = "sum",
    counts: Sequence[int],
    comm: Comm = COMM_WORLD,
    mixed_grad: bool = False,
) -> Request:
    """Starts to reduce all ranks' tensors, of which each keeps a part: see :func:`reduce_scatter_along`.

    Parameters
    ----------
    tensor, axis, op, comm
        As of :func:`reduce_scatter_along`.
    counts : sequence of int
        Lengths of all ranks' parts along the axis.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    Request

    Raises
    ------
    ValueError
        Wrong counts, an axis that is no number; and the errors of :func:`reduce_scatter_along`, at once where this
        rank is wrong, from wait() on the others.
    """
    return _started(
        tensor,
        comm,
        "reduce_scatter_along",
        mixed_grad,
        lambda group: {**_parts(axis, counts, group, "scatter"), "op": number_of(op)},
    )


def ialltoall_along(
    tensor: torch.Tensor,
    gather_axis: int,
    scatter_axis: int,
    *,
    gather_counts: Sequence[int],
    scatter_counts: Sequence[int],
    comm: Comm = COMM_WORLD,
    mixed_grad: bool = False,
) -> Request:
    """Starts to partition along ``scatter_axis`` what is partitioned along ``gather_axis``: see :func:`alltoall_along`.

    Parameters
    ----------
    tensor, gather_axis, scatter_axis, comm
        As of :func:`alltoall_along`.
    gather_counts, scatter_counts : sequence of int
        All ranks' extents along the axes, before and after.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    Request

    Raises
    ------
    ValueError
        Wrong counts, an axis that is no number; and the errors of :func:`alltoall_along`, at once where this rank is
        wrong, from wait() on the others.
    """
    return _started(
        tensor,
        comm,
        "alltoall_along",
        mixed_grad,
        lambda group: {
            **_parts(gather_axis, gather_counts, group, "gather", "gather_"),
            **_parts(scatter_axis, scatter_counts, group, "scatter", "scatter_"),
        },
    )
