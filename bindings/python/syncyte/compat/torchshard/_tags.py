# SPDX-License-Identifier: BSD-3-Clause
"""TorchShard's tags: attributes of a tensor that name the dimension of the matrix (inputs, outputs) that is cut."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from syncyte._checks import as_index, check_kind, wrong
from syncyte.errors import ArgumentError

_PARALLEL_DIM = "parallel_dim"
_ORDER_ATTR = "order_type"  # 0: the tensor is stored as (outputs, inputs); 1: as (inputs, outputs)


_parameters: weakref.WeakValueDictionary[int, torch.Tensor] = weakref.WeakValueDictionary()  # tagged parameters


def set_attribute(tensor: torch.Tensor, value: int | None = None, order_type: int = 0) -> None:
    """Tags a tensor. Local.

    Parameters
    ----------
    tensor : torch.Tensor
        The tensor.
    value : int, optional
        Dimension of the matrix (inputs, outputs) that is cut: 0, 1 or -1; None: every rank has the whole tensor.
    order_type : int
        0: it is stored as (outputs, inputs); 1: as (inputs, outputs).

    Raises
    ------
    ArgumentError, DtypeError
        Another value; not a tensor.
    """
    check_kind(tensor, torch.Tensor, "tensor", "a torch.Tensor")
    value = None if value is None else as_index(value, "parallel_dim")
    if value not in (None, 0, 1, -1):
        raise wrong(ArgumentError, "parallel_dim", value, "None, 0, 1 or -1")
    if order_type not in (0, 1):
        raise wrong(ArgumentError, "order_type", repr(order_type), "0 or 1")
    setattr(tensor, _PARALLEL_DIM, value)
    setattr(tensor, _ORDER_ATTR, order_type)
    if isinstance(tensor, torch.nn.Parameter):
        _parameters[id(tensor)] = tensor


def with_attributes(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tagged parameter that has this tensor's memory (its `.data` has no tags), or the tensor itself."""
    if hasattr(tensor, _PARALLEL_DIM) or tensor.numel() == 0:
        return tensor
    same = (
        each for each in _parameters.values() if each.data_ptr() == tensor.data_ptr() and each.shape == tensor.shape
    )
    return next(same, tensor)


def get_parallel_dim(tensor: torch.Tensor) -> Any:
    """Returns a tensor's tag. Local.

    Parameters
    ----------
    tensor : torch.Tensor
        The tensor. Views, copies and results of other operations have no tag.

    Returns
    -------
    int or None
        The dimension that is cut; None: none, or no tag.
    """
    return getattr(tensor, _PARALLEL_DIM, None)


def stored_dim(tensor: torch.Tensor) -> int | None:
    """Returns the dimension of the stored tensor that is cut; None: every rank has the whole tensor."""
    dim, order = get_parallel_dim(tensor), getattr(tensor, _ORDER_ATTR, 0)
    if dim not in (0, 1, -1):
        return None
    if tensor.dim() < 2:
        return None if order == 0 and dim == 0 else 0  # the bias of a row-parallel layer is whole
    return abs(dim) if order == 1 else 1 - abs(dim)
