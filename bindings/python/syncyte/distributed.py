# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed on Syncyte: ``init_process_group("syncyte")``, in a job that mpirun or srun has started.

Importing this module registers the backend; torch 2.15 finds it without. MPI is initialized by init_process_group.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from . import _torch_operators, _torch_rendezvous, runtime
from ._torch_groups import pg_of
from .comm import COMM_WORLD
from .errors import ArgumentError, UnsupportedError

if TYPE_CHECKING:
    from ._torch_dtensors import local_state_dict, optimizer_state_dict, state_dict
    from ._torch_storage import StorageReader, StorageWriter

__all__ = [
    "StorageReader", "StorageWriter", "local_state_dict", "optimizer_state_dict", "pg_of", "register", "state_dict",
]  # fmt: skip

# Importing torch.distributed.checkpoint takes longer than the rest of this module.
_LAZY = {name: "_torch_storage" for name in ("StorageReader", "StorageWriter")} | {
    name: "_torch_dtensors" for name in ("local_state_dict", "optimizer_state_dict", "state_dict")
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_LAZY[name]}", __package__), name)


# Entry i is the rank in the MPI job of torch's rank i; the two differ if only a part of the job calls torch. It is for
# a default group of this backend.
_job_ranks: list[int] = []


def _wait_at_exit(process: int) -> None:
    """Ends the operations that nobody has waited for, before MPI ends. Each has its group's timeout."""
    if os.getpid() == process:
        _torch_operators.group_operators.wait_for_all()


@functools.cache
def _start(process: int) -> None:
    runtime.init()
    atexit.register(_wait_at_exit, process)  # behind runtime's function, and so called before it


def _require_threads() -> None:
    _start(os.getpid())
    if runtime.thread_level() != "multiple":
        raise UnsupportedError(
            f"MPI's thread level is {runtime.thread_level()}; expected multiple for torch.distributed: let Syncyte "
            f"initialize MPI, or ask for MPI_THREAD_MULTIPLE"
        )


def _find_job_ranks(store: Any, rank: int, size: int) -> list[int]:
    """Returns the job's ranks of the group of all ranks that call torch."""
    job = COMM_WORLD
    if size > job.size or (size == job.size and rank != job.rank):
        raise ArgumentError(
            f"init_process_group on rank {job.rank} of {job.size}: rank is {rank} and world_size is {size}; expected "
            f"MPI's {job.rank} and {job.size}, or a part of the ranks. Start the script by mpirun or srun"
        )
    if size == job.size:
        return list(range(size))
    return _exchanged_ranks(store, rank, size)


def _exchanged_ranks(store: Any, rank: int, size: int) -> list[int]:
    """Returns the job's ranks of a group's ranks, which tell each other by the group's store."""
    store.set(f"syncyte/rank/{rank}", str(COMM_WORLD.rank))
    return [int(store.get(f"syncyte/rank/{number}")) for number in range(size)]


def _is_default_group_ours() -> bool:
    world = dist.group.WORLD
    try:
        return world is not None and world._get_backend(torch.device("cpu")).name() == "syncyte"
    except RuntimeError:  # it has no backend for the CPU
        return False


def _create(options: Any, backend_options: Any) -> Any:
    """Makes the backend of a group, as torch asks for it on the group's ranks."""
    _require_threads()
    store, rank, size = options.store, options.group_rank, options.group_size
    if options.global_ranks_in_group and not _is_default_group_ours():
        ranks = _exchanged_ranks(store, rank, size)
    elif options.global_ranks_in_group:
        ranks = [_job_ranks[each] for each in options.global_ranks_in_group]
    else:
        ranks = _job_ranks[:] = _find_job_ranks(store, rank, size)
    timeout = getattr(backend_options, "_timeout", None) or options.timeout
    milliseconds = max(1, timeout // timedelta(milliseconds=1))
    holder = dist.ProcessGroup(store, rank, size)
    _torch_operators.group_operators.create_backend(holder.boxed(), ranks, options.group_id, milliseconds)
    return holder._get_backend(torch.device("cpu"))


def register() -> None:
    """Registers the backend and the rendezvous ``syncyte://``; further calls do nothing. Local."""
    _torch_rendezvous.install()
    if "SYNCYTE" not in dist.Backend._plugins:
        dist.Backend.register_backend("syncyte", _create, extended_api=True, devices=["cpu", "cuda"])


register()
