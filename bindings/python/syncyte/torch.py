# SPDX-License-Identifier: BSD-3-Clause
"""Differentiable operations on torch tensors: ``torch.ops.syncyte.*`` with their documentation.

Importing this module imports torch and loads libsyncyte_torch; it does not initialize MPI.

In torch's schemas communicators and whole tensors are integers that are never re-used in a process, so that a compiled
graph raises an error after one of them was freed.

Gradients of a collective are recorded on all ranks or on none, because backward is collective too. If only some ranks
need a gradient, pass ``mixed_grad=True`` on all ranks: every rank's result then requires one. The other ranks take part
in backward; their gradients are dropped. All ranks must run backward(). torch.autograd.grad() finds no path to the
inputs of these. Not available in torch.compile (UnsupportedError): call detach() and requires_grad_() before the
compiled function instead.

If one rank calls a collective with a wrong argument, or ranks call it with different ones, it raises on all of them,
and the next collective works. Errors detected in Python are also instances of syncyte.Error; errors detected by torch's
operators are only of the built-in class.
"""

from __future__ import annotations

import torch

from . import (
    _torch_bundles,
    _torch_collectives,
    _torch_gradients,
    _torch_layouts,
    _torch_nonblocking,
    _torch_requests,
    _torch_rows,
    errors,
)
from ._checks import check_kind
from ._data_parallel import DataParallel
from ._row_loader import RowLoader
from ._torch_bundles import *  # noqa: F403  (the functions that its __all__ lists, as of the other modules)
from ._torch_collectives import *  # noqa: F403
from ._torch_collectives import _given, _refuse_compiled
from ._torch_layouts import *  # noqa: F403
from ._torch_nonblocking import *  # noqa: F403
from ._torch_operators import IF_MPI_IS_CUDA_AWARE, operators
from ._torch_refusals import advise, not_a_tensor
from ._torch_requests import *  # noqa: F403
from ._torch_rows import *  # noqa: F403
from .cart import Halo
from .tensor import WholeTensor

__all__ = ["DataParallel", "RowLoader", "gather", "halo_exchange", "scatter_add", "use_cuda_aware_mpi"]
__all__ += _torch_bundles.__all__
__all__ += _torch_collectives.__all__
__all__ += _torch_layouts.__all__
__all__ += _torch_nonblocking.__all__
__all__ += _torch_requests.__all__
__all__ += _torch_rows.__all__


def use_cuda_aware_mpi(use: bool | None = None) -> None:
    """Chooses whether operations that only move elements pass memory of CUDA tensors to MPI. Local: ranks may differ.

    These operations are messages, broadcasts, and gathers, scatters and all-to-alls along axis 0.

    Parameters
    ----------
    use : bool, optional
        None, the default: if the MPI library reports that it is CUDA-aware, or SYNCYTE_CUDA_AWARE=on is set. With True,
        such operations raise NotImplementedError if it is not.

    Raises
    ------
    ArgumentError
        Anything else.
    """
    if use is not None and not isinstance(use, bool):
        raise errors.ArgumentError(f"use is {use!r}; expected True, False or None")
    operators.use_device_memory(IF_MPI_IS_CUDA_AWARE if use is None else int(use))


def gather(whole: WholeTensor, index: torch.Tensor, *, collective: bool = False) -> torch.Tensor:
    """Reads rows of a whole tensor: result[i] = whole[index[i]], of shape index.shape + a row's shape.

    Differentiable with respect to ``whole.local`` after ``whole.requires_grad_()``; works inside
    torch.compile(fullgraph=True).

    collective=False: local; ranks may gather different numbers of times. Backward adds one-sided into a companion
    tensor, and the collective ``whole.sync_grad()`` adds that to ``whole.local.grad``. Autograd itself passes no
    gradient to ``whole.local``, so torch.autograd.grad with respect to it raises, and so do double backward and forward
    mode. The graph keeps the companion tensor alive.

    collective=True: a pure function of all ranks' ``local``, which all ranks call equally often, forward and backward.
    Autograd passes the whole gradient; differentiable any number of times, backward and forward. As in allreduce,
    gradients are recorded on all ranks or on none.

    Parameters
    ----------
    whole : WholeTensor
        The tensor.
    index : torch.Tensor of int32 or int64
        Row numbers, on the CPU.
    collective : bool
        See above.

    Returns
    -------
    torch.Tensor
        The rows.

    Raises
    ------
    IndexError
        A row that does not exist; names index and position. On all ranks if collective.
    """
    check_kind(whole, WholeTensor, "whole", "a syncyte.WholeTensor")
    return _torch_gradients.gather(whole, index, collective=collective)


def scatter_add(
    whole: WholeTensor, index: torch.Tensor, source: torch.Tensor, *, collective: bool = False
) -> torch.Tensor | None:
    """Adds to rows of a whole tensor: whole[index[i]] += source[i]. The adjoint of gather().

    No add is lost, whichever ranks add to a row at once; a row that repeats is added to several times. Works inside
    torch.compile(fullgraph=True).

    collective=False: local; changes the whole tensor, and returns None. All ranks see the sums after ``whole.sync()``.
    It has no gradient: a source that requires grad is refused.

    collective=True: a pure function of all ranks' ``local`` and ``source``, which all ranks call equally often, forward
    and backward. It leaves the whole tensor unchanged and returns this rank's rows of the sum, a new tensor.
    Differentiable any number of times, backward and forward: the gradient of ``source`` is the gather of the result's
    gradient; ``whole.local`` (after ``whole.requires_grad_()``) gets the result's gradient. As in allreduce, gradients
    are recorded on all ranks or on none.

    Parameters
    ----------
    whole : WholeTensor
        The tensor.
    index : torch.Tensor of int32 or int64
        Row numbers, on the CPU.
    source : torch.Tensor
        Rows of the whole tensor's element type, of shape index.shape + a row's shape.
    collective : bool
        See above.

    Returns
    -------
    torch.Tensor or None
        With collective=True the new values of this rank's rows.

    Raises
    ------
    IndexError
        A row that does not exist; names index and position. On all ranks if collective.
    NotImplementedError
        A row of another node, where there is no UCX between them.
    """
    check_kind(whole, WholeTensor, "whole", "a syncyte.WholeTensor")
    if collective:
        return _torch_gradients.scatter_add_collective(whole, index, source)
    _torch_gradients.scatter_add(whole, index, source)
    return None


def halo_exchange(tensor: torch.Tensor, halo: Halo, *, mixed_grad: bool = False) -> torch.Tensor:
    """Returns a new contiguous tensor: ``tensor`` with its ghosts filled from the neighbours.

    All ranks of the halo's communicator call it; it waits for the neighbours only.

    With y = H x, the adjoint H' adds the ghosts' cotangents to the neighbours' cells that they copy, and sets the
    ghosts' cotangents to zero; ghosts beyond an open border are unchanged, in both directions. Differentiable, any
    number of times, backward and forward: gradients are recorded on all ranks or on none, and backward runs on all of
    them, in the same order; neighbours that differ raise ValueError.

    Parameters
    ----------
    tensor : torch.Tensor
        A tensor of the halo's element type and shape (``syncyte.Halo``), any strides, on any device.
    halo : Halo
        The halo.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor
        The new tensor.

    Raises
    ------
    TypeError
        Here and on the neighbours: not a tensor, another dtype than the halo's.
    ValueError
        Here and on the neighbours: another shape; neighbours that differ in recording gradients.
    NotImplementedError
        Here and on the neighbours: a sparse, quantised, nested or meta tensor.
    """
    check_kind(halo, Halo, "halo", "a syncyte.Halo")
    _refuse_compiled(mixed_grad)
    try:
        return operators.halo_exchange(_given(tensor, mixed_grad), halo.handle)
    except Exception as error:
        advise(error)
        if not isinstance(tensor, torch.Tensor):
            halo._refuse()
            raise not_a_tensor(tensor) from None
        raise
