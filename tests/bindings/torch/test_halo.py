# SPDX-License-Identifier: BSD-3-Clause
"""Differentiable halo exchange: the adjoint identity, gradients, compiled graphs, and a solver differentiated over
ranks."""

import contextlib

import pytest
import torch
from mpi4py import MPI

import syncyte
from backends import INDUCTOR
from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from ranks import several
from syncyte.torch import allreduce, halo_exchange

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank


def grid(dimensions: int, periodic: bool):
    return syncyte.COMM_WORLD.cartesian([0] * dimensions, periods=[periodic] * dimensions)


@pytest.fixture(params=[(1, False), (1, True), (2, True), (2, False)], ids=["1d", "1d periodic", "2d periodic", "2d"])
def halo(request):
    dimensions, periodic = request.param
    return syncyte.Halo(grid(dimensions, periodic), (5, 6)[: max(dimensions, 2)], "float64", 1, 2)


def test_adjoint_identity(halo):
    """<H x, y> = <x, H' y> with random whole numbers: equal to the last bit."""
    generator = torch.Generator().manual_seed(RANK)
    x, y = (torch.randint(-9, 9, halo.shape, generator=generator).double() for _ in range(2))
    x.requires_grad_()
    hx = halo_exchange(x, halo)
    (hy,) = torch.autograd.grad(hx, x, y)
    left, right = allreduce(torch.stack([(hx.detach() * y).sum(), (x.detach() * hy).sum()]))
    assert left == right


def test_gradients(halo):
    x = torch.randn(halo.shape, dtype=torch.float64)
    distributed_gradcheck(lambda x: halo_exchange(x, halo), [x])
    distributed_gradgradcheck(lambda x: halo_exchange(x * x, halo) ** 2, [x], tolerance=1e-5)


def test_forward_mode(halo):
    x, tangent = (torch.randn(halo.shape, dtype=torch.float64) for _ in range(2))
    _, moved = torch.func.jvp(lambda x: halo_exchange(x, halo), (x,), (tangent,))
    torch.testing.assert_close(moved, halo_exchange(tangent, halo), rtol=0, atol=0)


def test_strided_input_is_left_alone(halo):
    x = torch.randn(tuple(reversed(halo.shape)), dtype=torch.float64).t()
    before = x.clone()
    torch.testing.assert_close(halo_exchange(x, halo), halo_exchange(x.contiguous(), halo), rtol=0, atol=0)
    assert torch.equal(x, before)


def test_a_wrong_shape_is_an_error_on_all_neighbours(halo):
    with pytest.raises(ValueError):
        halo_exchange(torch.zeros(halo.shape[0], halo.shape[1] + 1, dtype=torch.float64), halo)


@pytest.mark.parametrize("backend", ["aot_eager", INDUCTOR])
def test_compiled(backend):
    torch._dynamo.reset()
    plan = syncyte.Halo(grid(1, True), (6, 3), "float64", 1)
    handle = plan.handle

    def step(x):
        return torch.ops.syncyte.halo_exchange(x * 2, handle).sin()

    x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(step(x).sum(), x)
    (gradient,) = torch.autograd.grad(torch.compile(step, fullgraph=True, backend=backend)(x).sum(), x)
    torch.testing.assert_close(gradient, expected)


def test_heat_over_ranks_has_the_gradient_of_heat_on_one():
    """Explicit steps of u_t = k u_xx on a ring: gradients with respect to the initial state and to k."""
    cells, steps = 4, 5
    plan = syncyte.Halo(grid(1, True), (cells + 2,), "float64", 1)

    def laplacian(u):
        return u[2:] - 2 * u[1:-1] + u[:-2]

    def advance(u, k):
        for _ in range(steps):
            ghosted = halo_exchange(torch.nn.functional.pad(u, (1, 1)), plan)
            u = u + k * laplacian(ghosted)
        return u

    whole = torch.randn(cells * SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    u = whole[cells * RANK : cells * (RANK + 1)].clone().requires_grad_()
    k = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    (advance(u, k) ** 2).sum().backward()

    reference, rate = whole.clone().requires_grad_(), torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    state = reference
    for _ in range(steps):
        state = state + rate * laplacian(torch.cat([state[-1:], state, state[:1]]))
    (state**2).sum().backward()
    torch.testing.assert_close(u.grad, reference.grad[cells * RANK : cells * (RANK + 1)])
    torch.testing.assert_close(allreduce(k.grad), rate.grad)


# Facts that neighbours compare. On a ring of up to 3 ranks all ranks are neighbours.


def told(odd: int, text: str):
    """Expects an error if the rank `odd` differs: on that rank and its neighbours, and on no other rank."""
    is_near = (RANK - odd) % SIZE in (0, 1, SIZE - 1)
    return pytest.raises(ValueError, match=text) if is_near else contextlib.nullcontext()


@pytest.fixture
def ring():
    return syncyte.Halo(grid(1, True), (5, 3), "float64", 1)


def field(requires_grad: bool = False) -> torch.Tensor:
    return torch.randn(5, 3, dtype=torch.float64).requires_grad_(requires_grad)


def works(halo) -> bool:
    x = field(True)
    halo_exchange(x, halo).sum().backward()
    return x.grad.sum() == x.numel() and allreduce(torch.ones(1)).item() == SIZE


@several
@pytest.mark.parametrize("odd", [0, SIZE - 1])
def test_gradients_on_some_ranks_alone_are_every_neighbours_error(ring, odd):
    with told(odd, "needs-gradient is [01] on rank [0-9]+, but [01] on rank.*mixed_grad=True"):
        halo_exchange(field(RANK == odd), ring)
    assert works(ring)


@several
@pytest.mark.parametrize("dimensions", [1, 2])
def test_a_mismatch_in_one_phase_ends_the_others(dimensions):
    halo = syncyte.Halo(grid(dimensions, True), (5, 3), "float64", 1)
    text = ""
    try:
        halo_exchange(field(RANK == 0), halo)
    except ValueError as error:
        text = str(error)
        assert "needs-gradient is" in text or "has failed with" in text
    assert allreduce(torch.tensor([float("needs-gradient is" in text)])) > 0  # and no rank still waits in the exchange
    assert works(halo)


@several
def test_crossed_backward_passes_are_an_error(ring):
    x = field(True)
    first, second = halo_exchange(x, ring), halo_exchange(x, ring)
    with told(0, "number of the forward is [0-9]+ on rank"):
        (first if RANK == 0 else second).sum().backward()
    assert works(ring)


@several
def test_tangents_on_some_ranks_alone_are_an_error(ring):
    import torch.autograd.forward_ad as forward_ad

    with forward_ad.dual_level():
        x = forward_ad.make_dual(field(), field()) if RANK == 0 else field()
        with told(0, "has a tangent is [01] on rank"):
            halo_exchange(x, ring)
    assert works(ring)


def test_mixed_grad(ring):
    x, cotangent = field(), field()
    everyone = x.clone().requires_grad_()
    halo_exchange(everyone, ring).backward(cotangent)
    mine = x.clone().requires_grad_(RANK == 0)
    mixed = halo_exchange(mine, ring, mixed_grad=True)
    assert mixed.requires_grad
    mixed.backward(cotangent)
    assert torch.equal(mine.grad, everyone.grad) if RANK == 0 else mine.grad is None


def test_a_rank_without_torch_takes_part(ring):
    """A solver in another program takes part like this: it gives no facts."""
    x = field()
    expected = halo_exchange(x, ring)
    result = torch.from_numpy(ring.exchange(x.numpy().copy())) if RANK == 0 else halo_exchange(x, ring)
    assert torch.equal(result, expected)
