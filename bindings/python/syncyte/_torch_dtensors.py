# SPDX-License-Identifier: BSD-3-Clause
"""Parts of Syncyte's layers as DTensors, as torch.distributed.checkpoint and FSDP2's state have them."""

from __future__ import annotations

import importlib.util
import itertools
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Shard

from ._checks import wrong
from ._layouts import Layout
from ._torch_groups import not_initialized, pg_of, torch_ranks
from .comm import Comm
from .errors import UnsupportedError
from .nn._state import own_state, unwrapped

# By torch's ranks and the kind of device; with torch's default group, which they end with.
_meshes: dict[tuple[tuple[int, ...], str], tuple[weakref.ref[Any], DeviceMesh]] = {}


class _Maker:
    """Makes DTensors of parts, in the same memory."""

    def __init__(self) -> None:
        if not dist.is_initialized():
            raise not_initialized()
        self._ranks: dict[Comm, tuple[int, ...]] = {}

    def mesh_of(self, comm: Comm, device: str) -> DeviceMesh:
        """A mesh of a communicator's ranks, made at the first use. Collective over them."""
        if comm not in self._ranks:
            self._ranks[comm] = tuple(torch_ranks(comm))
        known = _meshes.get((self._ranks[comm], device))
        if known is None or known[0]() is not dist.group.WORLD:
            known = weakref.ref(dist.group.WORLD), DeviceMesh.from_group(pg_of(comm), device)
            _meshes[self._ranks[comm], device] = known
        return known[1]

    def part(self, key: str, value: torch.Tensor, layout: Layout) -> torch.Tensor:
        """Returns a part as a DTensor if torch would cut so, otherwise as a tensor with the attributes of a part."""
        shape, value = torch.Size(layout.whole_shape(value)), value.detach()
        if _is_as_torch_cuts(layout):
            strides = tuple(itertools.accumulate((1, *shape[:0:-1]), int.__mul__))[::-1]
            mesh = self.mesh_of(layout.comm, value.device.type)
            return DTensor.from_local(value, mesh, [Shard(layout.dim)], run_check=False, shape=shape, stride=strides)
        if importlib.util.find_spec("torch.distributed.checkpoint.protocol") is None:
            raise wrong(
                UnsupportedError, key, f"cut into parts of {list(layout.counts)} along dimension {layout.dim}",
                "parts as torch cuts, of which only the last ones are shorter, or torch 2.15",
            )  # fmt: skip
        return _with_range(value.view_as(value), shape, layout)


def _is_as_torch_cuts(layout: Layout) -> bool:
    """Whether all parts are as long as the first, and only the last ones shorter."""
    whole, most = sum(layout.counts), -(-sum(layout.counts) // layout.comm.size)
    return list(layout.counts) == [max(0, min(most, whole - most * rank)) for rank in range(layout.comm.size)]


def _with_range(part: Any, shape: torch.Size, layout: Layout) -> Any:
    """Sets the attributes of torch.distributed.checkpoint.protocol.CheckpointableTensor."""
    first = tuple(layout.first if dim == layout.dim else 0 for dim in range(part.dim()))
    shards = [(first, (0,) * part.dim(), tuple(part.shape))] if part.numel() else []
    part.global_shape = shape
    part.global_offsets = tuple(each[0] for each in shards)
    part.local_offsets = tuple(each[1] for each in shards)
    part.local_sizes = tuple(each[2] for each in shards)
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
        The state, for load_state_dict() by local_state_dict(). Its other tensors are as state_dict() returns them.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError, MismatchError
        On all ranks, as of syncyte.nn.collect_state_dict(). On this rank alone: torch.distributed is not initialized.
    UnsupportedError
        On all ranks: torch before 2.15 and a part that is cut as torch does not cut.
    """
    maker = _Maker()
    state, layouts = own_state(model)
    result: dict[str, Any] = OrderedDict()
    for key, value in state.items():
        result[key] = maker.part(key, value, layouts[key]) if key in layouts else value
    return _with_metadata(result, state)


def optimizer_state_dict(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Returns torch's get_optimizer_state_dict() with parts as state_dict() has them. Collective.

    A state that has an element, or a row, for each one of a part is a part too. torch's set_optimizer_state_dict()
    takes local_state_dict() of the result.

    Parameters
    ----------
    model : torch.nn.Module
        As of state_dict().
    optimizer : torch.optim.Optimizer
        An optimizer of its parameters.

    Returns
    -------
    dict
        States by names of parameters, and the groups of parameters.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError, MismatchError, UnsupportedError
        As of state_dict().
    """
    maker = _Maker()
    state, cut = own_state(model)
    for key, each in cut.items():  # collective, unlike the choice of states below
        maker.mesh_of(each.comm, state[key].device.type)
    layouts = {unwrapped(key): layout for key, layout in cut.items()}
    found: Any = get_optimizer_state_dict(model, optimizer)
    states = {key: dict(values) for key, values in found["state"].items()}  # the optimizer's own stay as they are
    for key, values in states.items():
        layout = layouts.get(key)
        if layout is None:
            continue
        for name, value in values.items():
            is_cut = isinstance(value, torch.Tensor) and value.dim() > layout.dim
            if is_cut and value.size(layout.dim) == layout.length:
                values[name] = maker.part(f"{key}.{name}", value, layout)
    return {**found, "state": states}


def local_state_dict(state: Any) -> Any:
    """Returns a state with this rank's parts in place of the DTensors that state_dict() has made. Local.

    Parameters
    ----------
    state : mapping, list or other object
        What state_dict() or optimizer_state_dict() has returned, or contains it.

    Returns
    -------
    mapping, list or other object
        The state for the model's load_state_dict() or torch's set_optimizer_state_dict(), in the same memory.
    """
    if isinstance(state, DTensor):
        return state.to_local() if any(state.device_mesh is mesh for _, mesh in _meshes.values()) else state
    if isinstance(state, Mapping):
        return _with_metadata(OrderedDict((key, local_state_dict(value)) for key, value in state.items()), state)
    return [local_state_dict(each) for each in state] if isinstance(state, list) else state


def _with_metadata(result: dict[str, Any], source: Any) -> dict[str, Any]:
    """Adds what load_state_dict() reads beside a state: versions of modules, and the ranges of parts."""
    if hasattr(source, "_metadata"):
        result._metadata = source._metadata  # type: ignore[attr-defined]
    return result
