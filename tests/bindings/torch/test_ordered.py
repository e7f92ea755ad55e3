# SPDX-License-Identifier: BSD-3-Clause
"""syncyte.torch.ordered(): backward runs communications in the reverse order, independent of the graph."""

import gc
import weakref

import pytest
import torch
from mpi4py import MPI

import syncyte
import syncyte.compat.mpi4torch as mpi4torch
from ranks import several, works
from syncyte.torch import (
    Request,
    allgather_along,
    allreduce,
    bcast,
    halo_exchange,
    iallreduce,
    irecv,
    isend,
    join_dummies,
    ordered,
    recv,
    reduce,
    scan,
    send,
    sendrecv,
)

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(100 * seed + RANK)
    return torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()


class Noted(torch.autograd.Function):
    """Identity that appends its name to a list when its backward runs."""

    @staticmethod
    def forward(ctx, x, notes, name):
        ctx.noted = notes, name
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        notes, name = ctx.noted
        notes.append(name)
        return gradient, None, None


@several
def test_losses_of_different_results_cross_without_a_scope_and_not_with_one():
    x = numbers(3)

    def loss_of_one(order=None):
        first, second = allreduce(x * 2), allreduce(x * 3)
        loss = (first if RANK % 2 == 0 else second).sum()
        return loss if order is None else order.join(loss)

    with pytest.raises(ValueError, match="number of the forward"):
        loss_of_one().backward()
    x.grad = None
    with ordered() as order:
        loss_of_one(order).backward()
    even = (SIZE + 1) // 2
    torch.testing.assert_close(x.grad, torch.full_like(x, 2 * even + 3 * (SIZE - even)))


def test_backward_runs_in_the_reverse_order():
    notes: list = []
    x = numbers(3)
    names = ["a", "b", "c", "d"]
    with ordered() as order:
        for operation, name in zip([allreduce, bcast, scan, reduce], names, strict=True):
            operation(Noted.apply(x, notes, name))  # the result is unused
        order.join(torch.ones((), dtype=torch.float64)).backward()
    assert notes == names[::-1]
    assert torch.equal(x.grad, torch.zeros_like(x))


def test_messages_whose_waits_nobody_uses_are_answered():
    x = numbers(4)
    with ordered() as order:
        sent = isend(x * 1, NEXT)
        got = recv(torch.empty_like(x), PREVIOUS)
        sent.wait()
        loss = order.join((got * (2.0 + RANK)).sum())
    loss.backward()
    assert torch.equal(x.grad, torch.full_like(x, 2.0 + NEXT))


@several
def test_a_loss_that_does_not_use_a_send():
    x = numbers(4)
    with ordered() as order:
        loss = torch.zeros((), dtype=torch.float64)
        if RANK == 0:
            send(x * 1, SIZE - 1)
        elif RANK == SIZE - 1:
            loss = (recv(torch.empty_like(x), 0) * 3).sum()
        loss = order.join(loss)
        assert loss.requires_grad == (RANK in (0, SIZE - 1))
        if loss.requires_grad:
            loss.backward()
    assert (x.grad is not None) == (RANK == 0)
    assert x.grad is None or torch.equal(x.grad, torch.full_like(x, 3.0))


def program(x: torch.Tensor, order) -> torch.Tensor:
    """A program with every kind of operation, all of whose results are used."""
    join = order.join if order is not None else (lambda value: value)
    a = allreduce(torch.sin(x))
    started = iallreduce(a * x)
    b = allgather_along(x * x, 0)
    c = started.wait()
    largest = allreduce(x * 1, op="max")
    d = sendrecv(c * 2, NEXT, torch.empty_like(c), PREVIOUS, 5)
    sent = isend(d * x, NEXT, 6)
    received = irecv(join_dummies(torch.empty_like(d), [sent.ticket]), PREVIOUS, 6)
    got = received.wait()
    e = join_dummies(got, [sent.wait()])
    return join((e * (RANK + 1)).sum() + b.sin().sum() + (largest * c).sum())


def test_gradients_equal_those_without_a_scope():
    plain, scoped = numbers(5), numbers(5)
    program(plain, None).backward()
    with ordered() as order:
        loss = program(scoped, order)
    loss.backward()  # after the end of the scope
    torch.testing.assert_close(scoped.grad, plain.grad, rtol=1e-12, atol=1e-12)


def test_double_backward():
    def second(scope) -> torch.Tensor:
        x = numbers(3)
        (first,) = torch.autograd.grad(
            scope(lambda: (allreduce(x.sin()) * allreduce(x * x)).sum()), x, create_graph=True
        )
        return torch.autograd.grad((first * first).sum(), x)[0]

    def in_scope(function):
        with ordered() as order:
            return order.join(function())

    torch.testing.assert_close(second(in_scope), second(lambda function: function()))
    with ordered():  # both in one outer scope
        torch.testing.assert_close(second(lambda function: function()), second(in_scope))


def test_halos_take_part():
    cart = syncyte.COMM_WORLD.cartesian([SIZE], periods=True)
    halo = syncyte.Halo(cart, [6], "float64", 1)
    x = numbers(6)
    with ordered() as order:
        halo_exchange(x * 1, halo)
        y = halo_exchange(x * 2, halo)
        order.join((y if RANK == 0 else 0 * x).sum()).backward()
    assert x.grad is not None
    assert works()


def test_one_scope_for_many_steps_leads_into_no_finished_graph():
    x = numbers(3)
    with ordered() as order:
        for step in range(4):
            x.grad = None
            y = allreduce((x * x).exp())  # exp and * raise in a second backward pass
            if step % 2 == 0:
                allreduce(x * 2)
                y = order.join(y)
            y.sum().backward()
            torch.testing.assert_close(x.grad, SIZE * (2 * x * (x * x).exp()).detach())


def test_what_is_differentiated_before_the_next_begins_is_no_part_of_it():
    """The same holds if the token of the last operation has been joined already."""
    x = numbers(3)
    with ordered():
        first = allreduce((x * x).exp())
        second = allreduce((x * x).exp())
        first.sum().backward()
        x.grad = None
        second.sum().backward()
    torch.testing.assert_close(x.grad, SIZE * (2 * x * (x * x).exp()).detach())


def test_scopes_in_scopes_are_one():
    notes: list = []
    x = numbers(2)
    with ordered() as outer:
        allreduce(Noted.apply(x, notes, 1))
        with ordered() as inner:
            allreduce(Noted.apply(x, notes, 2))
            y = inner.join(x * 0)
        allreduce(Noted.apply(x, notes, 3))
        outer.join(y.sum()).backward()
    assert notes == [3, 2, 1]


def test_an_exception_ends_the_scope():
    x = numbers(2)
    scope = ordered()
    with pytest.raises(KeyError), scope:
        allreduce(x)
        raise KeyError
    with pytest.raises(RuntimeError, match="no ordered scope is open"):
        scope.join(x)
    assert allreduce(x) is not None
    assert works()
    with pytest.raises(RuntimeError, match="no ordered scope is open"):
        torch.ops.syncyte.leave_order()


def test_an_operation_that_fails_in_a_scope():
    x = numbers(2)
    with ordered() as order:
        y = allreduce(x)
        with pytest.raises(ValueError):
            allreduce(x, op="no such op")
        order.join(y).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, SIZE))


def test_what_needs_no_gradient_takes_no_part():
    x = torch.ones(2)
    with ordered() as order:
        assert not allreduce(x).requires_grad
        assert order.join(x) is x
        allreduce(numbers(2))
        assert not allreduce(torch.ones(2, dtype=torch.int32), op="lor").requires_grad
        with torch.no_grad():
            assert not order.join(x).requires_grad
        assert order.join(x).requires_grad
        with pytest.raises(TypeError, match="no gradients"):
            order.join(torch.ones(2, dtype=torch.int32))


def test_a_scope_holds_nothing_after_its_end_and_no_finished_graph():
    alive = []

    def run(backward: bool) -> None:
        x = numbers(3)
        with ordered() as order:
            for _ in range(3):
                saved = x * 1
                alive.append(weakref.ref(saved))
                y = allreduce(saved * saved)
                del saved
            loss = order.join(y.sum())
            del y
            if backward:
                loss.backward()
                gc.collect()
                assert all(ref() is None for ref in alive)  # freed before the end of the scope

    for backward in (True, False):
        run(backward)
        gc.collect()
        assert all(ref() is None for ref in alive)


def test_a_request_is_joined_by_its_ticket():
    x = numbers(3)
    with ordered() as order:
        sent = order.join(isend(x * 1, NEXT, 9))
        assert isinstance(sent, Request)
        got = recv(torch.empty_like(x), PREVIOUS, 9)
        sent.wait()
        order.join((got * (RANK + 1)).sum()).backward()
    assert torch.equal(x.grad, torch.full_like(x, NEXT + 1.0))


def test_torchscript_and_mpi4torch_take_part():
    notes: list = []
    x = numbers(2)
    world = mpi4torch.COMM_WORLD
    with ordered() as order:
        world.Allreduce(Noted.apply(x, notes, 1), mpi4torch.MPI_SUM)
        world.Bcast_(Noted.apply(x, notes, 2) * 1, 0)
        order.join(x.sum()).backward()
    assert notes == [2, 1]


def test_compiled_functions():
    x = numbers(3)

    def inside(x):
        with ordered() as order:
            return order.join(allreduce(x))

    with pytest.raises(Exception, match="does not work inside torch.compile"):
        torch.compile(inside, fullgraph=True, backend="aot_eager")(x)
    assert works()

    compiled = torch.compile(lambda x: allreduce(x.sin()) * 2, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        x.grad = None
        notes: list = []
        with ordered() as order:
            allreduce(Noted.apply(x, notes, 1))
            order.join(compiled(order.join(x * 1)))
            allreduce(Noted.apply(x, notes, 3))
            order.join(x.sum()).backward()
        assert notes == [3, 1]
        torch.testing.assert_close(x.grad, torch.ones_like(x))


def joined(x: torch.Tensor) -> torch.Tensor:
    request = mpi4torch.COMM_WORLD.Isend(x, NEXT, 0)
    handle = mpi4torch.JoinDummiesHandle(request, [x * 2])
    got = mpi4torch.COMM_WORLD.Recv(mpi4torch.JoinDummies(torch.empty_like(x), [handle.dummy]), PREVIOUS, 0)
    return mpi4torch.JoinDummies(got, [mpi4torch.COMM_WORLD.Wait(handle)])


def test_join_dummies_and_handles_leak_nothing():
    def tensors() -> int:
        gc.collect()
        return sum(isinstance(thing, torch.Tensor) for thing in gc.get_objects())

    alive = []
    x = numbers(2)
    joined(x * 1).sum().backward()
    before = tensors()
    for _ in range(200):
        start = x * 1
        alive.append(weakref.ref(start))
        result = joined(start)
        alive.append(weakref.ref(result))
        result.sum().backward()
        del start, result
    gc.collect()
    assert not [ref for ref in alive if ref() is not None]
    assert tensors() <= before
