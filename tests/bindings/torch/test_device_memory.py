# SPDX-License-Identifier: BSD-3-Clause
"""Operations that only move elements give device memory to MPI. A pretended device, whose memory any MPI accepts,
counts the copies."""

import pytest
import torch
from mpi4py import MPI

import syncyte
import syncyte.compat.mpi4torch
from device_under_test import DEVICE, copies, give_to_mpi, needs_pretended, pending
from rings import ring, start_then_wait
from syncyte.torch import (
    allgather_along,
    allreduce,
    alltoall_along,
    bcast,
    gather_along,
    ibcast,
    irecv,
    isend,
    recv,
    scatter_along,
    send,
    use_cuda_aware_mpi,
)

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE
UNEVEN = list(range(SIZE))
WHOLE = sum(UNEVEN)
TO_HOST, TO_DEVICE, WAITED_FOR = range(3)

pytestmark = needs_pretended


@pytest.fixture(autouse=True)
def mpi_is_given_it():
    give_to_mpi(True)
    yield
    use_cuda_aware_mpi(None)


def rows(count: int, *others: int) -> torch.Tensor:
    return torch.rand(count, *others, dtype=torch.float64, generator=torch.Generator().manual_seed(5 + RANK))


MOVED = {
    "bcast": (lambda x: bcast(x, SIZE - 1), lambda: rows(3, 2)),
    "allgather": (lambda x: allgather_along(x, counts=UNEVEN), lambda: rows(RANK, 2)),
    "gather": (lambda x: gather_along(x, 0, SIZE - 1), lambda: rows(RANK, 2)),
    "scatter": (lambda x: scatter_along(x, RANK, 0, SIZE - 1), lambda: rows(WHOLE, 2)),
    "alltoall": (lambda x: alltoall_along(x, 0, 0, UNEVEN[SIZE - 1 - RANK]), lambda: rows(RANK, 2)),
}


@pytest.mark.parametrize("name", MOVED)
def test_what_only_moves_does_not_go_through_the_host(name):
    function, given = MOVED[name]
    x, results = given(), []
    on_device = pending(x)
    assert copies(lambda: results.append(function(on_device)))[:WAITED_FOR] == [0, 0]
    assert results[0].device == DEVICE
    assert torch.equal(results[0].cpu(), function(x))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (50, 3), (5000,)])  # short and long messages
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.complex128, torch.bool])
def test_messages(shape, dtype):
    x = (rows(*shape, 1)[..., 0] if shape else torch.tensor(RANK + 0.5)).to(dtype)
    results = []
    on_device = pending(x)
    counted = copies(lambda: results.append(ring(on_device)))
    assert results[0].device == DEVICE
    assert torch.equal(results[0].cpu(), ring(x))
    give_to_mpi(False)  # tickets are always copied to the host and back
    assert copies(lambda: ring(on_device))[:WAITED_FOR] == [count + 1 for count in counted[:WAITED_FOR]]


def test_of_others_the_host_has_copies():
    for function in (allreduce, lambda x: allgather_along(x, 1, counts=[2] * SIZE), lambda x: ibcast(x).wait()):
        x = rows(3, 2)
        results = []
        assert copies(lambda: results.append(function(x.to(DEVICE))))[TO_HOST] >= 1
        torch.testing.assert_close(results[0].cpu(), function(x))


def test_what_mpi_writes_may_have_been_in_use():
    """Freed memory may still be in use on its stream: a receive into it waits for the operations enqueued there."""
    like = torch.empty(50).to(DEVICE)
    pending(torch.ones(50))
    request = irecv(like, PREVIOUS, 3)
    assert torch.ops.pretend.queued(0) == 1, "the ticket"
    send(torch.ones(50), NEXT, 3)
    assert request.wait().cpu().sum() == 50


@pytest.mark.parametrize("name", ["bcast", "allgather", "scatter"])
def test_ranks_may_differ(name):
    """Some ranks have host memory, some copy device memory to the host, some give device memory to MPI."""
    function, given = MOVED[name]
    x = given()
    give_to_mpi(RANK % 3 == 1)
    result = function(x if RANK % 3 == 0 else x.to(DEVICE))
    assert result.is_cpu == (RANK % 3 == 0)
    assert torch.equal(result.cpu(), function(x))
    received = ring(x[:1].to(DEVICE) if RANK % 2 else x[:1]) if name == "bcast" else None
    assert received is None or torch.equal(received.cpu(), ring(x[:1]))


def test_gradients():
    def step(x):
        y = allgather_along(bcast(x * x, SIZE - 1), counts=[3] * SIZE)
        return (start_then_wait(y) * (RANK + 1)).sum()

    x = rows(3, 2).requires_grad_()
    step(x).backward()
    on_device = x.detach().to(DEVICE).requires_grad_()
    step(on_device).backward()
    assert on_device.grad.device == DEVICE
    torch.testing.assert_close(on_device.grad.cpu(), x.grad)


def test_another_message_than_expected():
    request = isend(torch.ones(4).to(DEVICE), NEXT, 5)
    with pytest.raises(ValueError, match="float32 of shape .4.; expected float64 of shape .2."):
        recv(torch.empty(2, dtype=torch.float64).to(DEVICE), PREVIOUS, 5)
    request.wait()
    request = isend(torch.ones(4).to(DEVICE), NEXT, 5)
    with pytest.raises(ValueError, match="is longer than expected, which was float32 of shape .2."):
        recv(torch.empty(2).to(DEVICE), PREVIOUS, 5)
    request.wait()


@pytest.mark.parametrize("name", ["bcast", "allgather"])
def test_all_ranks_learn_that_one_has_no_memory_on_its_device(name):
    function = {"bcast": lambda x: bcast(x, 0), "allgather": lambda x: allgather_along(x, counts=[6] * SIZE)}[name]
    x = torch.ones(6).to(DEVICE)
    if RANK == SIZE - 1:
        torch.ops.pretend.fail_device(1 if name == "bcast" else 2)
    with pytest.raises(RuntimeError, match="could not allocate device memory"):
        function(x)
    assert function(x).device == DEVICE


def test_by_itself_only_where_mpi_says_so():
    x = torch.ones(3).to(DEVICE)
    for use in (None, False, True):  # True concerns CUDA memory only, which this device does not have
        use_cuda_aware_mpi(use)
        assert copies(lambda: bcast(x))[:WAITED_FOR] == [1, 1]
    give_to_mpi(True)
    syncyte.compat.mpi4torch.deactivate_cuda_aware_mpi_support()
    assert copies(lambda: bcast(x))[:WAITED_FOR] == [1, 1]


def test_wrong_use():
    for use in (1, "on"):
        with pytest.raises(ValueError, match="use is .*; expected True, False or None"):
            use_cuda_aware_mpi(use)
    with pytest.raises(ValueError, match="use is 4; expected 0 to 3"):
        torch.ops.syncyte.use_device_memory(4)


def test_started_on_one_stream_and_waited_for_on_another():
    x = pending(torch.full((50,), RANK + 1.0))
    before = torch.ops.pretend.use_new_stream(0)
    sent = isend(pending(torch.full((50,), RANK + 2.0)), NEXT)
    received = irecv(torch.empty_like(x), PREVIOUS)
    torch.ops.pretend.finish()  # in place of an event by which one stream waits for the other
    torch.ops.pretend.use_stream(0, before)
    assert (received.wait() + x).cpu().tolist() == [PREVIOUS + 2.0 + RANK + 1.0] * 50
    sent.wait()


def test_a_backward_pass_that_failed_needs_a_new_forward():
    """The pass has sent and received cotangents on the device before it fails."""
    x = rows(4).to(DEVICE).requires_grad_()
    fuse = [True]

    def burn(gradient):
        if fuse:
            fuse.pop()
            raise RuntimeError("burnt")

    def loss_of(mine):
        return (start_then_wait(mine) * torch.full((4,), 1.0 + RANK).to(DEVICE)).sum()

    mine = x * 1
    mine.register_hook(burn)
    loss = loss_of(mine)
    with pytest.raises(RuntimeError, match="burnt"):
        loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="the pass cannot be repeated; expected a new forward on all ranks"):
        loss.backward()
    WORLD.Barrier()
    loss_of(x).backward()
    assert x.grad.cpu().tolist() == [1.0 + NEXT] * 4
