# SPDX-License-Identifier: BSD-3-Clause
"""The operators of torch.ops.syncyte for C++ and TorchScript, called from TorchScript: a start returns a ticket."""

import pytest
import torch

import syncyte
from syncyte.torch import allgather_along, allreduce, alltoall_along, bcast, reduce_scatter_along

WORLD = syncyte.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size
NEXT, BEFORE = (RANK + 1) % SIZE, (RANK - 1) % SIZE
UNEVEN = list(range(SIZE))
WHOLE = sum(UNEVEN)


@torch.jit.script
def ring(x: torch.Tensor, comm: int, dest: int, source: int) -> torch.Tensor:
    return torch.ops.syncyte.sendrecv(x, comm, dest, x, source, 3, 3)


@torch.jit.script
def there_and_back(x: torch.Tensor, comm: int, dest: int, source: int) -> torch.Tensor:
    sent = torch.ops.syncyte.isend(x, comm, dest, 4)
    received = torch.ops.syncyte.recv(torch.ops.syncyte.join_dummies(x, [sent]), comm, source, 4)
    return torch.ops.syncyte.join_dummies(received, torch.ops.syncyte.wait_all([sent]))


@pytest.mark.parametrize("program", [ring, there_and_back])
def test_messages(program):
    x = torch.full((2, 3), float(RANK), dtype=torch.float64, requires_grad=True)
    y = program(x, WORLD.handle, NEXT, BEFORE)
    assert torch.equal(y, torch.full_like(y, float(BEFORE)))
    (gradient,) = torch.autograd.grad((y * (RANK + 1)).sum(), x)
    assert torch.equal(gradient, torch.full_like(x, NEXT + 1.0))


def test_send_waits_for_the_receiver_or_its_copy():
    if RANK == 0:
        for dest in range(1, SIZE):
            assert torch.ops.syncyte.send(torch.full((2,), 7.0), WORLD.handle, dest) == 0
    else:
        assert torch.equal(torch.ops.syncyte.recv(torch.empty(2), WORLD.handle, 0), torch.full((2,), 7.0))


@torch.jit.script
def started(x: torch.Tensor, comm: int, kind: str, counts: list[int]) -> torch.Tensor:
    if kind == "allreduce":
        ticket = torch.ops.syncyte.iallreduce(x, comm)
    elif kind == "bcast":
        ticket = torch.ops.syncyte.ibcast(x, comm, len(counts) - 1)
    elif kind == "allgather":
        ticket = torch.ops.syncyte.iallgather_along(x, comm, -2, counts)
    elif kind == "reduce_scatter":
        ticket = torch.ops.syncyte.ireduce_scatter_along(x, comm, 0, counts)
    else:
        ticket = torch.ops.syncyte.ialltoall_along(x, comm, 0, 1, counts, counts)
    return torch.ops.syncyte.wait(ticket)


BLOCKING = {
    "allreduce": (allreduce, (3, 2)),
    "bcast": (lambda x: bcast(x, SIZE - 1), (3, 2)),
    "allgather": (lambda x: allgather_along(x, 0), (RANK, 2)),
    "reduce_scatter": (lambda x: reduce_scatter_along(x, RANK, 0), (WHOLE, 2)),
    "alltoall": (lambda x: alltoall_along(x, 0, 1, RANK), (RANK, WHOLE)),
}


@pytest.mark.parametrize("kind", BLOCKING)
def test_started_collectives(kind):
    blocking, shape = BLOCKING[kind]
    x = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(RANK)).requires_grad_()
    y, wanted = started(x, WORLD.handle, kind, UNEVEN), blocking(x)
    assert torch.equal(y, wanted) or torch.allclose(y, wanted, rtol=1e-14)
    cotangent = torch.randn(y.shape, dtype=y.dtype, generator=torch.Generator().manual_seed(RANK + 9))
    (ours,), (theirs,) = (torch.autograd.grad(each, x, cotangent) for each in (y, wanted))
    assert torch.allclose(ours, theirs, rtol=1e-14)


def test_other_reductions():
    x = torch.arange(4.0) * (1 if RANK else -1)
    ticket = torch.ops.syncyte.iallreduce(x, WORLD.handle, int(syncyte.Op.MIN))
    assert torch.equal(torch.ops.syncyte.wait(ticket), -torch.arange(4.0))


def test_a_wrong_axis_is_every_ranks_error():
    axis = 5 if RANK == SIZE - 1 else 0
    with pytest.raises((ValueError, IndexError)):
        torch.ops.syncyte.wait(torch.ops.syncyte.iallgather_along(torch.ones(1, 2), WORLD.handle, axis, [1] * SIZE))
    assert allreduce(torch.ones(1)) == SIZE


def test_a_second_wait_is_an_error():
    ticket = torch.ops.syncyte.iallreduce(torch.ones(2), WORLD.handle)
    torch.ops.syncyte.wait(ticket)
    with pytest.raises(RuntimeError, match="iallreduce has been waited for already"):
        torch.ops.syncyte.wait(ticket)


def test_not_in_compiled_functions():
    with pytest.raises(Exception, match="expected a request of\\s+syncyte.torch"):
        torch.compile(lambda x: torch.ops.syncyte.wait(x), backend="aot_eager", fullgraph=True)(
            torch.zeros(()).double()
        )
