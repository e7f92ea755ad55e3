# SPDX-License-Identifier: BSD-3-Clause
"""Non-blocking collectives of syncyte.torch: values against the blocking ones, gradients, orders, and errors of wrong
use."""

import pytest
import torch
from mpi4py import MPI

from backends import INDUCTOR
from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from operations import STARTED, UNEVEN, WHOLE, rows
from syncyte.torch import (
    allreduce,
    iallgather_along,
    iallreduce,
    ialltoall_along,
    ibcast,
    irecv,
    ireduce_scatter_along,
    isend,
    reduce_scatter_along,
    wait_all,
)

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank


@pytest.fixture(params=STARTED)
def case(request):
    return STARTED[request.param]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.int32])
def test_like_the_blocking_one(case, dtype):
    start, blocking, given = case
    x = given().to(dtype)
    assert torch.equal(start(x).wait(), blocking(x))
    assert torch.equal(start(x.t().contiguous().t()).wait(), blocking(x))


@pytest.mark.parametrize("op", ["max", "prod", "lxor"])
def test_other_reductions(op):
    x = rows(WHOLE, 2, dtype=torch.int64)
    assert torch.equal(iallreduce(x, op=op).wait(), allreduce(x, op=op))
    assert torch.equal(ireduce_scatter_along(x, counts=UNEVEN, op=op).wait(), reduce_scatter_along(x, RANK, op=op))


def test_other_reductions_have_no_adjoint():
    x = rows(3, 2).requires_grad_()
    with pytest.raises(NotImplementedError, match="op max of iallreduce has no adjoint"):
        iallreduce(x, op="max").wait()
    with pytest.raises(NotImplementedError, match="op prod of ireduce_scatter has no adjoint"):
        ireduce_scatter_along(torch.ones(WHOLE, requires_grad=True), counts=UNEVEN, op="prod").wait()
    assert torch.equal(iallreduce(x.detach(), op="max").wait(), allreduce(x.detach(), op="max"))


def test_an_unknown_op_is_every_ranks_error():
    with pytest.raises(ValueError, match="avg"):
        iallreduce(rows(3), op="avg" if RANK == SIZE - 1 else "sum").wait()
    assert allreduce(torch.ones(1)) == SIZE


def test_gradients(case):
    start, _, given = case
    distributed_gradcheck(lambda x: start(x).wait(), [given()])
    distributed_gradgradcheck(lambda x: start(x * x).wait() ** 2, [given() / 9], tolerance=1e-5)


def started(values: list[torch.Tensor]) -> list:
    return [iallreduce(value) if i % 2 else ibcast(value * RANK, i % SIZE) for i, value in enumerate(values)]


def test_many_at_once_in_any_order_of_waits():
    requests = started([torch.full((4,), float(i), dtype=torch.float64) for i in range(6)])
    order = torch.randperm(6, generator=torch.Generator().manual_seed(RANK)).tolist()
    results = {i: requests[i].wait() for i in order}
    for i in range(6):
        assert results[i][0] == (i * SIZE if i % 2 else i * (i % SIZE))


def test_many_at_once_and_their_gradients():
    values = [torch.full((4,), float(i), dtype=torch.float64, requires_grad=True) for i in range(6)]
    results = wait_all(started(values)[::-1])[::-1]
    sum((result * (RANK + 1)).sum() for result in results).backward()
    ranks = SIZE * (SIZE + 1) / 2
    for i, value in enumerate(values):
        assert value.grad[0] == (ranks if i % 2 else (ranks * RANK if RANK == i % SIZE else 0))


def test_backwards_that_cross_are_an_error():
    """Backward starts the collectives in the reverse order of the waits, which must be the same on all ranks."""
    if SIZE == 1:
        return
    values = [torch.ones(4, requires_grad=True) for _ in range(2)]
    requests = [iallreduce(value) for value in values]
    order = (0, 1) if RANK == 0 else (1, 0)
    results = {i: requests[i].wait() for i in order}
    with pytest.raises(ValueError, match="number of the forward"):
        (results[0] + results[1]).sum().backward()
    # A rank that has raised at its first wait continues; its next call of Syncyte completes the waits of other ranks.
    assert allreduce(torch.ones(1))[0] == SIZE


def test_a_start_waits_for_nobody():
    """Rank 0 starts the collective before it sends; the others start it after they have received."""
    x = torch.ones(3, dtype=torch.float64)
    if RANK == 0:
        request = iallreduce(x)
        for rank in range(1, SIZE):
            isend(x, rank, 9).wait()
    else:
        irecv(x, 0, 9).wait()
        request = iallreduce(x)
    assert request.wait()[0] == SIZE


def test_an_input_may_change_at_once():
    x = torch.ones(5000)
    request = iallreduce(x)
    x.zero_()
    assert request.wait()[0] == SIZE


def test_an_error_of_one_rank_is_raised_on_all():
    if SIZE == 1:
        return
    with pytest.raises(ValueError, match="elements of output"):
        iallreduce(torch.ones(2 + (RANK == 0))).wait()
    with pytest.raises((ValueError, IndexError), match="axis"):
        iallgather_along(torch.ones(2, 2), 5 if RANK == 0 else 0, counts=[2] * SIZE).wait()
    with pytest.raises(ValueError, match="counts"):
        iallgather_along(torch.ones(2, 2), counts=[2] * (SIZE + (RANK == SIZE - 1))).wait()
    assert iallreduce(torch.ones(1)).wait()[0] == SIZE


def test_need_for_gradients_is_a_fact():
    if SIZE == 1:
        return
    with pytest.raises(ValueError, match="needs-gradient.*mixed_grad=True"):
        iallreduce(torch.ones(2, requires_grad=RANK == 0)).wait()


def cotangent_of(result: torch.Tensor) -> torch.Tensor:
    return torch.randn(result.shape, dtype=result.dtype, generator=torch.Generator().manual_seed(7 + RANK))


@pytest.mark.parametrize("needing", [0, SIZE - 1])
def test_mixed_grad(case, needing):
    """Gradients do not depend on whether the inputs of other ranks require one."""
    start, _, given = case
    everyone = given().requires_grad_()
    result = start(everyone).wait()
    cotangent = cotangent_of(result.detach())
    result.backward(cotangent)
    mine = given().requires_grad_(RANK == needing)
    mixed = start(mine, mixed_grad=True).wait()
    assert mixed.requires_grad
    assert torch.equal(mixed, result)
    mixed.backward(cotangent)
    assert torch.equal(mine.grad, everyone.grad) if RANK == needing else mine.grad is None


def test_mixed_grad_without_gradients():
    with torch.no_grad():
        assert not iallreduce(torch.ones(2), mixed_grad=True).wait().requires_grad
    assert not iallreduce(torch.ones(2, dtype=torch.int32), mixed_grad=True).wait().requires_grad
    assert not iallreduce(torch.ones(2)).wait().requires_grad


@pytest.mark.skipif(SIZE == 1, reason="one rank agrees with itself")
def test_mixed_grad_on_some_ranks_is_everybodys_error():
    with pytest.raises(ValueError, match="needs-gradient"):
        iallreduce(torch.ones(2), mixed_grad=RANK == 0).wait()
    assert allreduce(torch.ones(1)).item() == SIZE


def test_mixed_grad_is_refused_in_compiled_code(case, comm):
    start, _, given = case
    assert comm.size == SIZE
    torch._dynamo.reset()
    run = torch.compile(lambda x: start(x, mixed_grad=True).wait(), fullgraph=True, backend="eager")
    with pytest.raises(Exception, match="mixed_grad=True does not work inside torch.compile"):
        run(given().requires_grad_())


def test_a_second_wait_names_the_operation():
    request = iallreduce(torch.ones(2))
    request.wait()
    with pytest.raises(RuntimeError, match="iallreduce has been waited for already"):
        request.wait()


def test_test_tells_when_it_has_ended():
    request = iallreduce(torch.ones(2))
    while not request.test():
        pass
    assert wait_all([request])[0][0] == SIZE


def test_backward_without_the_wait_is_an_error():
    from syncyte.torch import join_dummies

    x = torch.ones(3, requires_grad=True)
    request = iallreduce(x)
    with pytest.raises(RuntimeError, match="but not its wait"):
        join_dummies(torch.ones(()), [request]).backward()
    request.wait()


def test_compiled_with_a_dummy_warns_of_nothing(comm, capfd):
    """Backward adds its ticket to the dummy's zeros: the ticket tensor may be dropped, the operation may not."""
    from syncyte.torch import join_dummies

    def function(x):
        first = iallreduce(x * 2)
        second = iallreduce(join_dummies(x * 3, [first]))
        return first.wait() + second.wait()

    assert comm.size == SIZE
    torch._dynamo.reset()
    x = torch.ones(3, requires_grad=True)
    for _ in range(3):
        x.grad = None
        torch.compile(function, fullgraph=True, backend="aot_eager")(x).sum().backward()
        assert x.grad[0] == 5 * SIZE
    assert "dropped" not in capfd.readouterr().err


@pytest.mark.parametrize("backend", ["aot_eager", INDUCTOR])
def test_compiled(backend, comm):
    assert comm.size == SIZE  # also starts Syncyte
    torch._dynamo.reset()

    def function(x):
        first, second = iallreduce(x * 2), iallgather_along(x, counts=[3] * SIZE)
        return first.wait().sin() * second.wait().sum()

    x = rows(3, 2).requires_grad_()
    expected = function(x)
    (gradient,) = torch.autograd.grad(expected.sum(), x)
    result = torch.compile(function, fullgraph=True, backend=backend)(x)
    torch.testing.assert_close(result, expected)
    torch.testing.assert_close(torch.autograd.grad(result.sum(), x)[0], gradient)


@pytest.mark.parametrize(
    "start",
    [
        lambda n: iallgather_along(torch.ones(1), counts=n),
        lambda n: ireduce_scatter_along(torch.ones(SIZE), counts=n),
        lambda n: ialltoall_along(torch.ones(1, SIZE), 0, 1, gather_counts=[1] * SIZE, scatter_counts=n),
    ],
    ids=["allgather", "reduce_scatter", "alltoall"],
)
@pytest.mark.parametrize("wrong", [None, ["one"]], ids=["none", "a word"])
def test_lengths_that_are_no_numbers_on_one_rank(start, wrong):
    if RANK == SIZE - 1:
        with pytest.raises(ValueError, match="expected .* whole numbers"):
            start(wrong)
    else:
        with pytest.raises(ValueError, match=f"rank {SIZE - 1}"):
            start([1] * SIZE).wait()
    assert allreduce(torch.ones(1)).item() == SIZE


@pytest.mark.parametrize(
    "counts",
    [[2] * (SIZE + 1), [2] * (SIZE - 1), [2] * (SIZE - 1) + [-2]],
    ids=["one too many", "one too few", "a negative one"],
)
@pytest.mark.parametrize(
    "call, name",
    [
        (lambda x, counts: iallgather_along(x, counts=counts), "counts"),
        (lambda x, counts: ireduce_scatter_along(x, counts=counts), "counts"),
        (lambda x, counts: ialltoall_along(x, 0, 0, gather_counts=counts, scatter_counts=[2] * SIZE), "gather_counts"),
        (lambda x, counts: ialltoall_along(x, 0, 0, gather_counts=[2] * SIZE, scatter_counts=counts), "scatter_counts"),
    ],
)
def test_wrong_lengths_are_named(call, name, counts):
    with pytest.raises(ValueError) as raised:
        call(torch.ones(2, 3), counts)
    assert f"{name} is {counts}; expected {SIZE} whole numbers" in str(raised.value)
    assert allreduce(torch.ones(1)).item() == SIZE
