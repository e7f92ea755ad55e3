"""Differentiable operations on torch tensors: ``torch.ops.syncyte.*`` with their documentation.

Importing this module imports torch and loads libsyncyte_torch; it does not initialise MPI.

Communicators and whole tensors travel through torch's schemas as integers that are never used twice in a process, so
that a graph compiled with one that was freed since raises an error.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Sequence

import torch

from . import _library, errors
from .comm import comm_or_world

if typing.TYPE_CHECKING:
    from .comm import Comm
    from .tensor import WholeTensor

__all__ = ["Request", "allgather_along", "allreduce", "alltoall_along", "bcast", "exscan", "gather", "gather_along",
           "irecv", "isend", "join_dummies", "recv", "reduce", "reduce_scatter_along", "scan", "scatter_along", "send",
           "sendrecv", "wait_all"]

# Operations whose order among each other matters, and which must run even if nobody uses their results: a rank whose
# compiler dropped one would leave the others waiting.
_EFFECTFUL = ("allreduce.default", "bcast.default", "reduce.default", "scan.default", "exscan.default",
              "allgather_along.lengths", "gather_along.lengths", "scatter_along.lengths", "reduce_scatter_along.lengths",
              "alltoall_along.lengths", "gather.default", "gather_backward.default", "gather_collective.default",
              "gather_adjoint.default", "isend.default", "irecv.default", "isend_answer.default",
              "irecv_answer.default", "wait_message.default")


def _register_effects() -> None:
    from torch._higher_order_ops import effects

    # Private in all versions so far: torch 2.6 defines the enumeration in this module, 2.15 in another one.
    try:
        ordered = effects._EffectType.ORDERED
    except AttributeError:
        from torch._library.effects import EffectType

        ordered = EffectType.ORDERED
    for name in _EFFECTFUL:
        packet, overload = name.split(".")
        effects._register_effectful_op(getattr(getattr(torch.ops.syncyte, packet), overload), ordered)


@functools.cache
def load() -> None:
    """Loads libsyncyte_torch and registers its operations with torch.compile. Local; further calls do nothing."""
    torch.ops.load_library(_library.find("syncyte_torch"))
    _register_effects()


def allreduce(tensor: torch.Tensor, comm: "Comm | None" = None) -> torch.Tensor:
    """Sum of ``tensor`` over the ranks of ``comm``, the same on all of them; a new contiguous tensor.

    Collective: all ranks give equal shapes and dtypes, and record gradients (requires_grad, outside of
    torch.no_grad()) on all ranks or on none, because backward is collective too; otherwise all raise ValueError.
    Differentiable, any number of times, backward and forward: the adjoint of the sum over ranks is the sum over ranks,
    and so is the map of tangents, which all ranks have or none. torch.func.jvp and vmap (a collective for each element)
    work; torch.func.grad raises RuntimeError: use torch.autograd.grad. float16 and bfloat16 are summed in float32 and
    rounded once.

    tensor: any shape, any dtype of Syncyte, any strides, on the CPU.
    comm: COMM_WORLD by default.
    """
    return _operators.allreduce(tensor, comm_or_world(comm).handle)


def bcast(tensor: torch.Tensor, root: int = 0, comm: "Comm | None" = None) -> torch.Tensor:
    """``tensor`` of root, on all ranks; a new contiguous tensor.

    Collective: all ranks give equal shapes and dtypes, and record gradients on all ranks or on none, as in
    :func:`allreduce`. Differentiable, any number of times, backward and forward. With y_r = x_root, the adjoint is
    :func:`reduce`: root gets the sum of all ranks' cotangents, the others zeros.
    """
    return _operators.bcast(tensor, comm_or_world(comm).handle, root)


def reduce(tensor: torch.Tensor, root: int = 0, comm: "Comm | None" = None) -> torch.Tensor:
    """Sum of ``tensor`` over the ranks on root, zeros elsewhere; a new contiguous tensor.

    Collective and differentiable as :func:`bcast`, which is its adjoint: all ranks get root's cotangent. float16 and
    bfloat16 are summed in float32 and rounded once.
    """
    return _operators.reduce(tensor, comm_or_world(comm).handle, root)


def scan(tensor: torch.Tensor, *, reverse: bool = False, comm: "Comm | None" = None) -> torch.Tensor:
    """Sum of ``tensor`` over ranks 0 to this one (``reverse``: this one to the last); a new contiguous tensor.

    Collective and differentiable as :func:`allreduce`. The adjoint is the scan from the other end.
    """
    return _operators.scan(tensor, comm_or_world(comm).handle, reverse)


def exscan(tensor: torch.Tensor, *, reverse: bool = False, comm: "Comm | None" = None) -> torch.Tensor:
    """As :func:`scan`, without this rank's own: zeros on the rank where it begins."""
    return _operators.exscan(tensor, comm_or_world(comm).handle, reverse)


def allgather_along(tensor: torch.Tensor, axis: int = 0, *, lengths: Sequence[int] | None = None,
                    comm: "Comm | None" = None) -> torch.Tensor:
    """All ranks' tensors joined along an axis, in order of ranks, on all ranks.

    Collective: dtypes and extents but along the axis are equal on all ranks; gradients are recorded on all ranks or on
    none. Differentiable, any number of times, backward and forward. The adjoint is :func:`reduce_scatter_along`: each
    rank gets the sum over ranks of its part's cotangents.

    tensor: at least one dimension; any strides; its extent along the axis may differ between ranks, and be 0.
    axis: a negative one counts from the end.
    lengths: all ranks' extents along the axis, where they are known; otherwise they are collected first. A compiled
        function keeps those of its first call; if they change on some rank, all ranks raise ValueError.
    """
    handle = comm_or_world(comm).handle
    if lengths is None:
        return _operators.allgather_along.default(tensor, handle, axis)
    return _operators.allgather_along.lengths(tensor, handle, axis, lengths)


def gather_along(tensor: torch.Tensor, axis: int = 0, root: int = 0, *, lengths: Sequence[int] | None = None,
                 comm: "Comm | None" = None) -> torch.Tensor:
    """As :func:`allgather_along`, on root; on other ranks the result's extent along the axis is 0.

    The adjoint is :func:`scatter_along`: each rank gets its part of root's cotangent.
    """
    handle = comm_or_world(comm).handle
    if lengths is None:
        return _operators.gather_along.default(tensor, handle, axis, root)
    return _operators.gather_along.lengths(tensor, handle, axis, lengths, root)


def scatter_along(tensor: torch.Tensor, length: int, axis: int = 0, root: int = 0, *,
                  comm: "Comm | None" = None) -> torch.Tensor:
    """This rank's part of root's tensor, which is cut along an axis in order of ranks.

    Collective and differentiable as :func:`allgather_along`. The adjoint is :func:`gather_along`: root gets all ranks'
    cotangents joined, the others zeros.

    tensor: of root; on other ranks only its dtype counts, and that it may require gradients.
    length: of this rank's part; they add up to root's extent along the axis.
    """
    return _operators.scatter_along.default(tensor, comm_or_world(comm).handle, axis, length, root)


def reduce_scatter_along(tensor: torch.Tensor, length: int, axis: int = 0, *,
                         comm: "Comm | None" = None) -> torch.Tensor:
    """This rank's part of the sum of all ranks' tensors, which is cut along an axis in order of ranks.

    Collective and differentiable as :func:`allgather_along`, which is its adjoint. All ranks' shapes are equal. float16
    and bfloat16 are summed in float32 and rounded once.

    length: of this rank's part; they add up to the extent along the axis.
    """
    return _operators.reduce_scatter_along.default(tensor, comm_or_world(comm).handle, axis, length)


def alltoall_along(tensor: torch.Tensor, gather_axis: int, scatter_axis: int, length: int, *,
                   comm: "Comm | None" = None) -> torch.Tensor:
    """A tensor that is partitioned over the ranks along ``gather_axis``, partitioned along ``scatter_axis`` instead.

    Collective and differentiable as :func:`allgather_along`; a permutation of elements, whose adjoint is its inverse.
    Equal axes: the lengths of the parts change.

    length: of this rank's part along ``scatter_axis``; they add up to the whole extent.
    """
    return _operators.alltoall_along.default(tensor, comm_or_world(comm).handle, gather_axis, scatter_axis, length)


def gather(whole: "WholeTensor", index: torch.Tensor, *, collective: bool = False) -> torch.Tensor:
    """Rows of a whole tensor: result[i] = whole[index[i]], of shape index.shape + a row's shape. Differentiable with
    respect to ``whole.local`` after ``whole.requires_grad_()``; works inside torch.compile(fullgraph=True).

    collective=False: local; ranks gather different numbers of times. Backward adds one-sided into a companion tensor,
    and the collective ``whole.sync_grad()`` brings it home to ``whole.local.grad``. Nothing flows to ``whole.local``
    through autograd itself, so torch.autograd.grad with respect to it raises, and so do double backward and forward
    mode. The graph keeps the companion for as long as it lives.

    collective=True: a pure function of all ranks' ``local``, which all ranks call equally often, forward and backward.
    Its gradient is the true one; differentiable any number of times, backward and forward. As in allreduce, gradients
    are recorded on all ranks or on none.

    index: int32 or int64, on the CPU. Raises IndexError (names index and position), on all ranks if collective.
    """
    companion, scratch = _companions(whole)
    if not collective:
        return _operators.gather(whole.local, whole.handle, companion, index)
    if not scratch:
        raise errors.ArgumentError("gather(collective=True) needs the tensor's requires_grad_() first")
    return _operators.gather_collective(whole.local, whole.handle, scratch, index)


# What differentiation adds to whole tensors: for adds of backward passes, and for values in flight.
_COMPANIONS = "_gradient_companions"


def _companions(whole: "WholeTensor") -> tuple[int, int]:
    made = whole.__dict__.get(_COMPANIONS)
    return (0, 0) if made is None else (made[0].handle, made[1].handle)


def requires_grad_(whole: "WholeTensor", requires_grad: bool) -> None:
    """What WholeTensor.requires_grad_() does. Collective."""
    if requires_grad and not (whole.torch_dtype.is_floating_point or whole.torch_dtype.is_complex):
        raise errors.DtypeError(
            f"requires_grad_: dtype is {whole.torch_dtype}; expected a floating-point or complex one"
        )
    if requires_grad and _COMPANIONS not in whole.__dict__:
        rows = len(whole.rows())
        whole.__dict__[_COMPANIONS] = tuple(
            type(whole)(whole.shape, whole.dtype, comm=whole.comm, local_rows=rows, name=name)
            for name in ("gradient companion", "gather scratch")
        )
    whole.local.requires_grad_(requires_grad)


def sync_grad(whole: "WholeTensor") -> None:
    """What WholeTensor.sync_grad() does. Collective."""
    if _COMPANIONS not in whole.__dict__:
        raise errors.UnsupportedError("sync_grad: the tensor records no gradients; call requires_grad_() first")
    companion = whole.__dict__[_COMPANIONS][0]
    companion.sync()
    local, arrived = whole.local, companion.local
    if local.grad is None:
        local.grad = arrived.clone()
    else:
        local.grad += arrived
    arrived.zero_()
    companion.sync()


from ._torch_messages import Request, irecv, isend, join_dummies, recv, send, sendrecv, wait_all  # noqa: E402

load()
_operators = torch.ops.syncyte  # finding the namespace anew costs microseconds
