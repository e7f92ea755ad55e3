# SPDX-License-Identifier: BSD-3-Clause
"""Process groups of torch.distributed for communicators."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import torch.distributed as dist

from ._checks import wrong
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError


def torch_ranks(comm: Comm) -> list[int]:
    """The ranks in torch.distributed of a communicator's ranks. Collective over them."""
    comm.agree(None if dist.is_initialized() else not_initialized(), "torch_ranks")
    return [int(each) for each in comm.allgather(np.array(dist.get_rank())).ravel()]


def pg_of(comm: Comm = COMM_WORLD, *, backend: str | None = None, **options: Any) -> dist.ProcessGroup:
    """Makes a process group of a communicator's ranks, in their order. Collective over them.

    Parameters
    ----------
    comm : Comm
        Ranks of torch.distributed: all, or some.
    backend : str, optional
        As of torch.distributed.new_group(); None: that of the default group.
    **options
        Further ones of new_group(), such as timeout.

    Returns
    -------
    torch.distributed.ProcessGroup
        The group; destroy_process_group() ends it.

    Raises
    ------
    ArgumentError
        On all ranks: torch.distributed is not initialized on a rank; this torch sorts the ranks of a group, and the
        communicator's do not ascend.
    """
    comm = comm_or_world(comm)
    ranks = torch_ranks(comm)
    if "sort_ranks" in inspect.signature(dist.new_group).parameters:
        options["sort_ranks"] = False
    elif ranks != sorted(ranks):
        raise wrong(ArgumentError, "comm", f"a communicator of torch's ranks {ranks}", "ranks that ascend")
    group = dist.new_group(ranks, backend=backend, use_local_synchronization=True, **options)
    assert isinstance(group, dist.ProcessGroup)
    return group


def not_initialized() -> ArgumentError:
    return ArgumentError("torch.distributed is not initialized; expected init_process_group before")
