# SPDX-License-Identifier: BSD-3-Clause
"""Process groups of torch.distributed for communicators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch.distributed as dist

from ._checks import wrong
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError


def pg_of(comm: Comm = COMM_WORLD, *, backend: str | None = None, **options: Any) -> dist.ProcessGroup:
    """Makes a process group of a communicator's ranks, in their order. Collective over them.

    Parameters
    ----------
    comm : Comm
        The ranks, which are all of torch.distributed's.
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
    comm.agree(None if dist.is_initialized() else not_initialized(), "pg_of")
    ranks = [int(each) for each in comm.allgather(np.array(dist.get_rank())).ravel()]
    group = dist.new_group(ranks, backend=backend, use_local_synchronization=True, **options)
    if not isinstance(group, dist.ProcessGroup) or dist.get_process_group_ranks(group) != ranks:
        raise wrong(ArgumentError, "comm", f"a communicator of torch's ranks {ranks}", "ranks that ascend")
    return group


def not_initialized() -> ArgumentError:
    return ArgumentError("torch.distributed is not initialized; expected init_process_group before")
