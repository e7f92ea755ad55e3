"""TorchShard's attributes of tensors: along which dimension of the matrix (inputs, outputs) one is cut."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from syncyte._checks import as_index, wrong
from syncyte.errors import ArgumentError, DtypeError

_PARALLEL_DIM = "parallel_dim"
_ORDER_ATTR = "order_type"  # 0: the tensor is stored as (outputs, inputs); 1: as (inputs, outputs)


_parameters: weakref.WeakValueDictionary[int, torch.Tensor] = weakref.WeakValueDictionary()  # that have attributes


def set_attribute(tensor: torch.Tensor, value: int | None = None, order_type: int = 0) -> None:
    """Sets both attributes. Local. Raises ArgumentError for other values than None, 0, 1, -1 and 0, 1."""
    if not isinstance(tensor, torch.Tensor):
        raise wrong(DtypeError, "tensor", f"a {type(tensor).__name__}", "a torch.Tensor")
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
    """The parameter whose memory this is, such as that of its `.data`, which has no attributes; or the tensor."""
    if hasattr(tensor, _PARALLEL_DIM) or tensor.numel() == 0:
        return tensor
    same = (
        each for each in _parameters.values() if each.data_ptr() == tensor.data_ptr() and each.shape == tensor.shape
    )
    return next(same, tensor)


def get_parallel_dim(tensor: torch.Tensor) -> Any:
    """The attribute, or None. It is gone in views, copies and results of other operations."""
    return getattr(tensor, _PARALLEL_DIM, None)


def stored_dim(tensor: torch.Tensor) -> int | None:
    """Along which dimension the tensor itself is cut; None: every rank has the whole."""
    dim, order = get_parallel_dim(tensor), getattr(tensor, _ORDER_ATTR, 0)
    if dim not in (0, 1, -1):
        return None
    if tensor.dim() < 2:
        return None if order == 0 and dim == 0 else 0  # the bias of rows is whole
    return abs(dim) if order == 1 else 1 - abs(dim)
