# SPDX-License-Identifier: BSD-3-Clause
"""Parts of Syncyte's layers as DTensors, as torch.distributed.checkpoint and FSDP2's state have them."""

from __future__ import annotations

import importlib.util
import itertools
import weakref
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Shard

from ._checks import wrong
from ._layouts import Layout
from ._torch_groups import not_initialized, pg_of
from .comm import Comm
from .errors import UnsupportedError
from .nn._state import own_state

# With torch's default group, which they end with.
_meshes: weakref.WeakKeyDictionary[Comm, tuple[weakref.ref[Any], DeviceMesh]] = weakref.WeakKeyDictionary()


def _mesh_of(comm: Comm) -> DeviceMesh:
    """A mesh of a communicator's ranks, made at the first use. Collective."""
    known = _meshes.get(comm)
    if known is None or known[0]() is not dist.group.WORLD:
        known = weakref.ref(dist.group.WORLD), DeviceMesh.from_group(pg_of(comm), "cpu")
        _meshes[comm] = known
    return known[1]


def _is_as_torch_cuts(layout: Layout) -> bool:
    """Whether all parts are as long as the first, and only the last ones shorter."""
    whole, most = sum(layout.counts), -(-sum(layout.counts) // layout.comm.size)
    return list(layout.counts) == [max(0, min(most, whole - most * rank)) for rank in range(layout.comm.size)]


def _part(key: str, value: torch.Tensor, layout: Layout) -> torch.Tensor:
    shape = torch.Size(layout.whole_shape(value))
    if _is_as_torch_cuts(layout):
        strides = tuple(itertools.accumulate((1, *shape[:0:-1]), int.__mul__))[::-1]
        mesh = _mesh_of(layout.comm)
        return DTensor.from_local(value, mesh, [Shard(layout.dim)], run_check=False, shape=shape, stride=strides)
    if importlib.util.find_spec("torch.distributed.checkpoint.protocol") is None:
        raise wrong(
            UnsupportedError, key, f"cut into parts of {list(layout.counts)} along dimension {layout.dim}",
            "parts as torch cuts, of which only the last ones are shorter, or torch 2.15",
        )  # fmt: skip
    part = value.view_as(value)
    first = tuple(layout.first if dim == layout.dim else 0 for dim in range(value.dim()))
    part.global_shape, part.global_offsets = shape, (first,)  # type: ignore[attr-defined]
    part.local_offsets, part.local_sizes = ((0,) * value.dim(),), (tuple(value.shape),)  # type: ignore[attr-defined]
    return part


def state_dict(model: torch.nn.Module) -> dict[str, Any]:
    """Returns a model's state_dict() with the parts of Syncyte's layers as DTensors, in the same memory. Collective.

    torch.distributed.checkpoint saves it, and loads it in place, on any number of ranks. All ranks of the model's
    parallel layers and WholeEmbeddings call it; call sync() of a WholeEmbedding before and after. Parts that are cut
    as torch does not cut, such as 4 rows on 3 ranks into 2, 1 and 1, are tensors that torch.distributed.checkpoint of
    torch 2.15 knows as parts.

    Parameters
    ----------
    model : torch.nn.Module
        A model as for syncyte.nn.collect_state_dict().

    Returns
    -------
    dict
        The state. Its other tensors are as state_dict() returns them.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError, MismatchError
        On all ranks, as of syncyte.nn.collect_state_dict(). On this rank alone: torch.distributed is not initialized.
    UnsupportedError
        On all ranks: torch before 2.15 and a part that is cut as torch does not cut.
    """
    if not dist.is_initialized():
        raise not_initialized()
    result: dict[str, Any] = {}
    for key, value, layout in own_state(model):
        result[key] = value if layout is None else _part(key, value.detach(), layout)
    return result
