# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of syncyte.torch within torch.compile(fullgraph=True): results, gradients, and collectives that must run
although their result is unused."""

import collections

import pytest
import torch
from mpi4py import MPI

from syncyte import torch as sct
from traces import traced_operations

OPERATIONS = {
    "allreduce": ("comm_allreduce", lambda x, comm: sct.allreduce(x, comm)),
    "bcast": ("comm_bcast", lambda x, comm: sct.bcast(x, 0, comm)),
    "reduce": ("comm_reduce", lambda x, comm: sct.reduce(x, 0, comm)),
    "allreduce identity": ("comm_allreduce", lambda x, comm: sct.allreduce(x, comm, adjoint="identity")),
    "max": ("comm_allreduce", lambda x, comm: sct.allreduce(x, comm, op="max")),
    "op of mpi4py": ("comm_allreduce", lambda x, comm: sct.allreduce(x, comm, op=MPI.SUM)),
    "prod": ("comm_allreduce", lambda x, comm: sct.allreduce(x, comm, op="prod")),
    "reduce min": ("comm_reduce", lambda x, comm: sct.reduce(x, 0, comm, op="min")),
    "reduce prod": ("comm_reduce", lambda x, comm: sct.reduce(x, 0, comm, op="prod")),
    "scan": ("comm_scan", lambda x, comm: sct.scan(x, comm=comm)),
    "exscan": ("comm_exscan", lambda x, comm: sct.exscan(x, reverse=True, comm=comm)),
    "allgather": ("comm_allgather_along", lambda x, comm: sct.allgather_along(x, 1, comm=comm)),
    "allgather counts": (
        "comm_allgather_along",
        lambda x, comm: sct.allgather_along(x, 1, counts=[3] * comm.size, comm=comm),
    ),
    "gather": ("comm_gather_along", lambda x, comm: sct.gather_along(x, 0, comm=comm)),
    "scatter": (
        "comm_scatter_along",
        lambda x, comm: sct.scatter_along(x, 2 if comm.rank == 0 else 0, shape=x.shape, comm=comm),
    ),
    "reduce_scatter": (
        "comm_reduce_scatter_along",
        lambda x, comm: sct.reduce_scatter_along(x, 3 if comm.rank == 0 else 0, 1, comm=comm),
    ),
    "alltoall": (
        "comm_alltoall_along",
        lambda x, comm: sct.alltoall_along(x, 0, 1, 3 if comm.rank == 0 else 0, comm=comm),
    ),
    "repartition": (
        "comm_alltoall_along",
        lambda x, comm: sct.alltoall_along(x, -1, 1, 3 * comm.size if comm.rank == 0 else 0, comm=comm),
    ),
}
# Those that collect their counts when they run.
COLLECTING = ("allgather", "gather", "scatter", "reduce_scatter", "alltoall", "repartition")


def test_results_and_gradients(comm, generator, compiled):
    """One graph has all of them: a graph each takes longer."""
    functions = [function for _, function in OPERATIONS.values()]

    def every(x):
        return [function(t * 2, comm).sin() for function, t in zip(functions, x.unbind(), strict=True)]

    x = torch.randn(len(functions), 2, 3, dtype=torch.float64, generator=generator, requires_grad=True)
    expected = every(x)
    cotangents = [torch.randn(each.shape, dtype=torch.float64, generator=generator) for each in expected]
    (expected_gradient,) = torch.autograd.grad(expected, x, cotangents)
    results = compiled(every)(x)
    (gradient,) = torch.autograd.grad(results, x, cotangents)
    for i, name in enumerate(OPERATIONS):
        assert torch.allclose(results[i], expected[i]), name
        assert torch.allclose(gradient[i], expected_gradient[i]), name


def test_a_barrier_survives_in_its_place(comm, compiled):
    def steps(x):
        y = sct.allreduce(x, comm)
        sct.barrier(comm)
        sct.bcast(x, 0, comm)
        return y

    run = compiled(steps)
    run(torch.ones(2))
    with traced_operations() as seen:
        assert torch.equal(run(torch.ones(2)), torch.full((2,), float(comm.size)))
    order = ["comm_allreduce", "comm_barrier", "comm_bcast"]
    assert [name for name in seen if name in order] == order


def test_unused_results_are_still_computed(comm, compiled):
    def forgetful(x):
        for i, (_, function) in enumerate(OPERATIONS.values()):
            function(x + i, comm)
        return x + 1

    run = compiled(forgetful)
    run(torch.ones(2, 3))
    with traced_operations() as seen:
        assert torch.equal(run(torch.ones(2, 3)), torch.full((2, 3), 2.0))
    expected = collections.Counter(operation for operation, _ in OPERATIONS.values())
    assert {operation: seen.count(operation) for operation in expected} == expected


@pytest.mark.parametrize("grad", [True, pytest.param(False, marks=pytest.mark.thorough)])
def test_opcheck(comm, grad):
    ops = torch.ops.syncyte
    handle, size = comm.handle, comm.size
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=grad)
    own = [2] + [0] * (size - 1)
    for call in [
        (ops.bcast.default, 0),
        (ops.reduce.default, 0),
        (ops.scan.default, 1, True),
        (ops.exscan.default, 1, False),
        (ops.allreduce.default, 1, True),
        (ops.allreduce.default, 4),
        (ops.allreduce.default, 2, True),
        (ops.reduce.default, 0, 3),
        (ops.reduce.default, 0, 2),
        (ops.allgather_along.counts, 0, [2] * size),
        (ops.gather_along.counts, 0, 0, [2] * size),
        (ops.scatter_along.counts, 0, 0, own, [2, 3]),
        (ops.reduce_scatter_along.counts, 0, own),
        (ops.alltoall_along.counts, 0, 1, [2] * size, [3] + [0] * (size - 1)),
    ]:
        torch.library.opcheck(call[0], (x, handle, *call[1:]))


class Named(torch.nn.Module):
    def __init__(self, function, comm):
        super().__init__()
        self.run = lambda x: function(x * 2, comm).sin()

    def forward(self, x):
        return self.run(x)


@pytest.mark.parametrize("name", COLLECTING)
def test_one_rank_traces_alone(comm, name):
    """Nothing is sent while a graph is traced."""
    x, function = torch.ones(2, 3, dtype=torch.float64), OPERATIONS[name][1]
    run = Named(function, comm)
    if comm.rank == comm.size - 1:
        with traced_operations() as seen:
            run = torch.export.export(run, (x,)).module()
        assert not [operation for operation in seen if operation.startswith("comm_")]
    assert torch.equal(run(x), function(x * 2, comm).sin())


def test_one_rank_compiles_again_alone(comm):
    """Another input, a Python number and the grad mode make one rank compile again; the others go on as they were."""
    torch._dynamo.reset()

    def step(batch, factor):
        x = batch.mean(0).repeat(2, 1) * factor
        return [OPERATIONS[name][1](x, comm) for name in COLLECTING]

    run = torch.compile(step, fullgraph=True, backend="aot_eager", dynamic=False)
    last = comm.rank == comm.size - 1
    for rows, factor, grad in [(8, 2, False), (5, 2, False), (8, 3, False), (8, 2, True)]:
        batch = torch.ones(rows if last else 8, 3)
        with torch.set_grad_enabled(grad and last):
            expected = step(batch, factor if last else 2)
            for one, other in zip(run(batch, factor if last else 2), expected, strict=True):
                assert torch.equal(one, other)


@pytest.mark.parametrize("dynamic", [None, *(pytest.param(set, marks=pytest.mark.thorough) for set in (True, False))])
def test_other_ranks_extents_need_no_other_graph(comm, dynamic):
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")

    def function(x):
        whole = sct.allgather_along(x * 2, comm=comm)
        rows = sct.alltoall_along(whole.sum(0).expand(x.shape), 0, 1, 3 if comm.rank == 0 else 0, comm=comm)
        return (whole * whole).sum(0), sct.gather_along(x, comm=comm).sum() + rows.sum()

    run = torch.compile(function, fullgraph=True, backend=counter, dynamic=dynamic)
    last = comm.rank == comm.size - 1
    for rows in (2, 3, 1, 4):
        x = torch.rand(rows if last else 2, 3, dtype=torch.float64, requires_grad=True)
        expected, results = function(x), run(x)
        for one, other in zip(expected, results, strict=True):
            assert torch.allclose(one, other)
        gradients = [torch.autograd.grad(sum(each.sum() for each in found), x)[0] for found in (expected, results)]
        assert torch.allclose(*gradients)
    assert last or counter.frame_count == 1


def test_scatter_needs_the_shape_in_a_graph(comm):
    torch._dynamo.reset()
    run = torch.compile(
        lambda x: sct.scatter_along(x, 2 if comm.rank == 0 else 0, comm=comm), fullgraph=True, backend="aot_eager"
    )
    with pytest.raises(Exception, match="inside torch.compile expected shape=, that of root's tensor"):
        run(torch.ones(2, 3))
    given = torch.ones(2, 3) if comm.rank == 0 else torch.zeros(0)  # in eager mode, too, only root's tensor is read
    assert sct.scatter_along(given, 2 if comm.rank == 0 else 0, shape=[2, 3], comm=comm).tolist() == given.tolist()
    if comm.size > 1:
        with pytest.raises(ValueError, match="extent"):
            sct.scatter_along(given, 2 if comm.rank == 0 else 0, shape=[2, 3 + comm.rank], comm=comm)
