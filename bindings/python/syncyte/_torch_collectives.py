# SPDX-License-Identifier: BSD-3-Clause
"""The collectives of syncyte.torch.

Rules for all of them (docs/differentiable-collectives.md); ranks that break one all raise ValueError:

- All ranks call them, with equal dtypes and equal values of the arguments that each function names.
- Gradients are recorded (requires_grad, outside of torch.no_grad()) on all ranks or on none, because backward is
  collective too. If only some ranks need a gradient, use ``mixed_grad=True``: see :mod:`syncyte.torch`.
- All ranks run backward passes in the same order. The error names the number of the forward.
- A function is compiled by torch.compile on all ranks or on none: compiled graphs have no such numbers.

Devices: tensors are on the CPU or on a CUDA device, and a result is on its tensor's device. Copies are enqueued on the
current stream; the host waits for earlier work on that stream.

Derivatives and transforms of torch:

- reverse mode: any number of times
- forward mode, torch.func.jvp: linear collectives
- torch.vmap: one collective for the whole batch
- torch.func.grad: raises RuntimeError; use torch.autograd.grad
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence

import torch

from ._checks import as_op
from ._declarations import Op
from ._torch_operators import operators
from ._torch_refusals import check_tensor, raise_on_all
from ._types import Reduction
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError, UnsupportedError

__all__ = ["allgather_along", "allreduce", "alltoall_along", "barrier", "bcast", "bcast_", "exscan", "gather_along",
           "neighbor_alltoall", "reduce", "reduce_", "reduce_scatter_along", "scan", "scatter_along"]  # fmt: skip

_OPS = {op.name.lower(): int(op) for op in Op}


def number_of(op: Reduction) -> int:
    """The reduction's number; raises ArgumentError for an unknown name."""
    return _OPS[op] if isinstance(op, str) and op in _OPS else int(as_op(op))


def _refuse_compiled(mixed_grad: bool) -> None:
    if mixed_grad and torch.compiler.is_compiling():
        raise UnsupportedError(
            "mixed_grad=True does not work inside torch.compile: give the compiled function inputs "
            "that require gradients on all ranks (tensor.detach().requires_grad_())"
        )


def _given(tensor: torch.Tensor, mixed_grad: bool) -> torch.Tensor:
    return operators.mixed_grad(tensor) if mixed_grad else tensor


def _collective(
    operator: Callable[..., typing.Any],
    operation: str,
    comm: Comm,
    tensor: torch.Tensor,
    *arguments: typing.Any,
    mixed_grad: bool = False,
    op: typing.Any = ...,
    **named: typing.Any,
) -> typing.Any:
    """Calls a collective.

    operation: its name in the ranks' first agreement; op: the last argument, if it has a reduction.
    """
    group = comm_or_world(comm)
    _refuse_compiled(mixed_grad)
    if op is not ...:
        arguments = (*arguments, group._prepare(operation, lambda: number_of(op)))
    try:
        check_tensor(tensor)  # schemas take None
        return operator(_given(tensor, mixed_grad), group.handle, *arguments, **named)
    except Exception as error:
        raise_on_all(error, tensor, group, operation)
        raise


def allreduce(
    tensor: torch.Tensor,
    comm: Comm = COMM_WORLD,
    *,
    op: Reduction = "sum",
    adjoint: typing.Literal["sum", "identity"] = "sum",
    mixed_grad: bool = False,
) -> torch.Tensor:
    """``tensor`` of all ranks of ``comm`` reduced element by element, on all of them; a new contiguous tensor.

    Collective: all ranks give equal shapes, dtypes, op and adjoint. Differentiable, with S = sum over ranks r of the
    cotangents ybar_r:

    - sum: y_r = sum_s x_s; xbar_s = S. The map of tangents is the operation itself.
    - max, min: xbar_s = m_s / (sum_t m_t) S, where m_s is 1 where x_s = y and 0 elsewhere: ties share equally, as in
      torch.amax. An element that is NaN on some rank has value and gradient NaN on all.
    - prod: xbar_s = conj(product of the other ranks' x) S, exact with any number of zeros.
    - others, integers: a rank whose input requires a gradient makes all ranks raise NotImplementedError at once.

    Parameters
    ----------
    tensor : torch.Tensor
        Any shape, any dtype of Syncyte, any strides. float16 and bfloat16 are reduced in float32 and rounded once.
    comm : Comm
        The ranks.
    op : str or Op
        "sum", "prod", "min", "max" (not complex), "land", "lor", "lxor", "band", "bor", "bxor" (integers and bool).
    adjoint : {"sum", "identity"}
        "sum": every rank's result is a variable of its own, and the loss is the sum of all ranks' losses. "identity"
        (mpi4jax's): the results are one variable, of which every rank has a copy, and every rank computes the same loss
        from it; ybar_r is equal on all ranks, and xbar_s is as above with ybar_s in place of S. Nothing is sent in
        backward. If all ranks compute the same loss, "sum" gives size times what "identity" gives.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    TypeError
        On all ranks: not a tensor, an argument of another type.
    ValueError
        On all ranks: ranks that differ in shape, dtype, op, adjoint or in recording gradients; an unknown op or
        adjoint.
    NotImplementedError
        On all ranks: a sparse, quantised, nested or meta tensor; an op that the dtype does not have, or without an
        adjoint where a gradient is required.
    """
    group = comm_or_world(comm)
    # The shortest way, for small messages.
    if isinstance(op, str) and op == "sum" and adjoint == "sum" and not mixed_grad:
        try:
            return operators.allreduce.default(tensor, group.handle)
        except Exception as error:
            raise_on_all(error, tensor, group, "comm_allreduce")
            raise

    def check() -> tuple[int, bool]:
        if adjoint not in ("sum", "identity"):
            raise ArgumentError(f"adjoint is {adjoint!r}; expected 'sum' or 'identity'")
        return number_of(op), adjoint == "identity"

    options = group._prepare("comm_allreduce", check)
    return _collective(operators.allreduce, "comm_allreduce", group, tensor, *options, mixed_grad=mixed_grad)


def bcast(tensor: torch.Tensor, root: int = 0, comm: Comm = COMM_WORLD, *, mixed_grad: bool = False) -> torch.Tensor:
    """``tensor`` of root, on all ranks; a new contiguous tensor.

    Collective: all ranks give equal shapes, dtypes and root. With y_r = x_root, the adjoint is :func:`reduce`: root
    gets the sum of all ranks' cotangents, the others zeros.

    Parameters
    ----------
    tensor : torch.Tensor
        As of :func:`allreduce`.
    root : int
        The rank whose tensor it is.
    comm : Comm
        The ranks.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    TypeError
        On all ranks: not a tensor, an argument of another type.
    ValueError
        On all ranks: ranks that differ in shape, dtype, root or in recording gradients; an invalid root.
    NotImplementedError
        On all ranks: a sparse, quantised, nested or meta tensor.
    """
    return _collective(operators.bcast, "comm_bcast", comm, tensor, root, mixed_grad=mixed_grad)


def barrier(comm: Comm = COMM_WORLD) -> None:
    """Returns when all ranks have called it. Collective.

    It has no gradient and no backward pass; in a compiled graph it keeps its place among the communications.

    Parameters
    ----------
    comm : Comm
        The ranks.

    Raises
    ------
    ValueError
        comm is None, or the other ranks call another operation.
    """
    operators.barrier(torch.empty(0, device="cpu"), comm_or_world(comm).handle)


def bcast_(tensor: torch.Tensor, root: int = 0, comm: Comm = COMM_WORLD, *, mixed_grad: bool = False) -> torch.Tensor:
    """:func:`bcast` into ``tensor``, which is returned: torch's in-place rules hold.

    Its version is raised; a leaf that requires gradients, a view of one, or a tensor whose elements overlap on one rank
    makes all ranks raise RuntimeError, before anything is sent. Only the elements of a view are written.

    Parameters
    ----------
    tensor, root, comm
        As of :func:`bcast`.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor
        ``tensor``.

    Raises
    ------
    RuntimeError
        On all ranks, as above; and the errors of :func:`bcast`.
    """
    _refuse_compiled(mixed_grad)
    _collective(operators.bcast_, "comm_bcast", comm, tensor, root, mixed_grad)
    return tensor


def reduce(
    tensor: torch.Tensor, root: int = 0, comm: Comm = COMM_WORLD, *, op: Reduction = "sum", mixed_grad: bool = False
) -> torch.Tensor:
    """``tensor`` of all ranks reduced element by element on root, zeros elsewhere; a new contiguous tensor.

    Collective: all ranks give equal shapes, dtypes, op and root. Differentiable as :func:`allreduce`, with root's
    cotangent in place of the sum of all ranks'; the sum's adjoint is :func:`bcast`.

    Parameters
    ----------
    tensor, comm, op
        As of :func:`allreduce`.
    root : int
        The rank that gets the result.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    TypeError
        On all ranks: not a tensor, an argument of another type.
    ValueError
        On all ranks: ranks that differ in shape, dtype, op, root or in recording gradients; an unknown op, an invalid
        root.
    NotImplementedError
        On all ranks: a sparse, quantised, nested or meta tensor; an op that the dtype does not have, or without an
        adjoint.
    """
    return _collective(operators.reduce, "comm_reduce", comm, tensor, root, op=op, mixed_grad=mixed_grad)


def reduce_(
    tensor: torch.Tensor, root: int = 0, comm: Comm = COMM_WORLD, *, op: Reduction = "sum", mixed_grad: bool = False
) -> torch.Tensor:
    """:func:`reduce` into ``tensor``, which is returned, zeroed elsewhere than on root; in place as :func:`bcast_`.

    Parameters
    ----------
    tensor, root, comm, op
        As of :func:`reduce`.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor
        ``tensor``.

    Raises
    ------
    RuntimeError, TypeError, ValueError, NotImplementedError
        On all ranks: the errors of :func:`reduce` and :func:`bcast_`.
    """
    _refuse_compiled(mixed_grad)
    group = comm_or_world(comm)
    number = group._prepare("comm_reduce", lambda: number_of(op))
    _collective(operators.reduce_, "comm_reduce", group, tensor, root, number, mixed_grad)
    return tensor


def scan(
    tensor: torch.Tensor,
    *,
    op: Reduction = "sum",
    reverse: bool = False,
    comm: Comm = COMM_WORLD,
    mixed_grad: bool = False,
) -> torch.Tensor:
    """``tensor`` reduced over ranks 0 to this one (``reverse``: this one to the last); a new contiguous tensor.

    Collective: all ranks give equal shapes, dtypes, op and direction. The adjoint of the sum is the scan from the other
    end. Other ops have no adjoint: a rank whose input requires a gradient makes all ranks raise NotImplementedError.

    Parameters
    ----------
    tensor, op, comm
        As of :func:`allreduce`.
    reverse : bool
        Over the ranks from this one to the last.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    TypeError
        On all ranks: not a tensor, an argument of another type.
    ValueError
        On all ranks: ranks that differ in shape, dtype, op, direction or in recording gradients; an unknown op.
    NotImplementedError
        On all ranks: a sparse, quantised, nested or meta tensor; an op that the dtype does not have, or without an
        adjoint.
    """
    return _collective(operators.scan, "comm_scan", comm, tensor, op=op, reverse=reverse, mixed_grad=mixed_grad)


def exscan(
    tensor: torch.Tensor,
    *,
    op: Reduction = "sum",
    reverse: bool = False,
    comm: Comm = COMM_WORLD,
    mixed_grad: bool = False,
) -> torch.Tensor:
    """As :func:`scan`, but excluding this rank.

    The first rank gets op's identity element (zeros for sum, ones for prod).

    Parameters
    ----------
    tensor, op, reverse, comm
        As of :func:`scan`.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        On all ranks: the errors of :func:`scan`.
    """
    return _collective(operators.exscan, "comm_exscan", comm, tensor, op=op, reverse=reverse, mixed_grad=mixed_grad)


def neighbor_alltoall(tensor: torch.Tensor, *, comm: Comm, mixed_grad: bool = False) -> torch.Tensor:
    """Exchanges a block with each neighbour of a Cartesian communicator; a new contiguous tensor.

    Collective: all ranks give equal shapes and dtypes. Differentiable, and its own adjoint: the cotangent of a block
    goes back to the neighbour that sent it.

    Parameters
    ----------
    tensor : torch.Tensor
        (2 * ndim, ...), any strides: per dimension a block for the neighbour below, then for the neighbour above.
    comm : Comm
        Cartesian (Comm.cartesian).
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor
        The blocks of the neighbours, in the same order; 0 beyond an edge.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        On all ranks: comm is not Cartesian; elements that are no multiple of 2 * ndim; and the errors of
        :func:`allreduce`.
    """
    return _collective(operators.neighbor_alltoall, "comm_neighbor_alltoall", comm, tensor, mixed_grad=mixed_grad)


def allgather_along(
    tensor: torch.Tensor,
    axis: int = 0,
    *,
    counts: Sequence[int] | None = None,
    comm: Comm = COMM_WORLD,
    mixed_grad: bool = False,
) -> torch.Tensor:
    """All ranks' tensors joined along an axis, in order of ranks, on all ranks.

    Collective: dtypes and extents but along the axis are equal on all ranks. The adjoint is
    :func:`reduce_scatter_along`: each rank gets the sum over ranks of its part's cotangents.

    Parameters
    ----------
    tensor : torch.Tensor
        At least one dimension; any strides; its extent along the axis may differ between ranks, and be 0.
    axis : int
        A negative one counts from the end.
    counts : sequence of int, optional
        All ranks' extents along the axis, where they are known; otherwise they are collected first, each time that a
        compiled function runs: the compiler then does not know the extent of its result.
    comm : Comm
        The ranks.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    TypeError
        On all ranks: not a tensor, an argument of another type.
    IndexError
        On all ranks: an axis that the tensor does not have.
    ValueError
        On all ranks: ranks that differ in dtype, axis, other extents or in recording gradients; counts that do not
        fit.
    NotImplementedError
        On all ranks: a sparse, quantised, nested or meta tensor.
    """
    operator = operators.allgather_along
    if counts is None:
        return _collective(operator.default, "comm_counts", comm, tensor, axis, mixed_grad=mixed_grad)
    return _collective(operator.counts, "comm_allgather_along", comm, tensor, axis, counts, mixed_grad=mixed_grad)


def gather_along(
    tensor: torch.Tensor,
    axis: int = 0,
    root: int = 0,
    *,
    counts: Sequence[int] | None = None,
    comm: Comm = COMM_WORLD,
    mixed_grad: bool = False,
) -> torch.Tensor:
    """As :func:`allgather_along`, on root; on other ranks the result's extent along the axis is 0.

    The adjoint is :func:`scatter_along`: each rank gets its part of root's cotangent.

    Parameters
    ----------
    tensor, axis, counts, comm
        As of :func:`allgather_along`.
    root : int
        The rank that gets the whole.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    ValueError
        On all ranks: an invalid root; and the errors of :func:`allgather_along`.
    """
    operator = operators.gather_along
    if counts is None:
        return _collective(operator.default, "comm_counts", comm, tensor, axis, root, mixed_grad=mixed_grad)
    return _collective(operator.counts, "comm_gather_along", comm, tensor, axis, root, counts, mixed_grad=mixed_grad)


def scatter_along(
    tensor: torch.Tensor,
    count: int,
    axis: int = 0,
    root: int = 0,
    *,
    shape: Sequence[int] | None = None,
    comm: Comm = COMM_WORLD,
    mixed_grad: bool = False,
) -> torch.Tensor:
    """This rank's part of root's tensor, which is cut along an axis in order of ranks.

    Collective as :func:`allgather_along`. The adjoint is :func:`gather_along`: root gets all ranks' cotangents joined,
    the others zeros.

    Parameters
    ----------
    tensor : torch.Tensor
        Root's tensor; on other ranks only its dtype counts, and whether it requires gradients.
    count : int
        Length of this rank's part; the lengths add up to root's extent along the axis.
    axis, comm
        As of :func:`allgather_along`.
    root : int
        The rank that has the whole.
    shape : sequence of int, optional
        Root's shape, where all ranks know it; otherwise root sends it first. Its extent along the axis is not read.
        Required inside torch.compile, where nothing can be sent before the graph runs.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    ValueError
        On all ranks: an invalid root, counts that do not add up, a shape that root's tensor does not have; and the
        errors of :func:`allgather_along`.
    NotImplementedError
        Inside torch.compile, without shape.
    """
    return _collective(
        operators.scatter_along.default, "comm_counts", comm, tensor, axis, root, count, shape, mixed_grad=mixed_grad
    )


def reduce_scatter_along(
    tensor: torch.Tensor,
    count: int,
    axis: int = 0,
    *,
    op: Reduction = "sum",
    comm: Comm = COMM_WORLD,
    mixed_grad: bool = False,
) -> torch.Tensor:
    """This rank's part of all ranks' tensors reduced element by element, which is cut along an axis in order of ranks.

    Collective: all ranks' shapes, dtypes and op are equal. The adjoint of the sum is :func:`allgather_along`; other ops
    have none, as in :func:`scan`. float16 and bfloat16 are reduced in float32 and rounded once.

    Parameters
    ----------
    tensor : torch.Tensor
        The whole; any strides.
    count : int
        Length of this rank's part; the lengths add up to the extent along the axis.
    axis, comm
        As of :func:`allgather_along`.
    op : str or Op
        As of :func:`allreduce`.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    ValueError
        On all ranks: counts that do not add up; and the errors of :func:`allgather_along` and, of op, :func:`scan`.
    """
    operator = operators.reduce_scatter_along.default
    return _collective(operator, "comm_counts", comm, tensor, axis, count, op=op, mixed_grad=mixed_grad)


def alltoall_along(
    tensor: torch.Tensor,
    gather_axis: int,
    scatter_axis: int,
    count: int,
    *,
    comm: Comm = COMM_WORLD,
    mixed_grad: bool = False,
) -> torch.Tensor:
    """A tensor that is partitioned over the ranks along ``gather_axis``, partitioned along ``scatter_axis`` instead.

    Collective as :func:`allgather_along`; a permutation of elements, whose adjoint is its inverse. Equal axes: the
    counts of the parts change.

    Parameters
    ----------
    tensor : torch.Tensor
        This rank's part along ``gather_axis``; any strides.
    gather_axis, scatter_axis : int
        Negative ones count from the end.
    count : int
        Length of this rank's part along ``scatter_axis``; the lengths add up to the whole extent.
    comm : Comm
        The ranks.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    ValueError
        On all ranks: counts that do not add up; and the errors of :func:`allgather_along`, of both axes.
    """
    operator = operators.alltoall_along.default
    return _collective(operator, "comm_counts", comm, tensor, gather_axis, scatter_axis, count, mixed_grad=mixed_grad)
