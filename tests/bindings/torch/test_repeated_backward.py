"""Backward passes that fail on some ranks and are repeated there: every answer to a message is sent and received
once."""

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

needs_two = pytest.mark.skipif(SIZE < 2, reason="one rank has nobody who goes on")


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


def exchange(x: torch.Tensor, fuses: dict[str, Fuse]) -> torch.Tensor:
    """What the rank before has, with a fuse at each place of backward between two messages."""
    mine = x * 1
    sent = isend(mine, NEXT, 5)
    received = irecv(join_dummies(torch.empty_like(x), [sent]), PREVIOUS, 5)
    token = join_dummies(sent, [received]).wait()
    for tensor, place in [(mine, "gradient received"), (sent.ticket, "receive started"),
                          (received.ticket, "cotangent sent")]:
        if place in fuses:
            tensor.register_hook(fuses[place])
    return join_dummies(received, [token]).wait()


def repeated(run, expected_failures: int) -> None:
    for _ in range(expected_failures):
        with pytest.raises(Broken):
            run()
    run()


def under_way() -> int:
    """Requests still under way, after waiting up to two seconds for none."""
    for _ in range(200):
        if torch.ops.syncyte.requests_under_way() == 0:
            break
        gc.collect()
        time.sleep(0.01)
    return torch.ops.syncyte.requests_under_way()


def cotangent(number: int, rank: int, length: int) -> torch.Tensor:
    return torch.randn(length, dtype=torch.float64, generator=torch.Generator().manual_seed(10 * number + rank))


@pytest.mark.parametrize("places", [["cotangent sent"], ["receive started"], ["gradient received"],
                                    ["cotangent sent", "receive started", "gradient received"]], ids="+".join)
@pytest.mark.parametrize("failing", ["rank 0", "all ranks", "different ranks"])
@pytest.mark.parametrize("length", [3, 20000], ids=["short", "long"])  # eager and rendezvous messages
def test_where_a_pass_has_failed_it_is_repeated(places, failing, length):
    fails = {"rank 0": RANK == 0, "all ranks": True, "different ranks": RANK % 2 == 1}[failing]
    if failing == "different ranks" and RANK == 0:
        places, fails = places[-1:], True
    x = torch.ones(length, dtype=torch.float64, requires_grad=True)
    y = exchange(x, {place: Fuse(fails) for place in places})

    def gradient(number: int) -> torch.Tensor:
        return torch.autograd.grad(y, x, cotangent(number, RANK, length), retain_graph=True)[0]  # noqa: F821  (y goes last)

    for _ in places if fails else []:
        with pytest.raises(Broken):
            gradient(1)
    # Passes that succeed follow with cotangents of their own: what a failed one has left would be mixed up with them.
    for number in (1, 2, 3):
        assert torch.equal(gradient(number), cotangent(number, NEXT, length))
    del y, gradient
    assert under_way() == 0


@pytest.mark.parametrize("place", ["cotangent sent", "receive started", "gradient received"])
def test_second_derivatives_after_a_repeated_pass(place):
    x = torch.arange(3, dtype=torch.float64).requires_grad_()
    y = exchange(x**2, {place: Fuse(RANK == 0)})
    weight = cotangent(1, RANK, 3).requires_grad_()

    def run() -> None:
        run.gradient = torch.autograd.grad(y, x, weight, create_graph=True)[0]  # noqa: F821  (y goes last)

    repeated(run, int(RANK == 0))
    (second,) = torch.autograd.grad(run.gradient.sum(), weight)  # gradient = 2 x weight of the next rank
    assert torch.equal(second, 2 * x.detach())
    del y, second, run.gradient
    assert under_way() == 0


@needs_two
def test_a_repeated_pass_with_another_cotangent_is_an_error():
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    y = exchange(x, {"cotangent sent": Fuse(RANK == 0)})
    if RANK == 0:
        with pytest.raises(Broken):
            y.backward(torch.ones(3, dtype=torch.float64), retain_graph=True)
        with pytest.raises(RuntimeError, match=f"has sent rank {PREVIOUS} another cotangent of message [0-9]+"):
            y.backward(torch.full((3,), 2.0, dtype=torch.float64), retain_graph=True)
    y.backward(torch.ones(3, dtype=torch.float64))
    assert x.grad.tolist() == [1.0] * 3


@needs_two
def test_a_received_gradient_that_a_hook_has_changed_is_an_error():
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    mine = x * 1
    fuse = Fuse(RANK == 0)

    def hook(gradient):
        if fuse.armed:
            gradient.mul_(2)
        fuse(gradient)

    mine.register_hook(hook)
    y = exchange_of(mine)
    if RANK > 0:
        y.sum().backward()
        return
    with pytest.raises(Broken):
        y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="was changed in place since"):
        y.sum().backward()


def exchange_of(mine: torch.Tensor) -> torch.Tensor:
    sent = isend(mine, NEXT)
    received = irecv(join_dummies(torch.empty_like(mine), [sent]), PREVIOUS)
    token = join_dummies(sent, [received]).wait()
    return join_dummies(received, [token]).wait()


def test_a_failed_pass_that_nobody_repeats_leaves_nothing():
    """All ranks have posted both answers: they end by themselves, and go with the graph."""
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    y = exchange(x, {"gradient received": Fuse(True)})
    with pytest.raises(Broken):
        y.sum().backward()
    del y
    assert under_way() == 0


def test_passes_within_passes_are_passes_of_their_own():
    """A hook runs backward through the same messages: nothing has failed, so each pass sends its own answers."""
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    y = exchange(x, {})
    end = y * 1
    inner = []
    end.register_hook(lambda _: inner.append(torch.autograd.grad(y, x, cotangent(1, RANK, 3), retain_graph=True)[0]))
    (outer,) = torch.autograd.grad(end, x, cotangent(2, RANK, 3))
    assert torch.equal(inner[0], cotangent(1, NEXT, 3)) and torch.equal(outer, cotangent(2, NEXT, 3))
    assert under_way() == 0


def test_compiled_passes():
    torch._dynamo.reset()
    comm = syncyte.COMM_WORLD.handle

    def ring(x):
        sent = torch.ops.syncyte.isend(x * 2, comm, NEXT, 3)
        like = torch.ops.syncyte.join_dummies(torch.empty_like(x), [sent])
        received = torch.ops.syncyte.irecv(like, comm, PREVIOUS, 3)
        token = torch.ops.syncyte.wait_message(torch.ops.syncyte.join_dummies(sent, [received]), comm, x.shape,
                                               x.dtype, False, 0, 2)[0]
        return torch.ops.syncyte.wait_message(torch.ops.syncyte.join_dummies(received, [token]), comm, x.shape,
                                              x.dtype, True, 0, 2)[0]

    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    mine = x * 1
    mine.register_hook(Fuse(RANK == 0))
    y = torch.compile(ring, fullgraph=True, backend="aot_eager")(mine)

    def gradient(number: int) -> torch.Tensor:
        return torch.autograd.grad(y, x, cotangent(number, RANK, 3), retain_graph=True)[0]

    if RANK == 0:
        with pytest.raises(Broken):
            gradient(1)
    for number in (1, 2):
        assert torch.equal(gradient(number), 2 * cotangent(number, NEXT, 3))


def test_a_started_collective_of_a_failed_pass_is_completed():
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    started = iallreduce(x)
    started.ticket.register_hook(Fuse(True))
    y = started.wait()
    run = lambda: torch.autograd.grad(y, x, cotangent(1, RANK, 3), retain_graph=True)[0]  # noqa: E731
    with pytest.raises(Broken):
        run()
    torch.testing.assert_close(run(), allreduce(cotangent(1, RANK, 3)))
    assert under_way() == 0
