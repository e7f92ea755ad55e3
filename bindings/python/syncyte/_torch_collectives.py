"""The collectives of syncyte.torch.

All are collective: dtypes and what each function names are equal on all ranks, and gradients are recorded (requires_grad,
outside of torch.no_grad()) on all ranks or on none, because backward is collective too; otherwise all ranks raise
ValueError. Where some ranks need no gradient, ``mixed_grad=True``, on all ranks, makes every rank's result require one:
those ranks take part in backward with their cotangent, and what comes of it is dropped. They must run backward(): for
torch.autograd.grad() the operation leads to none of their inputs. torch.compile refuses mixed_grad: detach and
requires_grad_() before the compiled function do the same.

Backward passes belong to their forward: ranks whose backward passes run in different orders raise ValueError, all of
them, that names the number of the forward. Compiled graphs have no such numbers, so a function is compiled on all ranks
or on none.

Tensors on the CPU, or on a CUDA device: results are where their tensor is. Copies are enqueued on the current stream,
and the device's earlier work on it is waited for. See docs/differentiable-collectives.md.

Differentiable any number of times; forward mode and torch.func.jvp for what is linear, torch.vmap as one collective for
the whole batch, torch.func.grad raises RuntimeError: use torch.autograd.grad. See docs/differentiable-collectives.md.
"""

from __future__ import annotations

import typing
from collections.abc import Sequence

import torch

from ._checks import as_op
from ._declarations import Op
from .comm import COMM_WORLD, comm_or_world
from .errors import ArgumentError, UnsupportedError

if typing.TYPE_CHECKING:
    from .comm import Comm

_operators = torch.ops.syncyte  # finding the namespace anew costs microseconds
_OPS = {op.name.lower(): int(op) for op in Op}


def _number_of(op: Op | str, comm: "Comm", operation: str) -> int:
    """The reduction's number; if there is none, all ranks are told."""
    if isinstance(op, str) and op in _OPS:
        return _OPS[op]
    return comm._prepare(operation, lambda: int(as_op(op)))


def _is_identity(adjoint: str, comm: "Comm") -> bool:
    def check() -> bool:
        if adjoint not in ("sum", "identity"):
            raise ArgumentError(f"adjoint is {adjoint!r}; expected 'sum' or 'identity'")
        return adjoint == "identity"

    return comm._prepare("comm_allreduce", check)


def _refuse_compiled(mixed_grad: bool) -> None:
    if mixed_grad and torch.compiler.is_compiling():
        raise UnsupportedError("mixed_grad=True does not work inside torch.compile: give the compiled function inputs "
                               "that require gradients on all ranks (tensor.detach().requires_grad_())")


def _given(tensor: torch.Tensor, mixed_grad: bool) -> torch.Tensor:
    if not mixed_grad:
        return tensor
    _refuse_compiled(mixed_grad)
    return _operators.mixed_grad(tensor)


def allreduce(tensor: torch.Tensor, comm: "Comm" = COMM_WORLD, *, op: Op | str = "sum", adjoint: str = "sum",
              mixed_grad: bool = False) -> torch.Tensor:
    """``tensor`` of all ranks of ``comm`` reduced element by element, on all of them; a new contiguous tensor.

    Collective: all ranks give equal shapes, dtypes, op and adjoint. Differentiable, with S = sum over ranks r of the
    cotangents ybar_r:

    - sum: y_r = sum_s x_s; xbar_s = S. The map of tangents is the operation itself.
    - max, min: xbar_s = m_s / (sum_t m_t) S, where m_s is 1 where x_s = y and 0 elsewhere: ties share equally, as in
      torch.amax. An element that is NaN on some rank has value and gradient NaN on all.
    - prod: xbar_s = conj(product of the other ranks' x) S, exact with any number of zeros.
    - others, integers: a rank whose input requires a gradient makes all ranks raise NotImplementedError at once.

    tensor: any shape, any dtype of Syncyte, any strides. float16 and bfloat16 are reduced in float32 and rounded
        once.
    comm: COMM_WORLD by default.
    op: "sum", "prod", "min", "max" (not complex), "land", "lor", "lxor", "band", "bor", "bxor" (integers and
        bool).
    adjoint: "sum": every rank's result is a variable of its own, and the loss is the sum of all ranks' losses.
        "identity" (mpi4jax's): the results are one variable, of which every rank has a copy, and every rank computes
        the same loss from it; ybar_r is equal on all ranks, and xbar_s is as above with ybar_s in place of S. Nothing
        is sent in backward. If all ranks compute the same loss, "sum" gives size times what "identity" gives.
    """
    if op == "sum" and adjoint == "sum" and not mixed_grad:  # the shortest way, for small messages
        return _operators.allreduce.default(tensor, comm_or_world(comm).handle)
    group = comm_or_world(comm)
    number, identity = _number_of(op, group, "comm_allreduce"), _is_identity(adjoint, group)
    return _operators.allreduce(_given(tensor, mixed_grad), group.handle, number, identity)


def bcast(tensor: torch.Tensor, root: int = 0, comm: "Comm" = COMM_WORLD, *,
          mixed_grad: bool = False) -> torch.Tensor:
    """``tensor`` of root, on all ranks; a new contiguous tensor.

    Collective: all ranks give equal shapes, dtypes and root. With y_r = x_root, the adjoint is :func:`reduce`: root
    gets the sum of all ranks' cotangents, the others zeros.
    """
    return _operators.bcast(_given(tensor, mixed_grad), comm_or_world(comm).handle, root)


def barrier(comm: "Comm" = COMM_WORLD) -> None:
    """Returns when all ranks have called it. Collective. It has no gradient and no backward pass; in a compiled graph it
    keeps its place among the communications."""
    _operators.barrier(torch.empty(0), comm_or_world(comm).handle)


def bcast_(tensor: torch.Tensor, root: int = 0, comm: "Comm" = COMM_WORLD, *,
           mixed_grad: bool = False) -> torch.Tensor:
    """:func:`bcast` into ``tensor``, which is returned: torch's in-place rules hold. Its version is raised; a leaf that
    requires gradients, a view of one, or a tensor whose elements overlap on one rank makes all ranks raise
    RuntimeError, before anything is sent. Of a view nothing beside its elements is written.
    """
    _refuse_compiled(mixed_grad)
    _operators.bcast_(tensor, comm_or_world(comm).handle, root, mixed_grad)
    return tensor


def reduce(tensor: torch.Tensor, root: int = 0, comm: "Comm" = COMM_WORLD, *, op: Op | str = "sum",
           mixed_grad: bool = False) -> torch.Tensor:
    """``tensor`` of all ranks reduced element by element on root, zeros elsewhere; a new contiguous tensor.

    Collective: all ranks give equal shapes, dtypes, op and root. Differentiable as :func:`allreduce`, with root's
    cotangent in place of the sum of all ranks'; the sum's adjoint is :func:`bcast`.
    """
    group = comm_or_world(comm)
    return _operators.reduce(_given(tensor, mixed_grad), group.handle, root, _number_of(op, group, "comm_reduce"))


def reduce_(tensor: torch.Tensor, root: int = 0, comm: "Comm" = COMM_WORLD, *, op: Op | str = "sum",
            mixed_grad: bool = False) -> torch.Tensor:
    """:func:`reduce` into ``tensor``, which is returned, zeroed elsewhere than on root; in place as :func:`bcast_`."""
    _refuse_compiled(mixed_grad)
    group = comm_or_world(comm)
    _operators.reduce_(tensor, group.handle, root, _number_of(op, group, "comm_reduce"), mixed_grad)
    return tensor


def scan(tensor: torch.Tensor, *, reverse: bool = False, op: Op | str = "sum", comm: "Comm" = COMM_WORLD,
         mixed_grad: bool = False) -> torch.Tensor:
    """``tensor`` reduced over ranks 0 to this one (``reverse``: this one to the last); a new contiguous tensor.

    Collective: all ranks give equal shapes, dtypes, op and direction. The adjoint of the sum is the scan from the other
    end; other ops have none, as in :func:`allreduce`.
    """
    group = comm_or_world(comm)
    return _operators.scan(_given(tensor, mixed_grad), group.handle, reverse, _number_of(op, group, "comm_scan"))


def exscan(tensor: torch.Tensor, *, reverse: bool = False, op: Op | str = "sum", comm: "Comm" = COMM_WORLD,
           mixed_grad: bool = False) -> torch.Tensor:
    """As :func:`scan`, without this rank's own: where it begins, what op leaves as it is (zeros for sum, ones for
    prod)."""
    group = comm_or_world(comm)
    return _operators.exscan(_given(tensor, mixed_grad), group.handle, reverse, _number_of(op, group, "comm_exscan"))


def allgather_along(tensor: torch.Tensor, axis: int = 0, *, lengths: Sequence[int] | None = None,
                    comm: "Comm" = COMM_WORLD, mixed_grad: bool = False) -> torch.Tensor:
    """All ranks' tensors joined along an axis, in order of ranks, on all ranks.

    Collective: dtypes and extents but along the axis are equal on all ranks. The adjoint is
    :func:`reduce_scatter_along`: each rank gets the sum over ranks of its part's cotangents.

    tensor: at least one dimension; any strides; its extent along the axis may differ between ranks, and be 0.
    axis: a negative one counts from the end.
    lengths: all ranks' extents along the axis, where they are known; otherwise they are collected first. A compiled
        function keeps those of its first call; if they change on some rank, all ranks raise ValueError.
    """
    given, handle = _given(tensor, mixed_grad), comm_or_world(comm).handle
    if lengths is None:
        return _operators.allgather_along.default(given, handle, axis)
    return _operators.allgather_along.lengths(given, handle, axis, lengths)


def gather_along(tensor: torch.Tensor, axis: int = 0, root: int = 0, *, lengths: Sequence[int] | None = None,
                 comm: "Comm" = COMM_WORLD, mixed_grad: bool = False) -> torch.Tensor:
    """As :func:`allgather_along`, on root; on other ranks the result's extent along the axis is 0.

    The adjoint is :func:`scatter_along`: each rank gets its part of root's cotangent.
    """
    given, handle = _given(tensor, mixed_grad), comm_or_world(comm).handle
    if lengths is None:
        return _operators.gather_along.default(given, handle, axis, root)
    return _operators.gather_along.lengths(given, handle, axis, lengths, root)


def scatter_along(tensor: torch.Tensor, length: int, axis: int = 0, root: int = 0, *,
                  comm: "Comm" = COMM_WORLD, mixed_grad: bool = False) -> torch.Tensor:
    """This rank's part of root's tensor, which is cut along an axis in order of ranks.

    Collective as :func:`allgather_along`. The adjoint is :func:`gather_along`: root gets all ranks' cotangents joined,
    the others zeros.

    tensor: of root; on other ranks only its dtype counts, and that it may require gradients.
    length: of this rank's part; they add up to root's extent along the axis.
    """
    return _operators.scatter_along.default(_given(tensor, mixed_grad), comm_or_world(comm).handle, axis, length, root)


def reduce_scatter_along(tensor: torch.Tensor, length: int, axis: int = 0, *, op: Op | str = "sum",
                         comm: "Comm" = COMM_WORLD, mixed_grad: bool = False) -> torch.Tensor:
    """This rank's part of all ranks' tensors reduced element by element, which is cut along an axis in order of ranks.

    Collective: all ranks' shapes, dtypes and op are equal. The adjoint of the sum is :func:`allgather_along`; other ops
    have none, as in :func:`scan`. float16 and bfloat16 are reduced in float32 and rounded once.

    length: of this rank's part; they add up to the extent along the axis.
    """
    group = comm_or_world(comm)
    number = _number_of(op, group, "comm_lengths")
    return _operators.reduce_scatter_along.default(_given(tensor, mixed_grad), group.handle, axis, length, number)


def alltoall_along(tensor: torch.Tensor, gather_axis: int, scatter_axis: int, length: int, *,
                   comm: "Comm" = COMM_WORLD, mixed_grad: bool = False) -> torch.Tensor:
    """A tensor that is partitioned over the ranks along ``gather_axis``, partitioned along ``scatter_axis`` instead.

    Collective as :func:`allgather_along`; a permutation of elements, whose adjoint is its inverse. Equal axes: the
    lengths of the parts change.

    length: of this rank's part along ``scatter_axis``; they add up to the whole extent.
    """
    return _operators.alltoall_along.default(_given(tensor, mixed_grad), comm_or_world(comm).handle, gather_axis,
                                             scatter_axis, length)
