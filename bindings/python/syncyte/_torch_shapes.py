# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of results while torch.compile traces a graph, for collectives that collect their counts when the graph runs.

The extent of joined parts is not known yet: it is a number of the graph ("unbacked" in torch's documentation), so that
one graph serves all extents, and nothing is sent while it is traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .errors import OutOfRangeError, UnsupportedError


def _axis(name: str, axis: int, shape: Sequence[Any]) -> int:
    ndim = len(shape)
    if not -ndim <= axis < ndim:
        raise OutOfRangeError(f"{name} is {axis}; expected {-ndim} to {ndim - 1}")
    return axis % ndim


def _joined(input: torch.Tensor, axis: int, extent: Any) -> torch.Tensor:
    shape: list[Any] = list(input.shape)
    shape[_axis("axis", axis, shape)] = torch.library.get_ctx().new_dynamic_size() if extent is None else extent
    return input.new_empty(shape)


def _cut(input: torch.Tensor, shape: Sequence[Any], axis: int, count: Any) -> torch.Tensor:
    result = list(shape)
    result[_axis("axis", axis, result)] = count
    return input.new_empty(result)


def _allgather(input: torch.Tensor, comm: int, axis: int, extent: Any = None, derivatives: int = 0) -> torch.Tensor:
    return _joined(input, axis, extent)


def _gather(
    input: torch.Tensor, comm: int, axis: int, root: int, extent: Any = None, derivatives: int = 0
) -> torch.Tensor:
    return _joined(input, axis, extent)


def _scatter(
    input: torch.Tensor, comm: int, axis: int, root: int, count: Any, shape: Any = None, derivatives: int = 0
) -> torch.Tensor:
    if shape is None:
        raise UnsupportedError(
            "scatter_along has no shape; inside torch.compile expected shape=, that of root's tensor, on all ranks"
        )
    return _cut(input, shape, axis, count)


def _reduce_scatter(
    input: torch.Tensor, comm: int, axis: int, count: Any, op: int = 1, derivatives: int = 0
) -> torch.Tensor:
    return _cut(input, input.shape, axis, count)


def _alltoall(
    input: torch.Tensor, comm: int, gather_axis: int, scatter_axis: int, count: Any, extent: Any = None,
    derivatives: int = 0,
) -> torch.Tensor:  # fmt: skip
    if _axis("gather_axis", gather_axis, input.shape) == _axis("scatter_axis", scatter_axis, input.shape):
        return _cut(input, input.shape, scatter_axis, count)
    # Torch's inductor (2.15) does not find an unknown extent where another one is known to be 0.
    if extent is None and isinstance(count, int) and count == 0:
        count = torch.library.get_ctx().new_dynamic_size()
    joined = _joined(input, gather_axis, extent)
    return _cut(input, joined.shape, scatter_axis, count)


def register() -> None:
    """Registers the rules; call it once, after the operators are loaded."""
    rules = {"allgather": _allgather, "gather": _gather, "scatter": _scatter, "reduce_scatter": _reduce_scatter,
             "alltoall": _alltoall}  # fmt: skip
    for name, rule in rules.items():
        torch.library.register_fake(f"syncyte::{name}_along", rule)  # type: ignore[arg-type]
