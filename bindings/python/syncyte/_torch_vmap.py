"""torch.vmap over the operations of syncyte.torch.

What is collective goes once for the whole batch, its dimension in front, so that ranks may have it in different places.
What depends on whole tensors and halos goes once for each element, in their order. The rest raises NotImplementedError:
a ticket stands for one operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

Rule = Callable[..., tuple[Any, Any]]


def _shifted(axis: int, ndim: int) -> int:
    """The axis behind the batch's dimension; one that is out of range stays so."""
    return axis + 1 if axis >= 0 else axis if axis >= -ndim else axis - 1


def _once(operator: Any, axes: Sequence[int], shapes: Sequence[int]) -> Rule:
    def rule(info: Any, in_dims: Sequence[int | None], tensor: torch.Tensor, *more: Any) -> tuple[torch.Tensor, int]:
        arguments = [tensor.movedim(in_dims[0], 0), *more]  # type: ignore[arg-type]
        ndim = len(arguments[shapes[0]]) if shapes else tensor.dim() - 1
        for place in axes:
            arguments[place] = _shifted(arguments[place], ndim)
        for place in shapes:
            arguments[place] = [info.batch_size, *arguments[place]]
        return operator(*arguments), 0

    return rule


def _in_place(operator: Any, *_: Any) -> Rule:
    def rule(info: Any, in_dims: Sequence[int | None], tensor: torch.Tensor, *more: Any) -> tuple[None, None]:
        operator(tensor.movedim(in_dims[0], 0), *more)  # type: ignore[arg-type]
        return None, None

    return rule


def _identity(operator: Any, *_: Any) -> Rule:
    def rule(info: Any, in_dims: Sequence[Any], tensor: torch.Tensor, *more: Any) -> tuple[torch.Tensor, int | None]:
        return operator(tensor, *more), in_dims[0]

    return rule


def _in_a_loop(operator: Any, *_: Any) -> Rule:
    def rule(info: Any, in_dims: Sequence[int | None], *arguments: Any) -> tuple[torch.Tensor, int]:
        def element(number: int) -> torch.Tensor:
            return operator(*(argument if dim is None else argument.select(dim, number)
                              for argument, dim in zip(arguments, in_dims, strict=True)))

        return torch.stack([element(number) for number in range(info.batch_size)]), 0

    return rule


def _refused(operator: Any, *_: Any) -> Rule:
    name = operator.name().removeprefix("syncyte::")

    def rule(*_: Any) -> tuple[Any, Any]:
        raise NotImplementedError(f"torch.vmap over syncyte::{name} is not possible: call it on the whole batch, "
                                  "outside of torch.vmap")

    return rule


_RULES = {"once": _once, "in_place": _in_place, "each": _in_a_loop, "first_tensor": _identity, "refused": _refused}


def register(operator: Any, batching: str, axes: Sequence[int], shapes: Sequence[int]) -> None:
    """Registers the rule of an operator, as the library's table describes it."""
    if batching in _RULES:
        torch.library.register_vmap(operator, _RULES[batching](operator, axes, shapes))
