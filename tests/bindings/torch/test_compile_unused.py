# SPDX-License-Identifier: BSD-3-Clause
"""torch.compile keeps operations whose result is unused: waits, non-blocking collectives, halos.

Without such an operation a request would stay in flight, or other ranks would wait for ever.
"""

import gc

import pytest
import torch

import syncyte
from syncyte.torch import (
    allreduce,
    halo_exchange,
    iallgather_along,
    iallreduce,
    ialltoall_along,
    ibcast,
    irecv,
    ireduce_scatter_along,
    isend,
    recv,
)
from traces import traced_operations

in_flight = torch.ops.syncyte.requests_in_flight


WAYS = {
    "aot_eager": ("aot_eager", False),
    "aot_eager, gradients": ("aot_eager", True),
    "inductor, gradients": ("inductor", True),
}


def is_slow(way: str) -> bool:
    return way.startswith("inductor")


@pytest.fixture(params=[pytest.param(way, marks=[pytest.mark.thorough] * is_slow(way)) for way in WAYS])
def way(request):
    return WAYS[request.param]


@pytest.fixture
def compiled(way):
    torch._dynamo.reset()
    return lambda function: torch.compile(function, fullgraph=True, backend=way[0])


@pytest.fixture
def x(way):
    return torch.ones(3, requires_grad=way[1])


def leaves_nothing(run, x: torch.Tensor, capfd) -> None:
    gc.collect()
    before = in_flight()
    for _ in range(2):
        assert torch.equal(run(x).detach(), x.detach() + 1)
    gc.collect()
    assert in_flight() == before
    assert "was dropped without a wait" not in capfd.readouterr().err


def test_waits_of_messages(comm, compiled, x, capfd):
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size

    def forgetful(x):
        received = irecv(torch.empty_like(x), before, 1, comm)
        isend(x.detach(), after, 1, comm).wait()
        received.wait()
        return x + 1

    leaves_nothing(compiled(forgetful), x, capfd)


def test_the_wait_of_a_send_alone(comm, compiled, x, capfd):
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size

    def forgetful(x):
        isend(x.detach(), after, 2, comm).wait()
        return x + 1

    run = compiled(forgetful)

    def then_received(x):
        result = run(x)
        assert torch.equal(recv(torch.empty(3), before, 2, comm), torch.ones(3))
        return result

    leaves_nothing(then_received, x, capfd)


STARTED = {
    "iallreduce": lambda x, comm: iallreduce(x, comm),
    "ibcast": lambda x, comm: ibcast(x, 0, comm),
    "iallgather": lambda x, comm: iallgather_along(x, counts=[3] * comm.size, comm=comm),
    "ireduce_scatter": lambda x, comm: ireduce_scatter_along(x, counts=[3] + [0] * (comm.size - 1), comm=comm),
    "ialltoall": lambda x, comm: ialltoall_along(
        x, 0, 0, gather_counts=[3] * comm.size, scatter_counts=[3] * comm.size, comm=comm
    ),
}


def test_started_collectives_and_their_waits(comm, compiled, x, capfd):
    def forgetful(x):
        for start in STARTED.values():
            start(x, comm).wait()
        return x + 1

    run = compiled(forgetful)
    leaves_nothing(run, x, capfd)
    with traced_operations() as seen:
        run(x)
    for name in STARTED:
        assert [operation for operation in seen if name in operation], (name, seen)


def test_a_halo_exchange(comm, compiled, x):
    cart = comm.cartesian([comm.size], periods=True)
    halo = syncyte.Halo(cart, (3,), "float32", 1)

    def forgetful(x):
        halo_exchange(x, halo)
        return x + 1

    run = compiled(forgetful)
    run(x)
    with traced_operations() as seen:
        assert torch.equal(run(x).detach(), x.detach() + 1)
    assert [operation for operation in seen if "halo_exchange" in operation], seen


def test_ranks_go_on_together(comm, compiled):
    """All ranks still run the collectives that follow the unused ones."""

    def forgetful(x):
        iallreduce(x, comm).wait()
        allreduce(x, comm)
        return allreduce(x, comm)

    assert torch.equal(compiled(forgetful)(torch.ones(3)), torch.full((3,), float(comm.size)))
