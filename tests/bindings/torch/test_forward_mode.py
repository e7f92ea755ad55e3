# SPDX-License-Identifier: BSD-3-Clause
"""Forward-mode derivatives (jvp) and torch.func's transforms give the right result or a clear error, on all ranks."""

import pytest
import torch
import torch.autograd.forward_ad as forward_ad

import syncyte
import syncyte.nn
from syncyte.torch import allreduce


def values(comm) -> tuple[torch.Tensor, torch.Tensor]:
    """This rank's point and direction."""
    point = torch.arange(3.0, dtype=torch.float64) + comm.rank
    return point, torch.tensor([1.0, 2.0, -1.0], dtype=torch.float64) * (comm.rank + 1)


def sum_of_squares(comm):
    """sum_r x_r^2 and its derivative along the ranks' directions."""
    ranks = torch.arange(float(comm.size), dtype=torch.float64)[:, None]
    points = torch.arange(3.0, dtype=torch.float64) + ranks
    directions = torch.tensor([1.0, 2.0, -1.0], dtype=torch.float64) * (ranks + 1)
    return (points**2).sum(0), (2 * points * directions).sum(0)


def test_allreduce_of_a_dual_number(comm):
    point, direction = values(comm)
    with forward_ad.dual_level():
        x = forward_ad.make_dual(point, direction)
        primal, tangent = forward_ad.unpack_dual(allreduce(x * x, comm))
    expected, derivative = sum_of_squares(comm)
    assert torch.equal(primal, expected)
    assert torch.equal(tangent, derivative)


def test_allreduce_by_jvp_and_jacfwd(comm):
    point, direction = values(comm)
    primal, tangent = torch.func.jvp(lambda x: allreduce(x * x, comm), (point,), (direction,))
    expected, derivative = sum_of_squares(comm)
    assert torch.equal(primal, expected)
    assert torch.equal(tangent, derivative)
    # the elements of all ranks are perturbed together
    every = torch.func.jacfwd(lambda x: allreduce(x * x, comm))(point)
    total = sum(2 * (torch.arange(3.0, dtype=torch.float64) + rank) for rank in range(comm.size))
    assert torch.equal(every, torch.diag(total))


def test_forward_over_backward(comm):
    """Derivative of a gradient: the backward pass has tangents too."""
    point, direction = values(comm)
    with forward_ad.dual_level():
        x = forward_ad.make_dual(point.requires_grad_(), direction)
        (gradient,) = torch.autograd.grad((allreduce(x, comm) ** 2).sum(), x, create_graph=True)
        tangent = forward_ad.unpack_dual(gradient).tangent
    # L = sum over ranks of |sum_r x_r|^2, so dL/dx = 2 size sum_r x_r
    moved = sum((rank + 1) * torch.tensor([1.0, 2.0, -1.0], dtype=torch.float64) for rank in range(comm.size))
    assert torch.equal(tangent.detach(), 2 * comm.size * moved)


def test_a_tangent_on_one_rank_is_everybodys_error(comm):
    if comm.size == 1:
        pytest.skip("one rank agrees with itself")
    with forward_ad.dual_level():
        x = torch.ones(3)
        x = forward_ad.make_dual(x, torch.ones(3)) if comm.rank == 0 else x
        with pytest.raises(ValueError, match="has a tangent"):
            allreduce(x, comm)
    assert allreduce(torch.ones(1), comm).item() == comm.size


@pytest.fixture
def whole(comm):
    tensor = syncyte.WholeTensor((4 * comm.size, 2), torch.float64, comm=comm)
    tensor.local.copy_(torch.arange(8.0).view(4, 2) + 100 * comm.rank)
    tensor.sync()
    tensor.requires_grad_()
    return tensor


def test_collective_gather(whole, comm):
    scratch = whole.__dict__["_gradient_companions"][1].handle
    index = torch.tensor([0, 4 * comm.size - 1, 0])
    local = whole.local.detach().clone()

    def squares(values):
        return torch.ops.syncyte.gather_collective(values**2, whole.handle, scratch, index)

    primal, tangent = torch.func.jvp(squares, (local,), (torch.full_like(local, comm.rank + 1.0),))
    last = torch.tensor([6.0, 7.0], dtype=torch.float64) + 100 * (comm.size - 1)
    first = torch.tensor([0.0, 1.0], dtype=torch.float64)
    assert torch.equal(primal, torch.stack([first, last, first]) ** 2)
    assert torch.equal(tangent, 2 * torch.stack([first, comm.size * last, first]))


def test_adjoint_of_the_collective_gather(whole, comm):
    scratch = whole.__dict__["_gradient_companions"][1].handle
    index, rows = torch.tensor([1]), len(whole.rows())
    cotangent = torch.full((1, 2), comm.rank + 1.0, dtype=torch.float64)
    primal, tangent = torch.func.jvp(
        lambda y: torch.ops.syncyte.gather_adjoint(y**2, whole.handle, scratch, index, rows), (cotangent,), (cotangent,)
    )
    total = sum((rank + 1.0) ** 2 for rank in range(comm.size)) * (comm.rank == 0)
    assert primal.tolist() == [[0.0] * 2, [total] * 2, [0.0] * 2, [0.0] * 2]
    assert torch.equal(tangent, 2 * primal)


def test_one_sided_gather_has_no_forward_mode(whole):
    with forward_ad.dual_level():
        local = forward_ad.make_dual(whole.local.detach(), torch.ones_like(whole.local))
        with pytest.raises(NotImplementedError, match="collective=True"):
            torch.ops.syncyte.gather(local, whole.handle, 0, torch.tensor([0]))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap_sums_every_element(comm):
    batch = torch.arange(6.0).view(2, 3) + comm.rank
    total = sum(torch.arange(6.0).view(2, 3) + rank for rank in range(comm.size))
    assert torch.equal(torch.vmap(lambda x: allreduce(x, comm))(batch), total)
    assert torch.equal(torch.vmap(lambda x: allreduce(x, comm), in_dims=1)(batch), total.t())


def test_reverse_mode_of_torch_func_is_a_clear_error(comm):
    ring = syncyte.Halo(comm.cartesian([comm.size]), (3,), torch.float32, 1)
    for operation in (
        lambda x: allreduce(x, comm),
        lambda x: syncyte.torch.allgather_along(x, 0, comm=comm),
        lambda x: syncyte.torch.bcast_(x * 1, 0, comm),
        lambda x: syncyte.torch.iallreduce(x, comm).wait(),
        lambda x: syncyte.torch.halo_exchange(x, ring),
        lambda x: syncyte.nn.functional.reduce(x, comm),
    ):
        with pytest.raises(RuntimeError, match=r"functorch transforms.*expected torch.autograd.grad\(result, tensor\)"):
            torch.func.grad(lambda x, operation=operation: operation(x).sum())(torch.ones(3))
    assert allreduce(torch.ones(1), comm).item() == comm.size
