# SPDX-License-Identifier: BSD-3-Clause
"""Messages of syncyte.compat.mpi4torch write and return what mpi4torch's do, and write nothing else."""

import pytest
import torch
from mpi4py import MPI

import syncyte
import syncyte.compat.mpi4torch as mpi4torch
from backends import EAGER, INDUCTOR

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE


def of_rank(rank: int, *shape: int) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float64).reshape(shape) + 100.0 * rank + 1


def by_irecv(world, buffer: torch.Tensor, source: int, tag: int) -> torch.Tensor:
    return world.Wait(world.Irecv(buffer, source, tag))


def by_recv(world, buffer: torch.Tensor, source: int, tag: int) -> torch.Tensor:
    return world.Recv(buffer, source, tag)


@torch.jit.script
def by_scripted_irecv(world: mpi4torch.MPI_Communicator, buffer: torch.Tensor, source: int, tag: int):
    world.Wait(world.Irecv(buffer, source, tag))
    return buffer.detach()


@torch.jit.script
def by_scripted_recv(world: mpi4torch.MPI_Communicator, buffer: torch.Tensor, source: int, tag: int):
    return world.Recv(buffer, source, tag)


@pytest.fixture(
    params=[by_irecv, by_recv, by_scripted_irecv, by_scripted_recv],
    ids=["Irecv", "Recv", "scripted Irecv", "scripted Recv"],
)
def receive(request):
    return request.param


@pytest.mark.parametrize("is_recorded", [True, False])
@pytest.mark.parametrize("is_leaf", [False, True])
def test_a_receive_writes_its_buffer(world, receive, is_leaf, is_recorded):
    buffer = torch.zeros(2, 3, dtype=torch.float64, requires_grad=is_leaf)
    version = buffer._version
    sent = world.Isend(of_rank(RANK, 2, 3), NEXT, 0)
    with torch.set_grad_enabled(is_recorded):
        result = receive(world, buffer, PREVIOUS, 0)
    world.Wait(sent)
    assert torch.equal(buffer.detach(), of_rank(PREVIOUS, 2, 3))
    assert torch.equal(result.detach(), buffer.detach())
    assert result.data_ptr() == buffer.data_ptr()
    assert buffer._version > version
    assert buffer.is_leaf


def test_a_buffer_that_autograd_has_saved_is_noticed(world):
    """Defect 3 of mpi4torch: in-place operations bump no version counter."""
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    buffer = torch.zeros(3, dtype=torch.float64)
    saved = x * buffer
    sent = world.Isend(of_rank(RANK, 3), NEXT, 0)
    world.Recv(buffer, PREVIOUS, 0)
    world.Wait(sent)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()


@pytest.mark.parametrize(
    "view",
    [
        lambda whole: whole[:, 1],
        lambda whole: whole[1],
        lambda whole: whole[::2, ::3].t(),
        lambda whole: whole[1:3, 1:3],
        lambda whole: whole.t(),
    ],
    ids=["column", "row", "grid", "block", "transposed"],
)
def test_a_view_receives_nothing_beside_it(world, receive, view):
    """Defect 5 of mpi4torch: a receive into a non-contiguous view overwrites the elements beside it."""
    whole = torch.full((4, 5), -1.0, dtype=torch.float64)
    buffer = view(whole)
    sent = world.Isend(of_rank(RANK, *buffer.shape), NEXT, 0)
    result = receive(world, buffer, PREVIOUS, 0)
    world.Wait(sent)
    expected = torch.full((4, 5), -1.0, dtype=torch.float64)
    view(expected).copy_(of_rank(PREVIOUS, *buffer.shape))
    assert torch.equal(whole, expected)
    assert torch.equal(result, view(expected))


def test_a_wait_for_a_send_returns_what_was_sent(world):
    x = of_rank(RANK, 3).requires_grad_()
    sent = world.Isend(x, NEXT, 0)
    got = world.Recv(torch.empty(3, dtype=torch.float64), PREVIOUS, 0)
    result = world.Wait(sent)
    assert torch.equal(result.detach(), x.detach())
    assert result.requires_grad
    # The sender gets the gradient of the received value; the cotangent of the result itself does not matter.
    (mpi4torch.JoinDummies(got * (RANK + 1), [result]).sum() + 7 * result.sum()).backward()
    assert torch.equal(x.grad, torch.full_like(x, NEXT + 1.0))


@pytest.mark.skipif(SIZE < 2, reason="one rank would wait for itself")
def test_a_send_returns_what_was_sent(world):
    x = of_rank(RANK, 3)
    if RANK == 0:
        result = world.Send(x, 1, 0)
        assert torch.equal(result, x)
        assert result.data_ptr() == x.data_ptr()
        assert not result.requires_grad
    elif RANK == 1:
        world.Recv(x, 0, 0)
        assert torch.equal(x, of_rank(0, 3))


def test_gradients_of_a_receive_into_a_buffer_in_use(world):
    """The result has the message's gradient; the buffer keeps its own gradient function."""
    x = of_rank(RANK, 3).requires_grad_()
    buffer = torch.zeros(3, dtype=torch.float64)
    sent = world.Isend(x, NEXT, 0)
    got = world.Recv(mpi4torch.JoinDummies(buffer, [sent.dummy]), PREVIOUS, 0)
    token = world.Wait(mpi4torch.JoinDummiesHandle(sent, [got]))
    assert torch.equal(buffer, of_rank(PREVIOUS, 3))
    assert not buffer.requires_grad
    mpi4torch.JoinDummies((got * got).sum(), [token]).backward()
    assert torch.equal(x.grad, 2 * x.detach())


def test_nobody_leaves_a_buffer_as_it_is(world):
    """MPI_PROC_NULL, as at the open border of a grid."""
    buffer = of_rank(RANK, 3)
    result = world.Recv(buffer, syncyte.PROC_NULL, 0)
    assert torch.equal(buffer, of_rank(RANK, 3))
    assert torch.equal(result, buffer)
    x = of_rank(RANK, 3).requires_grad_()
    got = world.Recv(mpi4torch.JoinDummies(x, [x]), syncyte.PROC_NULL, 0)
    assert torch.equal(got.detach(), x.detach())
    (got * 2 + x).sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))


def test_waiting_is_all_that_an_example_needs(world):
    """The first example in mpi4torch's documentation, which uses the buffer after the receive."""
    mine = torch.tensor([1.0 + RANK], dtype=torch.double).requires_grad_()
    handle = world.Isend(mine, NEXT, 0)
    buffer = mpi4torch.JoinDummies(torch.empty_like(mine), [handle.dummy])
    other = world.Recv(buffer, PREVIOUS, 0)
    assert torch.equal(buffer.detach(), other.detach())
    assert buffer.item() == 1 + PREVIOUS
    token = world.Wait(mpi4torch.JoinDummiesHandle(handle, [other]))
    mpi4torch.JoinDummies(mine + other, [token]).backward(torch.ones_like(mine))
    assert mine.grad.item() == 2.0


@torch.jit.script
def sends_and_forgets(world: mpi4torch.MPI_Communicator, x, dest: int):
    world.Send(x, dest, 9)
    return x + 1


def test_a_scripted_send_whose_result_is_not_used(world):
    for value in range(4):  # TorchScript optimises from the second call on
        buffer = torch.zeros(2)
        received = world.Irecv(buffer, PREVIOUS, 9)
        sends_and_forgets(world, torch.full((2,), float(value)), NEXT)
        world.Wait(received)
        assert buffer.tolist() == [value, value]


@pytest.mark.parametrize("backend", [EAGER, "aot_eager", INDUCTOR])
def test_compiled_receives_write_their_buffers(world, backend):
    def exchange(x, buffer):
        sent = world.Isend(x, NEXT, 0)
        got = world.Recv(buffer, PREVIOUS, 0)
        world.Wait(sent)
        return got * 2

    torch._dynamo.reset()
    run = torch.compile(exchange, backend=backend, fullgraph=True)
    for factor in (1, 2):
        buffer = torch.zeros(3, dtype=torch.float64)
        result = run(of_rank(RANK, 3) * factor, buffer)
        assert torch.equal(buffer, of_rank(PREVIOUS, 3) * factor)
        assert torch.equal(result, 2 * buffer)


@pytest.mark.parametrize("backend", ["aot_eager", INDUCTOR])
def test_gradients_of_compiled_receives(world, backend):
    def exchange(x, buffer):
        sent = world.Isend(x, NEXT, 0)
        got = world.Recv(mpi4torch.JoinDummies(buffer, [sent.dummy]), PREVIOUS, 0)
        token = world.Wait(mpi4torch.JoinDummiesHandle(sent, [got]))
        return mpi4torch.JoinDummies(got * got, [token])

    torch._dynamo.reset()
    x, buffer = of_rank(RANK, 3).requires_grad_(), torch.zeros(3, dtype=torch.float64)
    torch.compile(exchange, backend=backend, fullgraph=True)(x, buffer).sum().backward()
    assert torch.equal(buffer, of_rank(PREVIOUS, 3))
    assert torch.equal(x.grad, 2 * x.detach())
