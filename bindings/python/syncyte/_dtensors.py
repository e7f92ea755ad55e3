# SPDX-License-Identifier: BSD-3-Clause
"""DTensors of torch.distributed: which part of one a rank has. It does not import torch by itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ._checks import wrong
from .errors import ArgumentError, UnsupportedError


def is_dtensor(value: object) -> bool:
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(value, module.DTensor)


def local_of(tensor: Any) -> Any:
    """This rank's part, without its gradient; waits for an operation that makes it."""
    local = tensor.detach().to_local()
    return local.wait() if type(local).__name__ == "AsyncCollectiveTensor" else local


def first_rank(tensor: Any) -> int:
    """The lowest rank that has a part."""
    return int(tensor.device_mesh.mesh.min())


def check(tensor: Any, rank: int, size: int, name: str) -> None:
    """Raises ArgumentError unless this is torch.distributed's rank too, and UnsupportedError for a partial placement.

    Also for a mesh whose ranks do not ascend: torch's collectives take its parts in another order than its offsets do.
    """
    import torch.distributed as dist

    if not dist.is_initialized():
        raise ArgumentError(f"{name} is a DTensor, and torch.distributed is not initialized")
    ranks = dist.get_rank(), dist.get_world_size()
    if ranks != (rank, size):
        found, expected = f"rank {rank} of {size}", f"torch.distributed's rank {ranks[0]} of {ranks[1]}"
        raise wrong(ArgumentError, f"comm, of the DTensor {name},", found, expected)
    if any(each.is_partial() for each in tensor.placements):
        raise UnsupportedError(f"{name} has placements {tensor.placements}: its parts are terms of sums")
    numbers = tensor.device_mesh.mesh
    if any(bool((numbers.diff(dim=axis) <= 0).any()) for axis in range(numbers.dim())):
        raise UnsupportedError(f"{name} has the mesh {numbers.tolist()}; expected ranks that ascend along each axis")


def own_box(tensor: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """First point and extents of this rank's part; None if it has no elements."""
    from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

    if tensor.device_mesh.get_coordinate() is None:
        return None
    count, first = compute_local_shape_and_global_offset(tensor.shape, tensor.device_mesh, tensor.placements)
    return (tuple(first), tuple(count)) if all(count) else None


def is_block(blocks: Sequence[Any], whole: Sequence[int], mesh: Any, axes: Sequence[int | None], rank: int) -> bool:
    """Whether a rank's blocks in a layout are its part of a DTensor; each dimension of the mesh cuts one of the axes.

    `mesh`: the tensor of its ranks. A rank without elements may have an empty block, or none.
    """
    first, count = [0] * len(whole), list(whole)
    places = (mesh == rank).nonzero().tolist()
    if not places:
        return all(0 in block.shape for block in blocks)
    for dimension, (place, axis) in enumerate(zip(places[0], axes, strict=True)):
        if axis is not None:
            most = -(-count[axis] // mesh.size(dimension))
            begin = min(place * most, count[axis])
            first[axis] += begin
            count[axis] = min(most, count[axis] - begin)
    if 0 in count:
        return all(0 in block.shape for block in blocks)
    return len(blocks) == 1 and tuple(blocks[0].first) == tuple(first) and tuple(blocks[0].shape) == tuple(count)
