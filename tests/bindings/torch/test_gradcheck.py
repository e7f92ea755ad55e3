# SPDX-License-Identifier: BSD-3-Clause
"""The distributed gradcheck itself, and its check of the collective gather."""

import pytest
import torch
from mpi4py import MPI

import syncyte
from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck

WORLD = MPI.COMM_WORLD


class WrongSum(torch.autograd.Function):
    """A sum over ranks with a wrong backward, which omits the other ranks."""

    @staticmethod
    def forward(ctx, x):
        return torch.from_numpy(WORLD.allreduce(x.detach().numpy()))

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def test_finds_a_wrong_adjoint(comm, generator):
    x = torch.randn(3, dtype=torch.float64, generator=generator)
    if comm.size == 1:
        distributed_gradcheck(WrongSum.apply, [x])
        return
    with pytest.raises(AssertionError, match="backward gives"):
        distributed_gradcheck(WrongSum.apply, [x])


def test_takes_uneven_and_empty_inputs(comm, generator):
    x = torch.randn(comm.rank, dtype=torch.float64, generator=generator)  # rank 0: empty
    distributed_gradcheck(lambda t: syncyte.torch.allreduce((t**3).sum(), comm), [x])


def collective_gather(comm, generator, rows_of_rank):
    total = sum(rows_of_rank)
    whole = syncyte.WholeTensor((total, 2), torch.float64, comm=comm, local_rows=rows_of_rank[comm.rank])
    whole.requires_grad_()
    companions = whole.__dict__["_gradient_companions"]
    index = torch.randint(total, (4,), generator=generator)
    local = torch.randn(rows_of_rank[comm.rank], 2, dtype=torch.float64, generator=generator)

    def function(values):
        return torch.ops.syncyte.gather_collective(values, whole.handle, companions[1].handle, index)

    return function, local


@pytest.mark.parametrize("shards", ["even", "uneven", "empty"])
def test_collective_gather(comm, generator, shards):
    rows = {"even": [2] * comm.size, "uneven": [1 + r for r in range(comm.size)], "empty": [2] + [0] * (comm.size - 1)}[
        shards
    ]
    function, local = collective_gather(comm, generator, rows)
    distributed_gradcheck(function, [local])
    distributed_gradgradcheck(lambda t: function(t * t), [local])
