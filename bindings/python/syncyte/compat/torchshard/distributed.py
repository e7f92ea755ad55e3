"""torchshard.distributed: groups of ranks, and operations in pairs, either of which is the other's adjoint."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from syncyte._checks import as_index, wrong
from syncyte.comm import COMM_WORLD, Comm
from syncyte.errors import ArgumentError, BusyError, MismatchError, NotInitialisedError
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
    handle: Any  # torch.distributed's group of the same ranks where the script uses it; otherwise comm


_group: _Group | None = None


def is_initialized() -> bool:
    """Whether init_process_group() was called."""
    return _group is not None


def init_process_group(group_size: int = -1) -> None:
    """Puts ranks 0 to group_size - 1 into a group, the following ones into the next, and so on.

    Each group has one model. Collective over all ranks.

    group_size: a divisor of their number; -1, or more than there are: all.
    Raises ArgumentError, BusyError (already called), or MismatchError on all ranks.
    """
    global _group

    def check() -> int:
        if _group is not None:
            raise BusyError("torchshard's process group is initialised already; call destroy_process_group() first")
        size, world = as_index(group_size, "group_size"), COMM_WORLD.size
        if size != -1 and (size < 1 or world % min(size, world) != 0):
            raise wrong(ArgumentError, "group_size", size, f"a divisor of the number of ranks, {world}")
        if _uses_torch_distributed():
            own, ours = _place_in_torch(), (COMM_WORLD.rank, world)
            if own != ours:
                raise wrong(MismatchError, "torch.distributed's rank, size", own, f"COMM_WORLD's, {ours}")
        return world if size == -1 else min(size, world)

    size = COMM_WORLD._prepare("init_process_group", check, lifecycle=True)
    facts = {"group_size": size, "use of torch.distributed": _uses_torch_distributed()}
    COMM_WORLD.agree(None, "init_process_group", **facts)
    comm = COMM_WORLD if size == COMM_WORLD.size else COMM_WORLD.split(COMM_WORLD.rank // size)
    assert comm is not None
    _group = _Group(comm, _torch_group(size) if _uses_torch_distributed() else comm)


def _uses_torch_distributed() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def _place_in_torch() -> tuple[int, int]:
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def _torch_group(size: int) -> Any:
    """This rank's group; all ranks make all groups."""
    world = range(COMM_WORLD.size)
    groups = [torch.distributed.new_group(list(world[first : first + size])) for first in world[::size]]
    return groups[COMM_WORLD.rank // size]


def destroy_process_group() -> None:
    """The end of init_process_group(). Local; layers that were made keep their group."""
    global _group
    _group = None


def _known() -> _Group:
    if _group is None:
        raise NotInitialisedError("call torchshard.distributed.init_process_group() first")
    return _group


def _comm() -> Comm:
    return _known().comm


def get_group() -> Any:
    """This rank's group: for torch.distributed where the script has initialised that, otherwise a syncyte.Comm."""
    return _known().handle


def get_rank() -> int:
    """This rank's number in its group."""
    return _comm().rank


def get_world_size() -> int:
    """The number of all ranks."""
    return COMM_WORLD.size


def get_group_size() -> int:
    """The number of ranks in this rank's group."""
    return _comm().size


def _tagged(tensor: torch.Tensor, dim: int | None) -> torch.Tensor:
    set_attribute(tensor, dim)
    return tensor


def copy(input: torch.Tensor) -> torch.Tensor:
    """The tensor as it is; its gradient is the sum over the group's ranks. Collective over the group."""
    return functional.copy(input, _comm())


def reduce(input: torch.Tensor) -> torch.Tensor:
    """The sum over the group's ranks; its gradient is the result's. Collective over the group.

    In place where no gradient is recorded.
    """
    result = functional.reduce(input, _comm())
    if not result.requires_grad:
        with torch.no_grad():
            result = input.copy_(result)
    return _tagged(result, None)


def scatter(input: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """This rank's part of a tensor that all of the group have; its gradient is gathered. Collective over the group."""
    result = functional.scatter(input, dim, _comm())
    if dim in (0, 1, -1):
        set_attribute(result, dim)
    return result


def gather(input: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The parts of the group's ranks joined; its gradient is scattered. Collective over the group."""
    return _tagged(functional.gather(input, dim, _comm()), None)
