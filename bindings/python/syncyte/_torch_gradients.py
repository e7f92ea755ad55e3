# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of whole tensors: reads record them, and sync_grad() adds them to the owners' rows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from . import _parts, dtypes, errors
from ._buffers import TORCH
from ._tensor_memory import GRADIENT_COMPANIONS, TensorMemory
from ._torch_operators import operators
from ._torch_refusals import check_tensor, not_a_tensor, refuse


def _companions(whole: TensorMemory) -> tuple[int, int]:
    made = whole.__dict__.get(GRADIENT_COMPANIONS)
    return (0, 0) if made is None else (made[0].handle, made[1].handle)


def gather(whole: TensorMemory, index: torch.Tensor, *, collective: bool = False) -> torch.Tensor:
    """Implements syncyte.torch.gather(), once `whole` is known to be a whole tensor."""
    companion, scratch = _companions(whole)
    local = whole._view("local", TORCH)
    if not collective:
        try:
            return operators.gather(local, whole.handle, companion, index)
        except Exception as error:
            refuse(error, index, "index")
            raise
    handle = whole.comm._prepare("gather_collective", lambda: whole.handle, always=True)
    if not scratch:
        raise errors.ArgumentError("gather(collective=True) needs the tensor's requires_grad_() first")
    try:
        return operators.gather_collective(local, handle, scratch, index)
    except Exception:
        if not isinstance(index, torch.Tensor):
            refused = not_a_tensor(index, "index")
            whole.comm._tell(refused, "gather_collective", always=True)
            raise refused from None
        raise


def scatter_add(whole: TensorMemory, index: torch.Tensor, source: torch.Tensor) -> None:
    """Implements syncyte.torch.scatter_add(collective=False), once `whole` is known to be a whole tensor."""
    try:
        operators.scatter_add(source, whole.handle, index)
    except Exception as error:
        refuse(error, index, "index")
        refuse(error, source, "source")
        raise


def scatter_add_collective(whole: TensorMemory, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """Implements syncyte.torch.scatter_add(collective=True), once `whole` is known to be a whole tensor."""

    def check() -> tuple[int, int]:
        for value, name in ((index, "index"), (source, "source")):
            check_tensor(value, name)
            if value.device.type != "cpu":
                text = f"{name} is on {value.device}; expected a tensor on the CPU, as the whole tensor is"
                raise errors.UnsupportedError(text)
        if dtypes.is_compiling() and GRADIENT_COMPANIONS not in whole.__dict__:
            raise errors.ArgumentError(
                "scatter_add(collective=True) in a compiled function needs the tensor's "
                "requires_grad_(), or such a call, before"
            )
        expected = (*index.shape, *whole.shape[1:])
        if tuple(source.shape) != expected:
            raise errors.ShapeError(f"source has shape {tuple(source.shape)}; expected {expected}, index's and a row's")
        return whole.handle, len(whole.rows())

    handle, rows = whole.comm._prepare("scatter_add", check, always=True)
    if GRADIENT_COMPANIONS not in whole.__dict__:
        _make_companions(whole)
    local = whole._view("local", TORCH)
    return local + operators.gather_adjoint(source, handle, _companions(whole)[1], index, rows)


def requires_grad_(whole: TensorMemory, requires_grad: bool) -> None:
    """Implements WholeTensor.requires_grad_(). Collective."""

    def check() -> None:
        if not isinstance(requires_grad, bool):
            raise errors.DtypeError(f"requires_grad is {requires_grad!r}; expected True or False")
        if requires_grad and not (whole.torch_dtype.is_floating_point or whole.torch_dtype.is_complex):
            raise errors.DtypeError(
                f"requires_grad_: dtype is {whole.torch_dtype}; expected a floating-point or complex one"
            )
        whole._check_in_place()

    if not requires_grad or GRADIENT_COMPANIONS in whole.__dict__:
        check()  # the other ranks create nothing here, so there is no agreement for an error
    else:
        whole.comm._prepare("tensor_create", check, always=True)
        _make_companions(whole)
    whole.local.requires_grad_(requires_grad)


def _make_companions(whole: TensorMemory) -> None:
    rows = len(whole.rows())
    whole.__dict__[GRADIENT_COMPANIONS] = tuple(
        type(whole)(
            whole.shape,
            whole.dtype,
            comm=whole.comm,
            local_rows=rows,
            label=f"{what} of {whole._called()}",
            device=whole._device,
        )
        for what in ("gradients", "gathers")
    )


@contextlib.contextmanager
def _collected(whole: TensorMemory, operation: str) -> Iterator[torch.Tensor]:
    """This rank's rows of the companion, with the gradients of all ranks' backward passes; cleared afterwards."""
    if GRADIENT_COMPANIONS not in whole.__dict__:
        raise errors.UnsupportedError(f"{operation}: the tensor records no gradients; call requires_grad_() first")
    companion = whole.__dict__[GRADIENT_COMPANIONS][0]
    whole._agree_in_place("tensor_sync")
    companion.sync()  # all adds have arrived
    yield companion.local
    companion.local.zero_()
    companion.sync()  # no rank adds anew before all have cleared


def sync_grad(whole: TensorMemory) -> None:
    """Implements WholeTensor.sync_grad(). Collective."""
    with _collected(whole, "sync_grad") as arrived:
        local = whole.local
        if local.grad is None:
            local.grad = arrived.clone()
            _parts.remember(local.grad, whole._own_part())
        else:
            local.grad += arrived


def zero_grad(whole: TensorMemory) -> None:
    """Implements WholeTensor.zero_grad(). Collective."""
    with _collected(whole, "zero_grad"):
        whole.local.grad = None
