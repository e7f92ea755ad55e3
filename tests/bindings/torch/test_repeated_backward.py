# SPDX-License-Identifier: BSD-3-Clause
"""Repeated backward passes. A pass that succeeded may run again. A pass that failed after it has sent or received
cotangents needs a new forward. No rank mixes up the cotangents of two passes."""

import gc
import time

import pytest
import torch
from mpi4py import MPI

import syncyte
from syncyte.torch import allreduce, iallreduce, irecv, isend, join_dummies

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE

needs_two = pytest.mark.skipif(SIZE < 2, reason="needs another rank that gets the error")


class Broken(Exception):
    pass


class Fuse:
    """A hook that raises once, if it is armed."""

    def __init__(self, armed: bool):
        self.armed = armed

    def __call__(self, gradient):
        if self.armed:
            self.armed = False
            raise Broken


PLACES = ["nothing sent", "cotangent sent", "receive started", "gradient received"]
REPEATED = "so the pass cannot be repeated; expected a new forward on all ranks"


def exchange(x: torch.Tensor, fuses: dict[str, Fuse], tag: int = 5) -> torch.Tensor:
    """Receives the previous rank's tensor; hooks in `fuses` can raise at each place between backward's messages."""
    mine = x * 1
    sent = isend(mine, NEXT, tag)
    received = irecv(join_dummies(torch.empty_like(x), [sent]), PREVIOUS, tag)
    token = join_dummies(sent, [received]).wait()
    y = join_dummies(received, [token]).wait() * 1
    for tensor, place in [
        (mine, "gradient received"),
        (sent.ticket, "receive started"),
        (received.ticket, "cotangent sent"),
        (y, "nothing sent"),
    ]:
        if place in fuses:
            tensor.register_hook(fuses[place])
    return y


def settled(before: int) -> bool:
    """True if within two seconds the number of requests in flight is `before` or less."""
    for _ in range(200):
        if torch.ops.syncyte.requests_in_flight() <= before:
            return True
        gc.collect()
        time.sleep(0.01)
    return False


def cotangent(number: int, rank: int, length: int = 3) -> torch.Tensor:
    return torch.randn(length, dtype=torch.float64, generator=torch.Generator().manual_seed(10 * number + rank))


def ones(length: int = 3) -> torch.Tensor:
    return torch.ones(length, dtype=torch.float64, requires_grad=True)


def passes(y: torch.Tensor, x: torch.Tensor, length: int, numbers: range) -> None:
    """Runs backward passes on all ranks, each with its own cotangents, and checks the gradients."""
    for number in numbers:
        (gradient,) = torch.autograd.grad(y, x, cotangent(number, RANK, length), retain_graph=True)
        assert torch.equal(gradient, cotangent(number, NEXT, length))


@pytest.mark.parametrize("length", [3, 20000], ids=["short", "long"])  # eager and rendezvous messages
def test_passes_that_succeed_are_repeated(length):
    before = torch.ops.syncyte.requests_in_flight()
    x = ones(length)
    y = exchange(x, {})
    passes(y, x, length, range(1, 4))
    del y
    assert settled(before)


@pytest.mark.parametrize("length", [3, 20000], ids=["short", "long"])
@pytest.mark.parametrize("place", PLACES)
def test_a_pass_that_failed_on_all_ranks_asks_for_a_new_forward(place, length):
    x = ones(length)
    y = exchange(x, {place: Fuse(True)})
    with pytest.raises(Broken):
        torch.autograd.grad(y, x, cotangent(1, RANK, length), retain_graph=True)
    if place == "nothing sent":
        passes(y, x, length, range(2, 4))
    else:
        with pytest.raises(RuntimeError, match=f"has sent the cotangent of a message to rank {PREVIOUS}, {REPEATED}"):
            torch.autograd.grad(y, x, cotangent(2, RANK, length), retain_graph=True)
    del y
    WORLD.Barrier()
    y = exchange(x, {})
    passes(y, x, length, range(3, 5))


@pytest.mark.parametrize("place", PLACES)
def test_other_ranks_that_have_succeeded_go_on(place):
    """Only rank 0 fails: the others get their gradients. The next forward uses the same tags."""
    x = ones()
    y = exchange(x, {place: Fuse(RANK == 0)})
    if RANK == 0:
        with pytest.raises(Broken):
            torch.autograd.grad(y, x, cotangent(1, RANK), retain_graph=True)
        if place == "nothing sent":
            passes(y, x, 3, range(1, 2))
    else:
        passes(y, x, 3, range(1, 2))
    WORLD.Barrier()
    again = exchange(x, {})
    passes(again, x, 3, range(2, 5))


@needs_two
def test_the_rank_that_waits_for_a_repeated_pass_is_told():
    """Rank 0 repeats the failed pass; the rank that waits for its second cotangent raises too."""
    x = ones()
    y = exchange(x, {"gradient received": Fuse(RANK == 0)})
    if RANK == 0:
        with pytest.raises(Broken):
            torch.autograd.grad(y, x, cotangent(1, RANK), retain_graph=True)
        with pytest.raises(RuntimeError, match=REPEATED):
            torch.autograd.grad(y, x, cotangent(2, RANK), retain_graph=True)
    else:
        passes(y, x, 3, range(1, 2))
        if NEXT == 0:
            with pytest.raises(
                ValueError,
                match=r"(?s)the message from rank 0 .* is bool of shape .*expected a new "
                "forward on all ranks",
            ):
                torch.autograd.grad(y, x, cotangent(2, RANK), retain_graph=True)
    WORLD.Barrier()
    again = exchange(x, {})
    passes(again, x, 3, range(2, 4))


@needs_two
@pytest.mark.parametrize("is_compiled", [False, True], ids=["eager", "compiled"])
def test_cotangents_of_two_passes_are_not_mixed_up(is_compiled):
    """Rank 0 sends one cotangent, fails, and sends the other one in a second pass; rank 1 expects both in one pass."""
    comm = syncyte.COMM_WORLD.handle
    if RANK == 0:
        first, second = (receive(comm, 1, tag, is_compiled) for tag in (1, 2))
        first.register_hook(Fuse(True))  # runs after the second message's cotangent is sent
        with pytest.raises(Broken):
            (first + second).sum().backward(retain_graph=True)
        with pytest.raises(RuntimeError, match=f"message to rank 1, {REPEATED}"):
            second.sum().backward(retain_graph=True)
        first.sum().backward()
    elif RANK == 1:
        x = ones()
        tokens = [isend(x * 2, 0, tag).wait() for tag in (1, 2)]
        with pytest.raises(ValueError, match="rank 0 has sent cotangents of two backward passes, of which one"):
            sum(tokens).backward()
    WORLD.Barrier()
    x = ones()
    passes(exchange(x, {}), x, 3, range(1, 3))


def receive(comm: int, source: int, tag: int, is_compiled: bool) -> torch.Tensor:
    def run(like):
        ticket = torch.ops.syncyte.irecv(like, comm, source, tag)
        return torch.ops.syncyte.wait_message(ticket, comm, like.shape, like.dtype, True)[0]

    torch._dynamo.reset()
    like = ones()
    return torch.compile(run, fullgraph=True, backend="aot_eager")(like) if is_compiled else run(like)


@pytest.mark.parametrize("place", PLACES[1:])
def test_a_failed_pass_leaves_nothing(place):
    """Every rank fails, so some short cotangents are not received; their sends complete all the same."""
    before = torch.ops.syncyte.requests_in_flight()  # earlier tests may leave sends of long cotangents
    x = ones()
    y = exchange(x, {place: Fuse(True)})
    with pytest.raises(Broken):
        y.sum().backward()
    del y
    assert settled(before)


def test_passes_within_passes_are_passes_of_their_own():
    """A hook runs backward through the same messages: neither pass fails, and each sends its own cotangents."""
    x = ones()
    before = torch.ops.syncyte.requests_in_flight()
    y = exchange(x, {})
    end = y * 1
    inner = []
    end.register_hook(lambda _: inner.append(torch.autograd.grad(y, x, cotangent(1, RANK, 3), retain_graph=True)[0]))
    (outer,) = torch.autograd.grad(end, x, cotangent(2, RANK, 3))
    assert torch.equal(inner[0], cotangent(1, NEXT, 3))
    assert torch.equal(outer, cotangent(2, NEXT, 3))
    assert settled(before)


def test_second_derivatives_after_a_new_forward():
    x = torch.arange(3, dtype=torch.float64).requires_grad_()
    weight = cotangent(1, RANK).requires_grad_()
    with pytest.raises(Broken):
        torch.autograd.grad(exchange(x**2, {"gradient received": Fuse(True)}), x, weight, create_graph=True)
    (gradient,) = torch.autograd.grad(exchange(x**2, {}), x, weight, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), weight)  # gradient = 2 x weight of the next rank
    assert torch.equal(second, 2 * x.detach())


def test_compiled_passes():
    torch._dynamo.reset()
    comm = syncyte.COMM_WORLD.handle

    def ring(x):
        sent = torch.ops.syncyte.isend(x * 2, comm, NEXT, 3)
        like = torch.ops.syncyte.join_dummies(torch.empty_like(x), [sent])
        received = torch.ops.syncyte.irecv(like, comm, PREVIOUS, 3)
        token = torch.ops.syncyte.wait_message(
            torch.ops.syncyte.join_dummies(sent, [received]), comm, x.shape, x.dtype, False
        )[0]
        return torch.ops.syncyte.wait_message(
            torch.ops.syncyte.join_dummies(received, [token]), comm, x.shape, x.dtype, True
        )[0]

    x = ones()
    mine = x * 1
    mine.register_hook(Fuse(True))
    compiled = torch.compile(ring, fullgraph=True, backend="aot_eager")
    y = compiled(mine)
    with pytest.raises(Broken):
        torch.autograd.grad(y, x, cotangent(1, RANK), retain_graph=True)
    with pytest.raises(RuntimeError, match=REPEATED):
        torch.autograd.grad(y, x, cotangent(1, RANK), retain_graph=True)
    WORLD.Barrier()
    y = compiled(x * 1)
    for number in (1, 2):
        (gradient,) = torch.autograd.grad(y, x, cotangent(number, RANK), retain_graph=True)
        assert torch.equal(gradient, 2 * cotangent(number, NEXT))


def test_a_started_collective_of_a_failed_pass_is_completed():
    before = torch.ops.syncyte.requests_in_flight()
    x = ones()
    started = iallreduce(x)
    started.ticket.register_hook(Fuse(True))
    y = started.wait()
    run = lambda: torch.autograd.grad(y, x, cotangent(1, RANK, 3), retain_graph=True)[0]  # noqa: E731
    with pytest.raises(Broken):
        run()
    torch.testing.assert_close(run(), allreduce(cotangent(1, RANK, 3)))
    assert settled(before)
