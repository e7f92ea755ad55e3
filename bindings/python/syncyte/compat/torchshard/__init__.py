# SPDX-License-Identifier: BSD-3-Clause
"""The interface of TorchShard on Syncyte.

``from syncyte.compat import torchshard as ts``; after ``syncyte.compat.install()``, and in a script that
``python -m syncyte.compat`` runs, also ``import torchshard as ts``. New programs use syncyte.nn.

Ranks are the MPI job's; torch.distributed is needed only if the script itself uses it. docs/from-torchshard.md
lists the differences.
"""

from __future__ import annotations

import torch

from syncyte._checks import as_index, at_least, check_kind, wrong
from syncyte.errors import OutOfRangeError, ShapeError

from . import distributed, nn
from ._state import collect_state_dict, register_ddp_parameters_to_ignore, relocate_state_dict
from ._tags import _ORDER_ATTR, _PARALLEL_DIM, get_parallel_dim, set_attribute

_PARALLEL_ATTR, _ORDER_TYPE = _PARALLEL_DIM, _ORDER_ATTR  # the names in TorchShard's documentation

__all__ = [
    "collect_state_dict",
    "distributed",
    "get_parallel_dim",
    "nn",
    "register_ddp_parameters_to_ignore",
    "register_parallel_attribute",
    "register_parallel_dim",
    "relocate_state_dict",
    "set_attribute",
    "slice",
]

_NOT_GIVEN = object()


def slice(
    tensor: torch.Tensor, num_partitions: int, dim: int | None = None, contiguous: bool = False
) -> tuple[torch.Tensor, ...]:
    """Cuts a tensor into equal parts along a dimension. Local.

    Parameters
    ----------
    tensor : torch.Tensor
        The tensor.
    num_partitions : int
        Number of parts; must divide the extent.
    dim : int, optional
        The dimension; None: the last.
    contiguous : bool
        False: the parts are views. True: they are contiguous, copied if necessary.

    Returns
    -------
    tuple of torch.Tensor
        The parts.

    Raises
    ------
    ArgumentError, ShapeError, OutOfRangeError, DtypeError
        num_partitions is less than 1, or does not divide the extent; dim is out of range; not a tensor.
    """
    check_kind(tensor, torch.Tensor, "tensor", "a torch.Tensor")
    parts = at_least(1, as_index(num_partitions, "num_partitions"), "num_partitions")
    along = -1 if dim is None else as_index(dim, "dim")
    if not -tensor.dim() <= along < tensor.dim():
        raise wrong(OutOfRangeError, "dim", along, f"{-tensor.dim()} to {tensor.dim() - 1}")
    extent = tensor.size(along)
    if extent % parts != 0:
        raise wrong(ShapeError, f"the extent of dimension {along}", extent, f"a multiple of num_partitions, {parts}")
    views = [tensor.narrow(along, part * (extent // parts), extent // parts) for part in range(parts)]
    return tuple(view.contiguous() for view in views) if contiguous else tuple(views)


def register_parallel_dim(
    tensor: torch.Tensor, value: int | None = None, *, parallel_dim: int | object | None = _NOT_GIVEN
) -> None:
    """Tags a tensor with the dimension along which it is cut. Local.

    Parameters
    ----------
    tensor : torch.Tensor
        The tensor.
    value, parallel_dim : int, optional
        0: the first dimension; -1 or 1: the last; None: every rank has the whole tensor.

    Raises
    ------
    ArgumentError, DtypeError
        Another value; not a tensor.
    """
    set_attribute(tensor, value if parallel_dim is _NOT_GIVEN else parallel_dim)  # type: ignore[arg-type]


def register_parallel_attribute(
    param: torch.Tensor,
    value: int | None = None,
    order_type: int = 0,
    *,
    parallel_dim: int | object | None = _NOT_GIVEN,
) -> None:
    """Tags a parameter or buffer of a user-defined layer with the dimension along which it is cut. Local.

    Parameters
    ----------
    param : torch.Tensor
        The parameter or buffer.
    value, parallel_dim : int, optional
        Dimension of the matrix (inputs, outputs): 0, 1 or -1; None: every rank has the whole tensor.
    order_type : int
        0: it is stored as (outputs, inputs); 1: as (inputs, outputs).

    Raises
    ------
    ArgumentError, DtypeError
        Another value; not a tensor.
    """
    set_attribute(param, value if parallel_dim is _NOT_GIVEN else parallel_dim, order_type)  # type: ignore[arg-type]
