# SPDX-License-Identifier: BSD-3-Clause
"""Differentiable relocation of rows: values, adjoint identity, gradients of any order, errors."""

import pytest
import torch
from torch.autograd import forward_ad

import syncyte
from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from syncyte.torch import allreduce, relocate_rows

WORLD = syncyte.COMM_WORLD
LAST = WORLD.rank == WORLD.size - 1


def rows(seed, count=None, width=3, high=9):
    generator = torch.Generator().manual_seed(31 * seed + WORLD.rank)
    count = 2 * WORLD.rank + 1 if count is None else count
    destinations = torch.randint(-1, WORLD.size, (count,), generator=generator)
    destinations[destinations == -1] = syncyte.PROC_NULL
    return torch.randint(-high, high, (count, width), generator=generator).double(), destinations


def of_all(*values):
    return allreduce(torch.tensor([float(each) for each in values], dtype=torch.float64))


def test_adjoint_identity():
    for seed in range(6):
        x, destinations = rows(seed)
        x.requires_grad_()
        number = torch.arange(len(x))
        there, names = relocate_rows([x, number], destinations)
        assert names.dtype == torch.int64
        assert not names.requires_grad
        y, _ = rows(seed + 100, len(there))
        there.backward(y)
        left, right = of_all((there.detach() * y).sum(), (x.detach() * x.grad).sum())
        assert left == right
        assert not x.grad[destinations == syncyte.PROC_NULL].any()


def test_gradients_of_any_order():
    x, destinations = rows(3, 2, 2)
    distributed_gradcheck(lambda given: relocate_rows(given, destinations) ** 2, (x.requires_grad_(),))
    distributed_gradgradcheck(lambda given: relocate_rows(given, destinations) ** 3, (x.requires_grad_(),))


def test_forward_mode():
    x, destinations = rows(5)
    tangent = torch.full_like(x, 2.0 + WORLD.rank)
    with forward_ad.dual_level():
        there = forward_ad.unpack_dual(relocate_rows(forward_ad.make_dual(x, tangent), destinations))
    assert torch.equal(there.tangent, relocate_rows(tangent, destinations))


def test_two_at_once():
    """Backward of two relocations in the other order."""
    x, destinations = rows(7)
    x.requires_grad_()
    once = relocate_rows(x, destinations)
    twice = relocate_rows(once * 2, torch.zeros(len(once), dtype=torch.int64))
    twice.sum().backward()
    assert torch.equal(x.grad, 2.0 * (destinations != syncyte.PROC_NULL)[:, None].expand(-1, 3))


def test_mixed_grad():
    x, destinations = rows(8)
    x.requires_grad_(LAST)
    if WORLD.size > 1:
        with pytest.raises(syncyte.MismatchError, match="needs-gradient.*mixed_grad=True"):
            relocate_rows(x, destinations)
    there = relocate_rows(x, destinations, mixed_grad=True)
    there.sum().backward()
    assert not LAST or torch.equal(x.grad, (destinations != syncyte.PROC_NULL).double()[:, None].expand(-1, 3))


def test_the_communicator_may_be_freed_before_backward():
    some = WORLD.split(0)
    x = torch.ones(4, requires_grad=True)
    there = relocate_rows(x, [0] * 4, comm=some)
    if LAST:
        some.free()
    there.sum().backward()
    assert torch.equal(x.grad, torch.ones(4))


def test_functions_of_torch_func():
    x, destinations = rows(11)
    expected = 2 * x * (destinations != syncyte.PROC_NULL)[:, None]
    assert torch.equal(torch.func.grad(lambda a: (relocate_rows(a, destinations) ** 2).sum())(x), expected)


def test_tangents_of_some_ranks_are_refused():
    x, destinations = rows(12)
    if WORLD.size > 1:
        with forward_ad.dual_level(), pytest.raises(syncyte.MismatchError, match="has-tangent is 1"):
            relocate_rows(x if LAST else forward_ad.make_dual(x, x), destinations)
    relocate_rows(x, destinations)


def test_errors():
    x, destinations = rows(9)
    with pytest.raises(syncyte.ShapeError):
        relocate_rows(x, destinations[1:] if LAST else destinations)
    with pytest.raises(syncyte.ArgumentError, match="tensors is empty"):
        relocate_rows([] if LAST else [x], destinations)
    with pytest.raises(syncyte.DtypeError):
        relocate_rows(x.numpy() if LAST else x, destinations)
    with pytest.raises(syncyte.UnsupportedError, match="vmap"):
        torch.vmap(lambda one: relocate_rows(one, [0]))(torch.zeros(2, 1))
    with pytest.raises(syncyte.ArgumentError, match=r"destinations\[0\]"):
        relocate_rows(x, [WORLD.size if LAST else 0] * len(x))
    relocate_rows(x, destinations)
