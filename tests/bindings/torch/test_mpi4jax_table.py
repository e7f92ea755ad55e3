# SPDX-License-Identifier: BSD-3-Clause
"""The table for mpi4jax in docs/from-mpi4torch.md: the calls on the right give the results that mpi4jax documents for
those on the left."""

import pytest
import torch
from mpi4py import MPI

from syncyte.torch import (
    allgather_along,
    allreduce,
    alltoall_along,
    bcast,
    gather_along,
    reduce,
    scan,
    scatter_along,
    sendrecv,
)

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
ROOT = SIZE - 1
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE


def of_rank(rank: int, *shape: int) -> torch.Tensor:
    return torch.randint(-9, 10, shape, generator=torch.Generator().manual_seed(rank)).double()


@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_a_new_first_axis(shape):
    stacked = torch.stack([of_rank(rank, *shape) for rank in range(SIZE)])
    x = of_rank(RANK, *shape)
    assert torch.equal(allgather_along(x.unsqueeze(0)), stacked)
    gathered = gather_along(x.unsqueeze(0), 0, ROOT)
    assert torch.equal(gathered, stacked if RANK == ROOT else stacked[:0])
    given = stacked if RANK == ROOT else x
    assert torch.equal(scatter_along(given, 1, 0, ROOT).squeeze(0), x)
    sent = of_rank(RANK, SIZE, *shape)
    expected = torch.stack([of_rank(rank, SIZE, *shape)[RANK] for rank in range(SIZE)])
    assert torch.equal(alltoall_along(sent.unsqueeze(1), 1, 0, 1).squeeze(0), expected)


def test_equal_shapes():
    x = of_rank(RANK, 2, 3)
    parts = [of_rank(rank, 2, 3) for rank in range(SIZE)]
    assert torch.equal(bcast(x, ROOT), parts[ROOT])
    assert torch.equal(scan(x, op="sum"), sum(parts[: RANK + 1]))
    assert torch.equal(reduce(x, ROOT), sum(parts) if RANK == ROOT else torch.zeros(2, 3, dtype=torch.float64))
    assert torch.equal(sendrecv(x, NEXT, x, PREVIOUS), parts[PREVIOUS])
    x.requires_grad_()
    allreduce(x, adjoint="identity").sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))
