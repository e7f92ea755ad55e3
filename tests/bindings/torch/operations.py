# SPDX-License-Identifier: BSD-3-Clause
"""Every collective of syncyte.torch."""

import torch
from mpi4py import MPI

from syncyte.torch import (
    allgather_along,
    allreduce,
    alltoall_along,
    bcast,
    bcast_,
    exscan,
    gather_along,
    iallgather_along,
    iallreduce,
    ialltoall_along,
    ibcast,
    ireduce_scatter_along,
    reduce,
    reduce_,
    reduce_scatter_along,
    scan,
    scatter_along,
)

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
ALL = 4 if RANK == 0 else 0  # rows that this rank gets: rank 0 gets all

# Functions of a 4 x 4 tensor.
OPERATIONS = {
    "allreduce": allreduce,
    "max": lambda x, **more: allreduce(x, op="max", **more),
    "prod": lambda x, **more: allreduce(x, op="prod", **more),
    "bcast": lambda x, **more: bcast(x, SIZE - 1, **more),
    "reduce": lambda x, **more: reduce(x, SIZE - 1, **more),
    "reduce prod": lambda x, **more: reduce(x, SIZE - 1, op="prod", **more),
    "scan": scan,
    "exscan": lambda x, **more: exscan(x, reverse=True, **more),
    "allgather": lambda x, **more: allgather_along(x, -1, **more),
    "gather": lambda x, **more: gather_along(x, 0, SIZE - 1, **more),
    "scatter": lambda x, **more: scatter_along(x, ALL, 0, 0, **more),
    "reduce_scatter": lambda x, **more: reduce_scatter_along(x, ALL, 1, **more),
    "alltoall": lambda x, **more: alltoall_along(x, 0, 1, ALL, **more),
    "bcast_": lambda x, **more: bcast_(x * 1, 0, **more),
    "reduce_": lambda x, **more: reduce_(x * 1, 0, op="min", **more),
}

UNEVEN = list(range(SIZE))  # rank r has r
WHOLE = sum(UNEVEN)


def rows(count: int, *others: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(5 + RANK)
    return torch.randint(-9, 9, (count, *others), generator=generator).to(dtype)


# How to start each, its blocking counterpart, and an input.
STARTED = {
    "allreduce": (iallreduce, allreduce, lambda: rows(3, 2)),
    "bcast": (lambda x, **more: ibcast(x, SIZE - 1, **more), lambda x: bcast(x, SIZE - 1), lambda: rows(3, 2)),
    "allgather": (
        lambda x, **more: iallgather_along(x, -2, counts=UNEVEN, **more),
        lambda x: allgather_along(x, 0),
        lambda: rows(RANK, 2),
    ),
    "reduce_scatter": (
        lambda x, **more: ireduce_scatter_along(x, 0, counts=UNEVEN, **more),
        lambda x: reduce_scatter_along(x, RANK, 0),
        lambda: rows(WHOLE, 2),
    ),
    "alltoall": (
        lambda x, **more: ialltoall_along(x, 0, 1, gather_counts=UNEVEN, scatter_counts=UNEVEN, **more),
        lambda x: alltoall_along(x, 0, 1, RANK),
        lambda: rows(RANK, WHOLE),
    ),
}
