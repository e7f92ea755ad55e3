# SPDX-License-Identifier: BSD-3-Clause
"""syncyte.torch on a pretended device: streams, copies, and failures of one rank."""

import pathlib
import subprocess
import sys

import pytest
import torch
from mpi4py import MPI

import syncyte
from device_under_test import DEVICE, copies, needs_pretended, pending
from mpi_harness.job import without_launcher
from rings import ring
from syncyte.torch import (
    allgather_along,
    allreduce,
    bcast,
    halo_exchange,
    iallreduce,
    irecv,
    isend,
    recv,
    reduce_scatter_along,
    send,
)

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE
TO_HOST, TO_DEVICE, WAITED_FOR = range(3)

pytestmark = needs_pretended


@pytest.fixture
def side_stream():
    before = torch.ops.pretend.use_new_stream(0)
    yield
    torch.ops.pretend.use_stream(0, before)


def with_halo(x: torch.Tensor) -> torch.Tensor:
    halo = syncyte.Halo(syncyte.COMM_WORLD.cartesian([SIZE], periods=[True]), (len(x),), "float32", 1)
    return halo_exchange(x, halo)


WAITING = {  # operations, each with the first element of its result if rank r gives r + 1
    "allreduce": (allreduce, SIZE * (SIZE + 1) / 2),
    "bcast": (lambda x: bcast(x, SIZE - 1), SIZE),
    "iallreduce": (lambda x: iallreduce(x).wait(), SIZE * (SIZE + 1) / 2),
    "allgather": (allgather_along, 1),
    "ring": (ring, PREVIOUS + 1),
    "halo": (with_halo, PREVIOUS + 1),
}


@pytest.mark.parametrize("is_side", [False, True], ids=["default stream", "side stream"])
@pytest.mark.parametrize("name", WAITING)
def test_what_is_on_the_current_stream_is_waited_for(name, is_side, request):
    if is_side:
        request.getfixturevalue("side_stream")
    function, expected = WAITING[name]
    assert function(pending(torch.full((50,), RANK + 1.0))).cpu()[0] == expected


def test_another_device_than_the_current_one():
    other = torch.device("pretend", 1)
    x = torch.full((5,), RANK + 1.0).to(other).requires_grad_()
    y = allreduce(iallreduce(x).wait())
    y.sum().backward()
    z = ring(y.detach())
    assert y.device == x.grad.device == z.device == other
    assert z.tolist() == [SIZE * SIZE * (SIZE + 1) / 2] * 5


def test_the_host_does_not_wait_for_the_result(side_stream):
    x = pending(torch.full((50,), 1.0))
    results = []
    assert copies(lambda: results.append(allreduce(x))) == [1, 1, 0]
    assert not torch.ops.pretend.is_finished(0)
    assert results[0].cpu()[0] == SIZE


def test_backward_is_on_the_stream_of_forward(side_stream):
    x = pending(torch.full((50,), RANK + 1.0)).requires_grad_()
    (allreduce(x) * pending(torch.full((50,), 2.0))).sum().backward()
    assert x.grad.cpu().tolist() == [2.0 * SIZE] * 50


def test_a_receive_does_not_copy_what_it_does_not_read():
    x = pending(torch.full((50,), 1.0))
    made = []
    assert copies(lambda: made.append(irecv(x, PREVIOUS, 3))) == [0, 0, 0]
    assert not torch.ops.pretend.is_finished(0)
    send(x, NEXT, 3)
    assert copies(lambda: made[0].wait())[TO_DEVICE] == 2  # the elements, and the status


def test_nothing_stays_allocated():
    def step() -> None:
        x = torch.ones(2000).to(DEVICE).requires_grad_()
        y = iallreduce(allreduce(x)).wait()
        request = isend(y, NEXT)
        z = recv(y, PREVIOUS)
        (y + z + request.wait().float()).sum().backward()
        torch.ops.pretend.finish()

    step()
    before = torch.ops.pretend.allocated()
    for _ in range(5):
        step()
    assert torch.ops.pretend.allocated() == before


COLLECTIVES = {
    "allreduce": allreduce,
    "bcast": lambda x: bcast(x, 0),
    "allgather": lambda x: allgather_along(x, 0, counts=[6] * SIZE),
    "reduce_scatter": lambda x: reduce_scatter_along(x, 6 if RANK == 0 else 0, 0),
    "iallreduce": lambda x: iallreduce(x).wait(),
}


def expect_told(function, matches: str) -> None:
    with pytest.raises(RuntimeError, match=matches):
        function(torch.ones(6).to(DEVICE))
    torch.ops.pretend.fail_pinned(0)
    torch.ops.pretend.fail_device(0)
    assert function(torch.ones(6).to(DEVICE)).device == DEVICE


# bcast has one buffer, which is both the copy of the input and the result.
@pytest.mark.parametrize(
    "name, which", [(name, which) for name in COLLECTIVES for which in (1, 2) if (name, which) != ("bcast", 2)]
)
def test_all_ranks_learn_that_one_has_no_pinned_memory(name, which):
    """The allocation of pinned memory fails for the copy of the input, or for the result."""

    def function(x):
        if RANK == SIZE - 1 and not function.failed:
            torch.ops.pretend.fail_pinned(which)
        function.failed = True
        return COLLECTIVES[name](x)

    function.failed = False
    expect_told(function, "could not allocate pinned memory")


@pytest.mark.parametrize("name", [name for name in COLLECTIVES if not name.startswith("i")])
def test_all_ranks_learn_that_one_has_no_memory_on_its_device(name):
    def function(x):
        if RANK == SIZE - 1 and not function.failed:
            torch.ops.pretend.fail_device(1)
        function.failed = True
        return COLLECTIVES[name](x)

    function.failed = False
    expect_told(function, "could not allocate device memory")


def test_neighbours_learn_that_one_has_no_pinned_memory():
    halo = syncyte.Halo(syncyte.COMM_WORLD.cartesian([SIZE], periods=[True]), (6,), "float32", 1)
    x = torch.ones(6).to(DEVICE)
    if RANK == SIZE - 1:
        torch.ops.pretend.fail_pinned(1)
    if RANK == SIZE - 1:
        with pytest.raises(RuntimeError, match="could not allocate pinned memory"):
            halo_exchange(x, halo)
    elif RANK in (SIZE - 2, 0):
        with pytest.raises(ValueError, match=f"rank {SIZE - 1}, a neighbour, has failed"):
            halo_exchange(x, halo)
    else:
        halo_exchange(x, halo)


def test_a_message_that_cannot_be_staged_is_its_senders_error():
    x = torch.ones(6).to(DEVICE)
    torch.ops.pretend.fail_pinned(1)
    with pytest.raises(RuntimeError, match="could not allocate pinned memory"):
        isend(x, NEXT, 4)
    assert torch.equal(ring(x).cpu(), torch.ones(6))


BACKWARD_ELSEWHERE = """
import sys, torch, syncyte
syncyte.init(sys.argv[1])
from device_under_test import DEVICE
from syncyte.torch import allreduce
x = torch.ones(3).to(DEVICE).requires_grad_()
y = allreduce(2 * x)
for attempt in range(2):
    try:
        y.sum().backward(retain_graph=True)
        print(syncyte.thread_level(), x.grad.tolist())
    except NotImplementedError as error:
        assert "this thread may not call MPI, whose thread level is funneled" in str(error), error
        print(syncyte.thread_level(), "refused")
"""


def test_backward_in_a_thread_that_may_not_call_mpi():
    """Autograd runs backward of device tensors in another thread."""
    for i, level in enumerate(("funneled", "serialized")):  # in two processes that run at the same time
        if RANK != i % SIZE:
            continue
        ended = subprocess.run(
            [sys.executable, "-c", BACKWARD_ELSEWHERE, level],
            env=without_launcher({}),
            capture_output=True,
            text=True,
            cwd=pathlib.Path(__file__).parent,
            timeout=35,
        )
        expected = {
            "funneled": "funneled refused\n" * 2,
            "serialized": "serialized [2.0, 2.0, 2.0]\nserialized [4.0, 4.0, 4.0]\n",
        }
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert ended.stdout == expected[level], ended.stdout + ended.stderr
