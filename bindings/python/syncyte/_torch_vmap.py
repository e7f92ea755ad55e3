"""torch.vmap over the operations of syncyte.torch.

What is collective goes once for the whole batch, its dimension in front, so that ranks may have it in different places.
What depends on whole tensors and halos goes once for each element, in their order. The rest raises NotImplementedError:
a ticket stands for one operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

_ELEMENTWISE = ("allreduce", "bcast", "reduce", "scan", "exscan")
_IN_A_LOOP = ("halo_exchange", "gather", "gather_collective", "gather_adjoint")
_IDENTITIES = ("join_dummies", "join_order", "mixed_grad")
_IN_PLACE = ("bcast_", "reduce_")
_REFUSED = ("overwrite", "isend", "irecv", "isend_answer", "irecv_answer", "wait_message", "test_message",
            "start_collective", "wait_collective", "gather_backward")
# Which arguments are axes, and which are shapes.
_ALONG: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "allgather_along.lengths": ((2,), ()), "gather_along.lengths": ((2,), ()), "scatter_along.lengths": ((2,), (5,)),
    "reduce_scatter_along.lengths": ((2,), ()), "alltoall_along.lengths": ((2, 4), ()),
    "allgather_along.default": ((2,), ()), "gather_along.default": ((2,), ()), "scatter_along.default": ((2,), ()),
    "reduce_scatter_along.default": ((2,), ()), "alltoall_along.default": ((2, 3), ()),
}

Rule = Callable[..., tuple[Any, Any]]


def _shifted(axis: int, ndim: int) -> int:
    """The axis behind the batch's dimension; one that is out of range stays so."""
    return axis + 1 if axis >= 0 else axis if axis >= -ndim else axis - 1


def _once(operator: Any, axes: tuple[int, ...] = (), shapes: tuple[int, ...] = ()) -> Rule:
    def rule(info: Any, in_dims: Sequence[int | None], tensor: torch.Tensor, *more: Any) -> tuple[torch.Tensor, int]:
        arguments = [tensor.movedim(in_dims[0], 0), *more]  # type: ignore[arg-type]
        ndim = len(arguments[shapes[0]]) if shapes else tensor.dim() - 1
        for place in axes:
            arguments[place] = _shifted(arguments[place], ndim)
        for place in shapes:
            arguments[place] = [info.batch_size, *arguments[place]]
        return operator(*arguments), 0

    return rule


def _in_place(operator: Any) -> Rule:
    def rule(info: Any, in_dims: Sequence[int | None], tensor: torch.Tensor, *more: Any) -> tuple[None, None]:
        operator(tensor.movedim(in_dims[0], 0), *more)  # type: ignore[arg-type]
        return None, None

    return rule


def _identity(operator: Any) -> Rule:
    def rule(info: Any, in_dims: Sequence[Any], tensor: torch.Tensor, *more: Any) -> tuple[torch.Tensor, int | None]:
        return operator(tensor, *more), in_dims[0]

    return rule


def _in_a_loop(operator: Any) -> Rule:
    def rule(info: Any, in_dims: Sequence[int | None], *arguments: Any) -> tuple[torch.Tensor, int]:
        def element(number: int) -> torch.Tensor:
            return operator(*(argument if dim is None else argument.select(dim, number)
                              for argument, dim in zip(arguments, in_dims, strict=True)))

        return torch.stack([element(number) for number in range(info.batch_size)]), 0

    return rule


def _refused(name: str) -> Rule:
    def rule(*_: Any) -> tuple[Any, Any]:
        raise NotImplementedError(f"torch.vmap over syncyte::{name} is not possible: call it on the whole batch, "
                                  "outside of torch.vmap")

    return rule


def register() -> None:
    """Called once, when the library is loaded."""

    def add(name: str, rule: Rule) -> None:
        torch.library.register_vmap(f"syncyte::{name.removesuffix('.default')}", rule)

    def operator(name: str) -> Any:
        packet, _, overload = name.partition(".")
        return getattr(getattr(torch.ops.syncyte, packet), overload or "default")

    for name in _ELEMENTWISE:
        add(name, _once(operator(name)))
    for name, (axes, shapes) in _ALONG.items():
        add(name, _once(operator(name), axes, shapes))
    for names, rule in ((_IN_PLACE, _in_place), (_IDENTITIES, _identity), (_IN_A_LOOP, _in_a_loop)):
        for name in names:
            add(name, rule(operator(name)))
    for name in _REFUSED:
        add(name, _refused(name))
