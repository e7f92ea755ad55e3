# SPDX-License-Identifier: BSD-3-Clause
"""A graph keeps communicators and halos that its backward needs, although the application has dropped them."""

import gc
import io

import pytest
import torch

import syncyte
from syncyte.torch import allgather_along, allreduce, bcast_, halo_exchange, iallreduce, reduce, sendrecv

WORLD = syncyte.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size
NEXT, BEFORE = (RANK + 1) % SIZE, (RANK - 1) % SIZE


def changed(operation):
    def run(x, comm):
        y = x * 1.0
        operation(y, comm)
        return y

    return run


OPERATIONS = {
    "allreduce": lambda x, comm: allreduce(x, comm),
    "max": lambda x, comm: allreduce(x + RANK, comm, op="max"),
    "prod": lambda x, comm: reduce(x, 0, op="prod", comm=comm),
    "identity": lambda x, comm: allreduce(x, comm, adjoint="identity"),
    "bcast_": changed(lambda y, comm: bcast_(y, 0, comm)),
    "allgather": lambda x, comm: allgather_along(x, comm=comm),
    "iallreduce": lambda x, comm: iallreduce(x, comm).wait(),
    "sendrecv": lambda x, comm: sendrecv(x, NEXT, torch.empty_like(x), BEFORE, comm=comm),
}


@pytest.mark.parametrize("explicitly", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_backward_after_the_communicator_was_dropped(name, explicitly):
    x = torch.full((3,), 2.0, dtype=torch.float64, requires_grad=True)
    (wanted,) = torch.autograd.grad(OPERATIONS[name](x, WORLD).sum(), x)
    comm = WORLD.dup()
    loss = OPERATIONS[name](x, comm).sum()
    if explicitly:
        comm.free()
    del comm
    gc.collect()
    WORLD.dup()  # a collective point, at which dropped communicators are freed
    (gradient,) = torch.autograd.grad(loss, x)
    assert torch.equal(gradient, wanted)


def test_a_graph_that_goes_gives_the_communicator_back():
    x = torch.ones(2, requires_grad=True)
    comm = WORLD.dup()
    handle, loss = comm.handle, allreduce(x, comm).sum()
    del comm
    gc.collect()
    assert torch.ops.syncyte.comm_size(handle) == SIZE, "the graph keeps it"
    del loss
    with pytest.raises(RuntimeError, match="comm is a handle that was freed"):
        torch.ops.syncyte.comm_size(handle)


def test_second_derivative_after_the_communicator_was_dropped():
    x = torch.full((3,), 2.0, dtype=torch.float64, requires_grad=True)
    loss = (allreduce(x * x, WORLD.dup()) ** 2).sum()
    gc.collect()
    WORLD.dup()
    (first,) = torch.autograd.grad(loss, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.isfinite(second).all()


def test_backward_after_the_halo_was_dropped():
    def exchanged(x):
        halo = syncyte.Halo(WORLD.cartesian([SIZE], periods=[True]), (6, 3), "float64", 1, 1)
        return halo_exchange(x, halo)

    x = torch.arange(18.0, dtype=torch.float64).reshape(6, 3).requires_grad_()
    loss = (exchanged(x) * 2.0).sum()
    gc.collect()
    WORLD.dup()
    loss.backward()
    assert x.grad.sum() == 2.0 * x.numel()
    assert (x.grad[0] == 0).all()


class Sum(torch.nn.Module):
    def __init__(self, comm):
        super().__init__()
        self.comm = comm

    def forward(self, x):
        return allreduce(x, self.comm)


def exported(comm):
    """A sum over a communicator, saved and loaded by torch.export, and the communicator's handle in the graph."""
    file = io.BytesIO()
    torch.export.save(torch.export.export(Sum(comm), (torch.ones(2),)), file)
    file.seek(0)
    loaded = torch.export.load(file)
    (call,) = [node for node in loaded.graph.nodes if "allreduce" in str(node.target)]
    return loaded.module(), call.args[1]


def test_an_exported_graph_on_the_world_holds_a_number_that_every_job_has():
    module, number = exported(WORLD)
    assert number == 0xC1
    assert torch.equal(module(torch.ones(2)), torch.full((2,), float(SIZE)))


def test_an_exported_graph_on_another_communicator_holds_a_number_of_its_own():
    """Handles are random but the same on all ranks, so that another job has no communicator with this handle."""
    comm = WORLD.dup()
    module, number = exported(comm)
    assert number == comm.handle
    assert number >> 62 == 1
    assert torch.equal(module(torch.ones(2)), torch.full((2,), float(SIZE)))
    assert torch.equal(allreduce(torch.tensor(number), op="max"), torch.tensor(number))
    comm.free()
    with pytest.raises(RuntimeError, match="freed, or not a communicator of this job"):
        module(torch.ones(2))
