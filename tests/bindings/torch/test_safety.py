# SPDX-License-Identifier: BSD-3-Clause
"""For every collective of syncyte.torch: ranks that differentiate different things, and defects of mpi4torch, numbered
in the tests' names."""

import pytest
import torch
from mpi4py import MPI

import syncyte
from operations import ALL, OPERATIONS
from ranks import several, works
from syncyte.torch import (
    allgather_along,
    allreduce,
    alltoall_along,
    bcast,
    gather_along,
    reduce,
    reduce_scatter_along,
    scatter_along,
)

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank


@pytest.fixture(params=OPERATIONS)
def operation(request):
    return OPERATIONS[request.param]


def values(seed: int = 0) -> torch.Tensor:
    return torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(100 * seed + RANK))


def cotangent_of(result: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(7 + RANK)
    return torch.randn(result.shape, dtype=result.dtype, generator=generator)


def test_defect_2_incoming_gradients_stay_as_they_are(operation):
    x = values().requires_grad_()
    result = operation(x)
    cotangent = cotangent_of(result.detach())
    given = cotangent.clone()
    (once,) = torch.autograd.grad(result, x, given, retain_graph=True)
    assert torch.equal(given, cotangent)
    copy = result.clone()
    (twice,) = torch.autograd.grad(copy * 1 + copy, x, given)  # siblings share the gradient
    assert torch.equal(given, cotangent)
    assert torch.allclose(twice, 2 * once)


@pytest.mark.parametrize(
    "call",
    [
        lambda odd: allgather_along(values(), -3 if odd else -1),
        lambda odd: gather_along(values(), 2 if odd else 1),
        lambda odd: alltoall_along(values(), 0, 9 if odd else 1, ALL),
        lambda odd: bcast(values(), SIZE if odd else 0),
        lambda odd: reduce_scatter_along(values(), ALL, -9 if odd else 0),
        lambda odd: reduce(values(), -1 if odd else 0),
        lambda odd: allgather_along(torch.ones(()) if odd else torch.ones(2)),
        lambda odd: scatter_along(torch.ones(()) if odd else values(), ALL, 0, SIZE - 1),
    ],
    ids=["allgather", "gather", "alltoall", "bcast", "reduce_scatter", "reduce", "no dimension", "root's shape"],
)
def test_defect_7_a_bad_axis_root_or_shape_on_one_rank(call):
    with pytest.raises((IndexError, ValueError), match="axis is|root is|no dimension"):
        call(RANK == SIZE - 1)
    assert works()


class NoGradient(torch.autograd.Function):
    """Identity whose backward gives an undefined gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return None


@pytest.mark.parametrize("who", ["rank 0", "all ranks"])
def test_defect_13_an_undefined_gradient_is_zero(operation, who):
    is_undefined = who == "all ranks" or RANK == 0
    x = values().requires_grad_()
    expected_of = operation(x)
    cotangent = cotangent_of(expected_of.detach())
    (expected,) = torch.autograd.grad(expected_of, x, cotangent * (not is_undefined))
    result = operation(x)
    end = NoGradient.apply(result) if is_undefined else result * 1
    (gradient,) = torch.autograd.grad(end, x, cotangent, allow_unused=True)
    assert torch.allclose(expected, torch.zeros_like(x) if gradient is None else gradient)


@several
@pytest.mark.parametrize("odd", [0, SIZE - 1])
def test_defect_15_gradients_on_some_ranks_alone_are_everybodys_error(operation, odd):
    with pytest.raises(ValueError, match="needs-gradient is"):
        operation(values().requires_grad_(RANK == odd))
    x = values().requires_grad_()  # all ranks still count the same number of operations
    operation(x).sum().backward()
    assert works()


@several
def test_crossed_backward_passes_are_everybodys_error(operation):
    """The operations have equal shapes; only the numbers of their forwards differ."""
    x = values().requires_grad_()
    first, second = operation(x), operation(x)
    with pytest.raises(ValueError, match="number of the forward is [0-9]+ on rank.*, but [0-9]+ on rank"):
        (first if RANK == 0 else second).sum().backward()
    first, second = operation(x), operation(x)
    second.sum().backward()
    first.sum().backward()
    assert works()


@several
def test_crossed_double_backward_passes():
    x, cotangent = values().requires_grad_(), values(1).requires_grad_()
    gradients = [torch.autograd.grad(allreduce(x), x, cotangent, create_graph=True)[0] for _ in range(2)]
    with pytest.raises(ValueError, match="number of the forward"):
        gradients[RANK == 0].sum().backward()
    assert works()


@several
def test_crossed_backward_passes_of_collective_gathers(comm):
    whole = syncyte.WholeTensor((2 * SIZE, 2), torch.float64, comm=comm)
    whole.requires_grad_()
    results = [syncyte.torch.gather(whole, torch.tensor([0]), collective=True) for _ in range(2)]
    with pytest.raises(ValueError, match="number of the forward"):
        results[RANK == 0].sum().backward()
    results[0].sum().backward()
    assert works()


def test_mixed_grad(operation):
    """Gradients do not depend on whether the inputs of other ranks require one."""
    x = values()
    everyone = x.clone().requires_grad_()
    result = operation(everyone)
    cotangent = cotangent_of(result.detach())
    result.backward(cotangent)
    mine = x.clone().requires_grad_(RANK == 0)
    mixed = operation(mine, mixed_grad=True)
    assert mixed.requires_grad
    assert torch.equal(mixed, result)
    mixed.backward(cotangent)
    assert torch.allclose(mine.grad, everyone.grad) if RANK == 0 else mine.grad is None


def test_mixed_grad_without_gradients():
    with torch.no_grad():
        assert not allreduce(values(), mixed_grad=True).requires_grad
    assert not allreduce(torch.ones(2, dtype=torch.int32), mixed_grad=True).requires_grad


def test_mixed_grad_is_refused_in_compiled_code(operation):
    torch._dynamo.reset()
    run = torch.compile(lambda x: operation(x, mixed_grad=True), fullgraph=True, backend="eager")
    with pytest.raises(Exception, match="mixed_grad=True does not work inside torch.compile"):
        run(values().requires_grad_())
