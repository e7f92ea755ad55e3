# SPDX-License-Identifier: BSD-3-Clause
"""What a program has enqueued on a CUDA tensor's current stream comes before what Syncyte reads or writes.

On the stand-in driver a copy within the device runs only when something waits for it: without a wait, old elements
travel. On a device the tests pass whatever its speed.
"""

import contextlib
import itertools

import pytest
import torch
from mpi4py import MPI

import syncyte
from device_under_test import DEVICE, needs_cuda, pending
from rings import ring, start_then_wait
from syncyte.torch import (
    allgather_along,
    allreduce,
    alltoall_along,
    bcast,
    bcast_,
    exscan,
    gather_along,
    halo_exchange,
    iallgather_along,
    iallreduce,
    ibcast,
    ireduce_scatter_along,
    reduce,
    reduce_,
    reduce_scatter_along,
    scan,
    scatter_along,
)

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE
COUNT = 6 * SIZE
COMM = syncyte.COMM_WORLD

pytestmark = needs_cuda


@pytest.fixture(params=["default stream", "side stream"], autouse=True)
def stream(request):
    """The stream on which the test's work is enqueued."""
    with torch.cuda.stream(torch.cuda.Stream(DEVICE) if request.param == "side stream" else None):
        yield


calls = itertools.count(1)


@pytest.fixture
def given() -> torch.Tensor:
    """Elements that no earlier test had: recycled memory may still have those."""
    return torch.arange(COUNT, dtype=torch.float32) + 10 * RANK + 1000 * next(calls)


def with_halo(x: torch.Tensor) -> torch.Tensor:
    halo = syncyte.Halo(COMM.cartesian([SIZE], periods=[True]), (COUNT,), "float32", 1)
    return halo_exchange(x, halo)


OPERATORS = {
    "allreduce": allreduce,
    "reduce": lambda x: reduce(x, 0),
    "reduce_": lambda x: reduce_(x, 0),
    "bcast": lambda x: bcast(x, SIZE - 1),
    "bcast_": lambda x: bcast_(x, SIZE - 1),
    "scan": scan,
    "exscan": exscan,
    "allgather": allgather_along,
    "gather": lambda x: gather_along(x, 0, 0),
    "scatter": lambda x: scatter_along(x, 6, 0, SIZE - 1),
    "reduce_scatter": lambda x: reduce_scatter_along(x, 6, 0),
    "alltoall": lambda x: alltoall_along(x, 0, 0, COUNT),
    "iallreduce": lambda x: iallreduce(x).wait(),
    "ibcast": lambda x: ibcast(x, SIZE - 1).wait(),
    "iallgather": lambda x: iallgather_along(x, counts=[COUNT] * SIZE).wait(),
    "ireduce_scatter": lambda x: ireduce_scatter_along(x, counts=[6] * SIZE).wait(),
    "ring": ring,
    "started ring": start_then_wait,
    "halo": with_halo,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_read_what_was_enqueued_before(name, given):
    operator = OPERATORS[name]
    assert torch.equal(operator(pending(given)).cpu(), operator(given))


@pytest.mark.parametrize("name", ["allreduce", "bcast", "allgather", "iallreduce", "started ring", "halo"])
def test_backward_reads_what_was_enqueued_before(name, given):
    operator = OPERATORS[name]
    gradients = []
    for place in (pending, torch.clone):
        x = place(given).requires_grad_()
        y = operator(x)
        y.backward(place(torch.arange(1.0, y.numel() + 1)))
        gradients.append(x.grad.cpu())
    assert torch.equal(*gradients)


def test_messages_send_what_was_enqueued_before(given):
    got = [torch.zeros(COUNT, device=DEVICE) for _ in range(3)]
    COMM.sendrecv(pending(given), NEXT, got[0], PREVIOUS)
    receiving = COMM.irecv(got[1], PREVIOUS)
    sending = COMM.isend(pending(given), NEXT)
    receiving.wait()
    sending.wait()
    receiving = COMM.irecv(got[2], PREVIOUS)
    COMM.send(pending(given), NEXT)
    receiving.wait()
    expected = given + 10 * (PREVIOUS - RANK)
    assert [torch.equal(each.cpu(), expected) for each in got] == [True] * 3


def test_messages_arrive_after_what_was_enqueued_before(given):
    got = [pending(torch.full((COUNT,), -1.0)) for _ in range(3)]
    COMM.sendrecv(given, NEXT, got[0], PREVIOUS)
    sending = COMM.isend(given, NEXT)
    COMM.recv(got[1], PREVIOUS)
    sending.wait()
    receiving = COMM.irecv(got[2], PREVIOUS)
    COMM.send(given, NEXT)
    receiving.wait()
    expected = given + 10 * (PREVIOUS - RANK)
    assert [torch.equal(each.cpu(), expected) for each in got] == [True] * 3


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one CUDA device")
def test_another_device_than_the_current_one(given):
    other = torch.device("cuda", 1)
    assert torch.equal(allreduce(pending(given, other)).cpu(), allreduce(given))
    got = pending(torch.full((COUNT,), -1.0), other)
    COMM.sendrecv(pending(given, other), NEXT, got, PREVIOUS)
    assert torch.equal(got.cpu(), given + 10 * (PREVIOUS - RANK))


# Collectives that give the memory to MPI itself, and raise UnsupportedError where it takes none of devices.
MOVING = {
    "bcast": lambda x: COMM.bcast(x, SIZE - 1),
    "allgather": COMM.allgather,
    "allgatherv": lambda x: COMM.allgatherv(x, [COUNT] * SIZE),
    "alltoallv": lambda x: COMM.alltoallv(x, [6] * SIZE, [6] * SIZE),
    "neighbor_alltoall": lambda x: COMM.cartesian([SIZE], periods=[True]).neighbor_alltoall(x.view(2, -1)),
    "gather_along": COMM.gather_along,
    "allgather_along": lambda x: COMM.allgather_along(x, 0),
    "scatter_along": lambda x: COMM.scatter_along(x) if RANK == 0 else COMM.scatter_along(None, out=x[:6]),
    "alltoall_along": lambda x: COMM.alltoall_along(x, 0, 0),
}


@pytest.mark.parametrize("name", MOVING)
def test_collectives_wait_before_mpi_is_given_the_memory(name, given):
    x = pending(given)
    with contextlib.suppress(syncyte.UnsupportedError):
        MOVING[name](x)
    assert torch.cuda.current_stream(DEVICE).query()


REFUSING = {  # operations on a tensor, and a folder
    "allreduce": lambda x, tmp: COMM.allreduce(x),
    "iallreduce": lambda x, tmp: COMM.iallreduce(x),
    "ibcast": lambda x, tmp: COMM.ibcast(x),
    "reduce_scatter": lambda x, tmp: COMM.reduce_scatter_along(x, 6),
    "window": lambda x, tmp: syncyte.Window(64).put(0, 0, x),
    "gather": lambda x, tmp: syncyte.WholeTensor((SIZE, 2), "float32").gather(x.long()),
    "scatter": lambda x, tmp: syncyte.WholeTensor((SIZE, COUNT), "float32").scatter_([RANK], x.view(1, -1)),
    "put_box": lambda x, tmp: syncyte.WholeTensor((SIZE, COUNT), "float32").put_box([RANK, 0], x.view(1, -1)),
    "store": lambda x, tmp: syncyte.Store(SIZE, COUNT).worker().push([RANK], x),
    "store's keys": lambda x, tmp: syncyte.Store(SIZE, COUNT).worker().pull(x.long()),
    "halo": lambda x, tmp: syncyte.Halo(COMM.cartesian([SIZE]), (COUNT,), "float32", 1).exchange(x),
    "DataParallel": lambda x, tmp: syncyte.torch.DataParallel([x.requires_grad_()]),
}


@pytest.mark.parametrize("name", REFUSING)
def test_whatever_takes_no_memory_of_devices_says_so(name, given, tmp_path):
    with pytest.raises(syncyte.UnsupportedError, match=r"memory|cuda"):
        REFUSING[name](pending(given), tmp_path)
