"""The interface of TorchShard on Syncyte.

``from syncyte.compat import torchshard as ts``; after ``syncyte.compat.install()``, and in a script that
``python -m syncyte.compat`` runs, also ``import torchshard as ts``. New programs use syncyte.nn.

Ranks are those of the MPI job; torch.distributed is needed only for what the script itself does with it. What differs:
see docs/from-torchshard.md.
"""

from __future__ import annotations

import torch

from syncyte._checks import as_index, wrong
from syncyte.errors import ArgumentError, DtypeError, OutOfRangeError, ShapeError

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
    """Equal parts along a dimension (None: the last), views or, if contiguous, copies where they must be. Local.

    Raises ArgumentError, ShapeError, OutOfRangeError or DtypeError.
    """
    if not isinstance(tensor, torch.Tensor):
        raise wrong(DtypeError, "tensor", f"a {type(tensor).__name__}", "a torch.Tensor")
    parts, along = as_index(num_partitions, "num_partitions"), -1 if dim is None else as_index(dim, "dim")
    if parts < 1:
        raise wrong(ArgumentError, "num_partitions", parts, "1 or more")
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
    """Says along which dimension a tensor is cut: -1 or 1, its last; None: every rank has the whole. Local."""
    set_attribute(tensor, value if parallel_dim is _NOT_GIVEN else parallel_dim)  # type: ignore[arg-type]


def register_parallel_attribute(
    param: torch.Tensor,
    value: int | None = None,
    order_type: int = 0,
    *,
    parallel_dim: int | object | None = _NOT_GIVEN,
) -> None:
    """As register_parallel_dim() for a parameter or buffer of a layer of one's own. Local.

    order_type: 0, it is stored as (outputs, inputs); 1, as (inputs, outputs).
    """
    set_attribute(param, value if parallel_dim is _NOT_GIVEN else parallel_dim, order_type)  # type: ignore[arg-type]
