# SPDX-License-Identifier: BSD-3-Clause
"""torchshard.nn.functional: functions of the parallel layers."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn._reduction import legacy_get_string

from syncyte._checks import as_index, wrong
from syncyte.comm import Comm
from syncyte.errors import ShapeError
from syncyte.nn import functional

from .. import distributed
from .._tags import get_parallel_dim, set_attribute

__all__ = ["parallel_cross_entropy", "parallel_embedding", "parallel_linear"]


def _is_cut(input: Any) -> bool:
    return get_parallel_dim(input) in (1, -1)


def parallel_linear(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    dim: int | None = None,
    *,
    comm: Comm | None = None,
) -> torch.Tensor:
    """syncyte.nn.functional.linear() with weights that are cut into equal parts. Collective over the group.

    Parameters
    ----------
    input : torch.Tensor
        The input; with dim=0 it may be this rank's part of it: it is if it is tagged -1, or by its last extent.
    weight, bias : torch.Tensor
        This rank's parts; the bias is whole with dim=0.
    dim : int, optional
        Dimension of the matrix (inputs, outputs) that is cut: 0, 1 or -1; None: torch.nn.functional.linear().
    comm : Comm, optional
        The ranks; None: the group.

    Returns
    -------
    torch.Tensor
        The output, tagged -1 with dim=1 or -1, otherwise None.
    """
    if dim is None:
        return torch.nn.functional.linear(input, weight, bias)
    is_part = True if dim == 0 and _is_cut(input) else None
    group = comm or distributed._comm()
    result = functional.linear(input, weight, bias, dim=dim, comm=group, input_is_parallel=is_part)
    set_attribute(result, None if dim == 0 else -1)
    return result


def parallel_cross_entropy(
    input: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    comm: Comm | None = None,
) -> torch.Tensor:
    """syncyte.nn.functional.cross_entropy() if the logits are tagged -1, otherwise torch's. Collective over the group.

    Parameters
    ----------
    input : torch.Tensor
        Logits, or this rank's part of them, tagged -1.
    target : torch.Tensor
        Classes.
    weight, size_average, ignore_index, reduce, reduction
        As of torch.nn.functional.cross_entropy().
    comm : Comm, optional
        The ranks; None: the group.

    Returns
    -------
    torch.Tensor
        The loss.
    """
    if size_average is not None or reduce is not None:
        reduction = legacy_get_string(size_average, reduce)
    if not _is_cut(input):
        return torch.nn.functional.cross_entropy(
            input, target, weight=weight, ignore_index=ignore_index, reduction=reduction
        )
    return functional.cross_entropy(input, target, weight, ignore_index, reduction, comm=comm or distributed._comm())


def parallel_embedding(
    input: torch.Tensor,
    weight: torch.Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
    num_embeddings: int | None = None,
    dim: int | None = None,
) -> torch.Tensor:
    """syncyte.nn.functional.embedding() of a table that is cut into equal parts. Collective over the group.

    Parameters
    ----------
    input : torch.Tensor
        Indices of rows of the whole table.
    weight : torch.Tensor
        This rank's part of the table.
    padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        As of torch.nn.functional.embedding().
    num_embeddings : int, optional
        Number of rows of the whole table; checked.
    dim : int, optional
        Dimension of the table that is cut: 0, 1 or -1; None: torch.nn.functional.embedding().

    Returns
    -------
    torch.Tensor
        The rows.

    Raises
    ------
    ShapeError
        num_embeddings differs from the number of rows; on all ranks of the group.
    """
    options = (padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    if dim is None:
        return torch.nn.functional.embedding(input, weight, *options)
    comm = distributed._comm()

    def check() -> None:
        rows = weight.size(0) * (comm.size if dim == 0 else 1)
        if num_embeddings is not None and as_index(num_embeddings, "num_embeddings") != rows:
            raise wrong(ShapeError, "num_embeddings", num_embeddings, f"{rows}, as weight has on all ranks")

    comm._prepare("embedding", check)
    return functional.embedding(input, weight, *options, dim=dim, comm=comm)
