# SPDX-License-Identifier: BSD-3-Clause
"""torchshard.distributed: groups of ranks, and pairs of operations that are each other's adjoint."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from syncyte._checks import as_index, wrong
from syncyte.comm import COMM_WORLD, Comm
from syncyte.errors import ArgumentError, BusyError, MismatchError, NotInitializedError
from syncyte.nn import functional

from ._tags import set_attribute

__all__ = [
    "copy",
    "destroy_process_group",
    "gather",
    "get_group",
    "get_group_size",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_initialized",
    "reduce",
    "scatter",
]


class _Group(NamedTuple):
    comm: Comm
    handle: Any  # torch.distributed's group of the same ranks if the script uses it; otherwise comm


_group: _Group | None = None


def is_initialized() -> bool:
    """Returns whether init_process_group() was called."""
    return _group is not None


def init_process_group(group_size: int = -1) -> None:
    """Makes groups of consecutive ranks; each group holds one model. Collective over all ranks.

    Parameters
    ----------
    group_size : int
        Ranks of a group, a divisor of the number of ranks; -1, or more than there are: all.

    Raises
    ------
    ArgumentError, BusyError, MismatchError
        Another size; already called; ranks disagree. On all ranks.
    """
    global _group

    def check() -> int:
        if _group is not None:
            raise BusyError("torchshard's process group is initialized already; call destroy_process_group() first")
        size, world = as_index(group_size, "group_size"), COMM_WORLD.size
        if size != -1 and (size < 1 or world % min(size, world) != 0):
            raise wrong(ArgumentError, "group_size", size, f"a divisor of the number of ranks, {world}")
        if _uses_torch_distributed():
            own = torch.distributed.get_rank(), torch.distributed.get_world_size()
            ours = COMM_WORLD.rank, world
            if own != ours:
                raise wrong(MismatchError, "torch.distributed's rank, size", own, f"COMM_WORLD's, {ours}")
        return world if size == -1 else min(size, world)

    size = COMM_WORLD._prepare("init_process_group", check, always=True)
    facts = {"group_size": size, "use of torch.distributed": _uses_torch_distributed()}
    COMM_WORLD.agree(None, "init_process_group", **facts)
    comm = COMM_WORLD if size == COMM_WORLD.size else COMM_WORLD.split(COMM_WORLD.rank // size)
    assert comm is not None
    _group = _Group(comm, _torch_group(size) if _uses_torch_distributed() else comm)


def _uses_torch_distributed() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def _torch_group(size: int) -> Any:
    """Makes torch.distributed's groups, all on every rank, and returns this rank's."""
    world = range(COMM_WORLD.size)
    groups = [torch.distributed.new_group(list(world[first : first + size])) for first in world[::size]]
    return groups[COMM_WORLD.rank // size]


def destroy_process_group() -> None:
    """Undoes init_process_group(). Local; existing layers keep their group."""
    global _group
    _group = None


def _known() -> _Group:
    if _group is None:
        raise NotInitializedError("call torchshard.distributed.init_process_group() first")
    return _group


def _comm() -> Comm:
    return _known().comm


def get_group() -> Any:
    """Returns this rank's group: torch.distributed's if the script has initialized that, otherwise a syncyte.Comm."""
    return _known().handle


def get_rank() -> int:
    """Returns this rank's number in its group."""
    return _comm().rank


def get_world_size() -> int:
    """Returns the number of all ranks."""
    return COMM_WORLD.size


def get_group_size() -> int:
    """Returns the number of ranks in this rank's group."""
    return _comm().size


def _tagged(tensor: torch.Tensor, dim: int | None) -> torch.Tensor:
    set_attribute(tensor, dim)
    return tensor


def copy(input: torch.Tensor) -> torch.Tensor:
    """Returns the tensor unchanged; sums its gradient over the group's ranks. Collective over the group.

    Parameters
    ----------
    input : torch.Tensor
        A tensor that is equal on the group's ranks.

    Returns
    -------
    torch.Tensor
        The tensor.
    """
    return functional.copy(input, _comm())


def reduce(input: torch.Tensor) -> torch.Tensor:
    """Sums a tensor over the group's ranks; passes the gradient on unchanged. Collective over the group.

    Parameters
    ----------
    input : torch.Tensor
        This rank's summand; overwritten by the sum if no gradient is recorded.

    Returns
    -------
    torch.Tensor
        The sum.
    """
    result = functional.reduce(input, _comm())
    if not result.requires_grad:
        with torch.no_grad():
            result = input.copy_(result)
    return _tagged(result, None)


def scatter(input: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Returns this rank's part of a tensor; gathers the gradient. Collective over the group.

    Parameters
    ----------
    input : torch.Tensor
        The whole tensor, equal on the group's ranks.
    dim : int
        Dimension to cut; its extent must be a multiple of the number of ranks.

    Returns
    -------
    torch.Tensor
        This rank's part, tagged with `dim`.
    """
    result = functional.scatter(input, dim, _comm())
    if dim in (0, 1, -1):
        set_attribute(result, dim)
    return result


def gather(input: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Joins the parts of the group's ranks; scatters the gradient. Collective over the group.

    Parameters
    ----------
    input : torch.Tensor
        This rank's part.
    dim : int
        Dimension along which the parts are joined.

    Returns
    -------
    torch.Tensor
        The whole tensor, tagged None.
    """
    return _tagged(functional.gather(input, dim, _comm()), None)
