# SPDX-License-Identifier: BSD-3-Clause
"""Differentiable relocation of rows: each goes to the rank that its owner names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.autograd import forward_ad

from ._buffers import rank_array
from ._checks import wrong
from ._torch_collectives import _given
from ._torch_layouts import _next_number
from ._torch_refusals import advise, check_movable, check_tensor, never_compiled
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError, MismatchError, ShapeError, UnsupportedError

__all__ = ["relocate_rows"]

_OPERATION = "relocate_rows"


class _Rows:
    """A relocation of rows."""

    def __init__(self, comm: Comm, destinations: np.ndarray, forward: int = 0):
        self.comm = comm
        self.destinations = destinations
        self.forward = forward  #: its number, or that of the relocation whose gradients are moved
        self.origins = np.zeros((0, 2), np.int64)  #: rank and number that each row has had, once they have moved

    def run(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        host: list[Any] = [each.detach().resolve_conj().resolve_neg().to("cpu") for each in tensors]
        count = len(self.destinations)
        places = np.stack([np.full(count, self.comm.rank, np.int64), np.arange(count)], axis=1)
        *moved, self.origins = self.comm.relocate_rows([*host, places], self.destinations)
        return [result.to(each.device) for result, each in zip(moved, tensors, strict=True)]

    def back(self) -> _Rows:
        """The way back, once the rows have moved."""
        return _Rows(self.comm, rank_array(self.origins[:, 0], "origins"), self.forward)


def _has_gradient(tensor: torch.Tensor) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


class _Moved(torch.autograd.Function):
    """A relocation of rows."""

    @staticmethod
    def forward(rows: _Rows, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(rows.run(tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        ctx.rows = inputs[0]
        ctx.is_moved = [_has_gradient(each) for each in inputs[1:]]
        ctx.mark_non_differentiable(*(each for each in output if not _has_gradient(each)))
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        rows = ctx.rows
        given = [each for each, moved in zip(gradients, ctx.is_moved, strict=True) if moved]
        numbers = torch.from_numpy(np.ascontiguousarray(rows.origins[:, 1]))
        *arrived, places = _moved(rows.back(), [*given, numbers], backward=True)
        results = iter(
            torch.zeros((len(rows.destinations), *each.shape[1:]), dtype=each.dtype, device=each.device).index_copy(
                0, places.to(each.device), each
            )
            for each in arrived
        )
        return None, *(next(results) if moved else None for moved in ctx.is_moved)

    @staticmethod
    def vmap(*_: Any) -> None:
        raise UnsupportedError(f"torch.vmap does not take {_OPERATION}: call it once for each element")

    @staticmethod
    def jvp(ctx: Any, _rows: None, *tangents: torch.Tensor | None) -> Any:
        given = [
            torch.zeros_like(at) if tangent is None else tangent
            for tangent, at in zip(tangents, ctx.saved_tensors, strict=True)
            if _has_gradient(at)
        ]
        rows = _Rows(ctx.rows.comm, ctx.rows.destinations, ctx.rows.forward)
        moved = iter(_moved(rows, given))
        return tuple(next(moved) if is_moved else None for is_moved in ctx.is_moved)


def _moved(
    rows: _Rows, tensors: Sequence[torch.Tensor], mixed_grad: bool = False, backward: bool = False
) -> list[torch.Tensor]:
    """The rows that this rank gets of each tensor; all ranks record gradients, or none."""
    facts = {
        "number of the forward": rows.forward,
        "mixed_grad": int(mixed_grad),
        "needs-gradient": int(torch.is_grad_enabled() and any(each.requires_grad for each in tensors)),
        "has-tangent": int(any(forward_ad.unpack_dual(each).tangent is not None for each in tensors)),
    }
    try:
        rows.comm.agree(None, _OPERATION + "_adjoint" * backward, **facts)
    except MismatchError as error:
        advise(error)
        raise
    if rows.forward == 0:
        rows.forward = _next_number(rows.comm)
    return list(_Moved.apply(rows, *tensors))


@never_compiled("relocation has no operator of torch")
def relocate_rows(
    tensors: Any, destinations: Any, *, comm: Comm = COMM_WORLD, mixed_grad: bool = False
) -> torch.Tensor | list[torch.Tensor]:
    """Moves rows to other ranks, such as particles that have left a rank's part of space. Collective.

    As :meth:`syncyte.Comm.relocate_rows`. Differentiable any number of times, backward and forward: the gradient of a
    row goes back to where the row has been; a row that goes nowhere gets 0. Tensors that cannot have gradients, such as
    numbers of particles, may travel along. In torch.compile it breaks the graph.

    Parameters
    ----------
    tensors : torch.Tensor, or list or tuple of torch.Tensor
        (rows, ...), on any device, with as many rows each.
    destinations : integers
        The rank that each row goes to; PROC_NULL: the row goes nowhere.
    comm : Comm
        The communicator.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor, or list of torch.Tensor
        The rows that stay, then those of rank 0, 1, ..., all in their order.

    Raises
    ------
    MismatchError
        On all ranks: ranks differ in the tensors' types or rows, or in recording gradients.
    ArgumentError, ShapeError, DtypeError
        On all ranks: a destination that is no rank; other numbers of rows than destinations.
    UnsupportedError
        On all ranks: a sparse, quantised, nested or meta tensor; within torch.vmap, make_fx or torch.export.
    """
    group = comm_or_world(comm)
    several = isinstance(tensors, (list, tuple))

    def prepare() -> tuple[_Rows, list[torch.Tensor]]:
        given = list(tensors) if several else [tensors]
        if not given:
            raise wrong(ArgumentError, "tensors", "empty", "a tensor or more")
        ranks = rank_array(destinations, "destinations")
        for tensor in given:
            check_tensor(tensor, "tensors")
            check_movable(tensor, "tensors", _OPERATION)
            if tensor.shape[:1] != ranks.shape:
                expected = f"{ranks.size} rows, one for each destination"
                raise wrong(ShapeError, "tensors", f"a tensor of shape {tuple(tensor.shape)}", expected)
        return _Rows(group._retained(), ranks), [_given(each, mixed_grad and _has_gradient(each)) for each in given]

    results = _moved(*group._prepare(_OPERATION, prepare), mixed_grad)
    return results if several else results[0]
