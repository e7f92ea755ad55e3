"""Differentiable operations on torch tensors: ``torch.ops.syncyte.*`` with their documentation.

Importing this module imports torch and loads libsyncyte_torch; it does not initialise MPI.

Communicators and whole tensors travel through torch's schemas as integers that are never used twice in a process, so
that a graph compiled with one that was freed since raises an error.

Gradients of a collective are recorded on all ranks or on none, because backward is collective too. Where only some
ranks need a gradient, pass ``mixed_grad=True`` on all ranks: every rank's result then requires one. The other ranks
take part in backward; their gradients are dropped. All ranks must run backward(). torch.autograd.grad() finds no path
to those ranks' inputs. Not available in torch.compile (UnsupportedError): call detach() and requires_grad_() before the
compiled function instead.

A collective that one rank calls with a wrong argument, or that ranks call with different ones, raises on all of them,
and the next one works. Errors that Python finds are also instances of syncyte.Error; errors that torch's operators find
are of the built-in class only.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

import torch

from . import _library, _torch_vmap, errors
from ._buffers import TORCH
from ._data_parallel import DataParallel
from ._torch_collectives import (_given, allgather_along, allreduce, alltoall_along, barrier, bcast, bcast_, exscan,
                                 gather_along, reduce, reduce_, reduce_scatter_along, scan, scatter_along)
from ._torch_messages import irecv, isend, recv, send, sendrecv
from ._torch_nonblocking import iallgather_along, iallreduce, ialltoall_along, ibcast, ireduce_scatter_along
from ._torch_ordered import ordered
from ._torch_refusals import advise, not_a_tensor, refuse
from ._torch_requests import Request, join_dummies, wait_all
from .cart import Halo
from .tensor import WholeTensor

__all__ = ["DataParallel", "Request", "allgather_along", "allreduce", "alltoall_along", "barrier", "bcast", "bcast_",
           "exscan", "gather", "gather_along", "halo_exchange", "iallgather_along", "iallreduce", "ialltoall_along",
           "ibcast", "irecv", "ireduce_scatter_along", "isend", "join_dummies", "ordered", "recv", "reduce",
           "reduce_", "reduce_scatter_along", "scan", "scatter_along", "send", "sendrecv", "use_cuda_aware_mpi",
           "wait_all"]

# Operations whose order among each other matters, and which must run even if nobody uses their results: a rank whose
# compiler dropped one would leave the others waiting.
_EFFECTFUL = ("allreduce.default", "bcast.default", "reduce.default", "scan.default", "exscan.default",
              "allgather_along.lengths", "gather_along.lengths", "scatter_along.lengths", "reduce_scatter_along.lengths",
              "alltoall_along.lengths", "gather.default", "gather_backward.default", "gather_collective.default",
              "gather_adjoint.default", "isend.default", "irecv.default", "isend_answer.default",
              "irecv_answer.default", "barrier.default", "wait_message.default", "start_collective.default",
              "wait_collective.default", "halo_exchange.default")


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
    _torch_vmap.register()


def use_cuda_aware_mpi(use: bool | None = None) -> None:
    """Whether MPI is given the memory of CUDA tensors, by what only moves elements: messages, broadcasts, and gathers,
    scatters and all-to-alls along axis 0. Local: ranks may differ.

    use: True, False, or None, the default: where the MPI library says that it is CUDA-aware (or SYNCYTE_CUDA_AWARE=on
        does). With True elsewhere such operations raise NotImplementedError.
    """
    if use is not None and not isinstance(use, bool):
        raise errors.ArgumentError(f"use is {use!r}; expected True, False or None")
    torch.ops.syncyte.use_device_memory(2 if use is None else int(use))


def gather(whole: WholeTensor, index: torch.Tensor, *, collective: bool = False) -> torch.Tensor:
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
    if not isinstance(whole, WholeTensor):
        raise errors.DtypeError(f"whole is a {type(whole).__name__}; expected a syncyte.WholeTensor")
    companion, scratch = _companions(whole)
    local = whole._view("local", TORCH)
    if not collective:
        try:
            return _operators.gather(local, whole.handle, companion, index)
        except Exception as error:
            refuse(error, index, "index")
            raise
    handle = whole.comm._prepare("gather_collective", lambda: whole.handle, lifecycle=True)
    if not scratch:
        raise errors.ArgumentError("gather(collective=True) needs the tensor's requires_grad_() first")
    try:
        return _operators.gather_collective(local, handle, scratch, index)
    except Exception:
        if not isinstance(index, torch.Tensor):
            refused = not_a_tensor(index, "index")
            whole.comm._tell(refused, "gather_collective", lifecycle=True)
            raise refused from None
        raise


def halo_exchange(tensor: torch.Tensor, halo: Halo, *, mixed_grad: bool = False) -> torch.Tensor:
    """``tensor`` with its ghosts filled from the neighbours; a new contiguous tensor. All ranks of the halo's
    communicator call it; it waits for the neighbours only.

    With y = H x the adjoint H' adds the ghosts' cotangents to the neighbours' cells that they show, and gives the ghosts
    themselves zeros; ghosts beyond an open border stay as they are, both ways. Differentiable, any number of times,
    backward and forward: gradients are recorded on all ranks or on none, and backward runs on all of them, in one order;
    neighbours that differ raise ValueError.

    tensor: of the halo's element type and shape (``syncyte.Halo``), any strides, on any device.
    mixed_grad: see :mod:`syncyte.torch`.
    Raises, here and on the neighbours: TypeError (not a tensor, another dtype than the halo's); ValueError (another shape;
        neighbours that differ in recording gradients); NotImplementedError (a sparse, quantised, nested or meta tensor).
    """
    if not isinstance(halo, Halo):
        raise errors.DtypeError(f"halo is a {type(halo).__name__}; expected a syncyte.Halo")
    try:
        return _operators.halo_exchange(_given(tensor, mixed_grad), halo.handle)
    except Exception as error:
        advise(error)
        if not isinstance(tensor, torch.Tensor):
            halo._refuse()
            raise not_a_tensor(tensor) from None
        raise


# What differentiation adds to whole tensors: for adds of backward passes, and for values in flight.
_COMPANIONS = "_gradient_companions"


def _companions(whole: WholeTensor) -> tuple[int, int]:
    made = whole.__dict__.get(_COMPANIONS)
    return (0, 0) if made is None else (made[0].handle, made[1].handle)


def requires_grad_(whole: WholeTensor, requires_grad: bool) -> None:
    """Implements WholeTensor.requires_grad_(). Collective."""

    def check() -> None:
        if not isinstance(requires_grad, bool):
            raise errors.DtypeError(f"requires_grad is {requires_grad!r}; expected True or False")
        if requires_grad and not (whole.torch_dtype.is_floating_point or whole.torch_dtype.is_complex):
            raise errors.DtypeError(
                f"requires_grad_: dtype is {whole.torch_dtype}; expected a floating-point or complex one"
            )
        whole._check_in_place()

    if not requires_grad or _COMPANIONS in whole.__dict__:
        check()  # the other ranks create nothing, and would not hear of an error
    else:
        whole.comm._prepare("tensor_create", check, lifecycle=True)
        rows = len(whole.rows())
        whole.__dict__[_COMPANIONS] = tuple(
            type(whole)(whole.shape, whole.dtype, comm=whole.comm, local_rows=rows, name=f"{what} of {whole._called()}")
            for what in ("gradients", "gathers")
        )
    whole.local.requires_grad_(requires_grad)


def _companion(whole: WholeTensor, operation: str) -> WholeTensor:
    if _COMPANIONS not in whole.__dict__:
        raise errors.UnsupportedError(f"{operation}: the tensor records no gradients; call requires_grad_() first")
    return whole.__dict__[_COMPANIONS][0]


@contextlib.contextmanager
def _collected(whole: WholeTensor, operation: str) -> Iterator[torch.Tensor]:
    """This rank's rows of the companion, with the gradients of all ranks' backward passes; cleared afterwards."""
    companion = _companion(whole, operation)
    whole._agree_in_place("tensor_sync")
    companion.sync()  # all adds have arrived
    yield companion.local
    companion.local.zero_()
    companion.sync()  # no rank adds anew before all have cleared


def sync_grad(whole: WholeTensor) -> None:
    """Implements WholeTensor.sync_grad(). Collective."""
    with _collected(whole, "sync_grad") as arrived:
        local = whole.local
        if local.grad is None:
            local.grad = arrived.clone()
        else:
            local.grad += arrived


def zero_grad(whole: WholeTensor) -> None:
    """Implements WholeTensor.zero_grad(). Collective."""
    with _collected(whole, "zero_grad"):
        whole.local.grad = None


load()
_operators = torch.ops.syncyte  # finding the namespace anew costs microseconds
