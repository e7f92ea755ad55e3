# SPDX-License-Identifier: BSD-3-Clause
"""torch.compile(fullgraph=True): results, gradients, and operations that must run although their result is unused."""

import pytest
import torch

import syncyte
from backends import EAGER
from syncyte.torch import gather
from traces import traced_operations

inductor_too = pytest.mark.parametrize("compiled", [EAGER, "aot_eager", "inductor"], indirect=True)


@inductor_too
def test_allreduce_and_its_gradient(comm, compiled):
    handle = comm.handle

    def function(x):
        return torch.ops.syncyte.allreduce(x * 2, handle).sin()

    x = torch.linspace(0, 1, 5, dtype=torch.float64, requires_grad=True)
    expected = (2 * comm.size * x).sin()
    result = compiled(function)(x)
    assert torch.allclose(result, expected)
    (gradient,) = torch.autograd.grad(result.sum(), x)
    # the sum of each rank depends on each x in two ways
    assert torch.allclose(gradient, 2 * comm.size * (2 * comm.size * x).cos())


def test_need_for_gradients_is_a_fact_of_the_graph(comm, compiled):
    handle = comm.handle
    run = compiled(lambda x: torch.ops.syncyte.allreduce(x * 2, handle))
    x = torch.ones(3, requires_grad=comm.rank == 0)
    if comm.size > 1:
        with pytest.raises(ValueError, match="needs-gradient"):
            run(x)
    with torch.no_grad():
        assert run(x).tolist() == [2.0 * comm.size] * 3


@inductor_too
def test_an_unused_allreduce_still_runs(comm, compiled):
    handle = comm.handle

    def function(x):
        torch.ops.syncyte.allreduce(x, handle)
        return x + 1

    run = compiled(function)
    run(torch.ones(3))
    with traced_operations() as seen:
        assert run(torch.ones(3)).tolist() == [2.0] * 3
    assert seen.count("comm_allreduce") == 1


def test_freed_communicator_in_a_compiled_graph(comm, compiled):
    part = comm.dup()
    handle = part.handle
    run = compiled(lambda x: torch.ops.syncyte.allreduce(x, handle))
    assert run(torch.ones(1)).item() == comm.size
    part.free()
    other = comm.dup()  # its handle must differ from the freed one
    with pytest.raises(RuntimeError, match="freed"):
        run(torch.ones(1))
    other.free()


def test_one_sided_gather_and_its_adds(comm, compiled):
    whole = syncyte.WholeTensor((6, 2), torch.float64, comm=comm)
    whole.local.copy_(torch.arange(whole.local.numel(), dtype=torch.float64).view(-1, 2))
    whole.sync()
    whole.requires_grad_()
    index = torch.tensor([0, 5, 5])
    companion = whole.__dict__["_gradient_companions"][0].handle
    handle = whole.handle

    def function(local, rows):
        return torch.ops.syncyte.gather(local, handle, companion, rows) * 3

    result = compiled(function)(whole.local, index)
    assert torch.equal(result, 3 * gather(whole, index).detach())
    result.backward(torch.ones_like(result))
    whole.sync_grad()
    for i, row in enumerate(whole.rows()):
        assert whole.local.grad[i].tolist() == [3.0 * comm.size * {0: 1, 5: 2}.get(row, 0)] * 2


def test_collective_gather_and_its_gradient(comm, compiled):
    whole = syncyte.WholeTensor((6, 2), torch.float64, comm=comm)
    whole.requires_grad_()
    scratch = whole.__dict__["_gradient_companions"][1].handle
    handle = whole.handle
    index = torch.tensor([1, 1, 4])

    def function(local, rows):
        return torch.ops.syncyte.gather_collective(local, handle, scratch, rows) ** 2

    local = torch.rand(len(whole.rows()), 2, dtype=torch.float64, requires_grad=True)
    expected = function(local, index)
    (expected_gradient,) = torch.autograd.grad(expected.sum(), local)
    result = compiled(function)(local, index)
    (gradient,) = torch.autograd.grad(result.sum(), local)
    assert torch.allclose(result, expected)
    assert torch.allclose(gradient, expected_gradient)
