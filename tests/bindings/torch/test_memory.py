# SPDX-License-Identifier: BSD-3-Clause
"""Resident memory does not grow over 10,000 forward and backward passes of every operation."""

import pytest
import torch
from mpi4py import MPI

import syncyte
from operations import OPERATIONS, STARTED
from resident_memory import resident_bytes
from rings import both_ways, receive_from_anybody, start_then_wait
from syncyte import torch as sct

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE


def differentiated(operation, given=lambda: torch.ones(4, 4, dtype=torch.float64)):
    """Makes functions that each run one forward and one backward pass."""

    def make():
        x = given().requires_grad_()

        def step():
            x.grad = None
            operation(x).sum().backward()

        return step

    return make


def requests(x: torch.Tensor) -> list:
    return [sct.isend(x, NEXT, 1), sct.irecv(torch.empty_like(x), PREVIOUS, 1)]


def all_waited_for(x: torch.Tensor) -> torch.Tensor:
    token, got = sct.wait_all(requests(x))
    return sct.join_dummies(got, [token])


def polled(x: torch.Tensor) -> torch.Tensor:
    sent, received = requests(x)
    while not received.test():
        pass
    return sct.join_dummies(received.wait(), [sent.wait()])


def in_order(x: torch.Tensor) -> torch.Tensor:
    with sct.ordered() as order:
        sct.send(x, NEXT)
        got = sct.recv(torch.empty_like(x), PREVIOUS)
        sct.allreduce(x)
        return order.join(got)


def joined(x: torch.Tensor) -> torch.Tensor:
    return sct.join_dummies(x * 2, [sct.allreduce(x), sct.iallreduce(x).wait()])


def twice(x: torch.Tensor) -> torch.Tensor:
    (gradient,) = torch.autograd.grad(sct.allreduce(x * x).sum(), x, create_graph=True)
    return gradient


def halo():
    plan = syncyte.Halo(syncyte.COMM_WORLD.cartesian([0], True), (4, 4), "float64", 1)
    return differentiated(lambda x: sct.halo_exchange(x, plan))()


def whole_tensor() -> syncyte.WholeTensor:
    whole = syncyte.WholeTensor((4 * SIZE, 4), torch.float64, comm=syncyte.COMM_WORLD)
    whole.requires_grad_()
    return whole


INDEX = torch.arange(0, 4 * SIZE, 3)


def rows():
    whole = whole_tensor()

    def step():
        sct.gather(whole, INDEX).sum().backward()
        whole.sync_grad()

    return step


def rows_together():
    whole = whole_tensor()
    return lambda: sct.gather(whole, INDEX, collective=True).sum().backward()


def data_parallel():
    model = torch.nn.Linear(4, 4)
    model.averager = sct.DataParallel(model, bucket_bytes=64)
    x = torch.ones(2, 4)

    def step():
        model.zero_grad()
        model(x).sum().backward()

    return step


def mixed_gradients():
    x = torch.ones(4, 4, requires_grad=RANK == 0)

    def step():
        x.grad = None
        sct.allreduce(x, mixed_grad=True).sum().backward()

    return step


def refused():
    def step():
        with pytest.raises(ValueError):
            sct.bcast(torch.ones(2), SIZE)

    return step


STEPS = {
    **{name: differentiated(operation) for name, operation in OPERATIONS.items()},
    **{function.__name__: differentiated(function) for function in (start_then_wait, receive_from_anybody, both_ways)},
    **{
        f"started {name}": differentiated(lambda x, start=start: start(x).wait(), given)
        for name, (start, _, given) in STARTED.items()
    },
    "wait_all": differentiated(all_waited_for),
    "test": differentiated(polled),
    "ordered": differentiated(in_order),
    "join_dummies": differentiated(joined),
    "double backward": differentiated(twice),
    "halo_exchange": halo,
    "gather": rows,
    "gather together": rows_together,
    "DataParallel": data_parallel,
    "mixed_grad": mixed_gradients,
    "an error": refused,
}


@pytest.mark.parametrize("name", STEPS)
def test_nothing_grows(name):
    step = STEPS[name]()
    for _ in range(500):
        step()
    before = resident_bytes()
    for _ in range(10_000):
        step()
    assert resident_bytes() - before < 512 * 1024  # 50 bytes an iteration
    assert torch.ops.syncyte.requests_in_flight() == 0
