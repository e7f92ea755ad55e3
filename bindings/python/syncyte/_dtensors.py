# SPDX-License-Identifier: BSD-3-Clause
"""DTensors of torch.distributed: which part of one a rank has. It does not import torch by itself."""

from __future__ import annotations

import sys
from typing import Any

from ._checks import wrong
from .errors import ArgumentError, UnsupportedError


def is_dtensor(value: object) -> bool:
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(value, module.DTensor)


def own_box(tensor: Any, rank: int, size: int, name: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """First point and extents of this rank's part, tensor.to_local(); None if it has no elements.

    Raises ArgumentError unless this is torch.distributed's rank too, and UnsupportedError for a partial placement.
    """
    import torch.distributed as dist
    from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

    ranks = dist.get_rank(), dist.get_world_size()
    if ranks != (rank, size):
        found, expected = f"rank {rank} of {size}", f"torch.distributed's rank {ranks[0]} of {ranks[1]}"
        raise wrong(ArgumentError, f"comm, of the DTensor {name},", found, expected)
    if any(each.is_partial() for each in tensor.placements):
        raise UnsupportedError(f"{name} has placements {tensor.placements}: its parts are terms of sums")
    if tensor.device_mesh.get_coordinate() is None:
        return None
    count, first = compute_local_shape_and_global_offset(tensor.shape, tensor.device_mesh, tensor.placements)
    return (tuple(first), tuple(count)) if all(count) else None
