"""Collectives of syncyte.torch within torch.compile(fullgraph=True): results, gradients, and collectives that must run
although their result is unused."""

import pytest
import torch

from syncyte import torch as sct
from test_compile import compiled, traced_operations  # noqa: F401 (a fixture)

OPERATIONS = {
    "allreduce": ("comm_allreduce", lambda x, comm: sct.allreduce(x, comm)),
    "bcast": ("comm_bcast", lambda x, comm: sct.bcast(x, 0, comm)),
    "reduce": ("comm_reduce", lambda x, comm: sct.reduce(x, 0, comm)),
    "allreduce identity": ("comm_allreduce", lambda x, comm: sct.allreduce(x, comm, adjoint="identity")),
    "max": ("comm_allreduce", lambda x, comm: sct.allreduce(x, comm, op="max")),
    "prod": ("comm_allreduce", lambda x, comm: sct.allreduce(x, comm, op="prod")),
    "reduce min": ("comm_reduce", lambda x, comm: sct.reduce(x, 0, comm, op="min")),
    "reduce prod": ("comm_reduce", lambda x, comm: sct.reduce(x, 0, comm, op="prod")),
    "scan": ("comm_scan", lambda x, comm: sct.scan(x, comm=comm)),
    "exscan": ("comm_exscan", lambda x, comm: sct.exscan(x, reverse=True, comm=comm)),
    "allgather": ("comm_allgather_along", lambda x, comm: sct.allgather_along(x, 1, comm=comm)),
    "allgather counts": ("comm_allgather_along",
                          lambda x, comm: sct.allgather_along(x, 1, counts=[3] * comm.size, comm=comm)),
    "gather": ("comm_gather_along", lambda x, comm: sct.gather_along(x, 0, comm=comm)),
    "scatter": ("comm_scatter_along", lambda x, comm: sct.scatter_along(x, 2 if comm.rank == 0 else 0, comm=comm)),
    "reduce_scatter": ("comm_reduce_scatter_along",
                       lambda x, comm: sct.reduce_scatter_along(x, 3 if comm.rank == 0 else 0, 1, comm=comm)),
    "alltoall": ("comm_alltoall_along",
                 lambda x, comm: sct.alltoall_along(x, 0, 1, 3 if comm.rank == 0 else 0, comm=comm))}


# Further reductions of operators that are tested above.
VARIANTS = ("allreduce identity", "max", "prod", "reduce min", "reduce prod")


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.thorough] * (name in VARIANTS)) for name in OPERATIONS])
def named(request):
    return OPERATIONS[request.param]


def test_results_and_gradients(comm, generator, named, compiled):  # noqa: F811
    function = named[1]
    x = torch.randn(2, 3, dtype=torch.float64, generator=generator, requires_grad=True)
    expected = function(x * 2, comm).sin()
    cotangent = torch.randn(expected.shape, dtype=torch.float64, generator=generator)
    (expected_gradient,) = torch.autograd.grad(expected, x, cotangent)
    result = compiled(lambda t: function(t * 2, comm).sin())(x)
    (gradient,) = torch.autograd.grad(result, x, cotangent)
    assert torch.allclose(result, expected) and torch.allclose(gradient, expected_gradient)


def test_a_barrier_survives_in_its_place(comm, compiled):  # noqa: F811
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


def test_unused_results_are_still_computed(comm, named, compiled):  # noqa: F811
    operation, function = named

    def forgetful(x):
        function(x, comm)
        return x + 1

    run = compiled(forgetful)
    run(torch.ones(2, 3))
    with traced_operations() as seen:
        assert torch.equal(run(torch.ones(2, 3)), torch.full((2, 3), 2.0))
    assert seen.count(operation) == 1


@pytest.mark.parametrize("grad", [True, pytest.param(False, marks=pytest.mark.thorough)])
def test_opcheck(comm, grad):
    ops = torch.ops.syncyte
    handle, size = comm.handle, comm.size
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=grad)
    own = [2] + [0] * (size - 1)
    for call in [(ops.bcast.default, 0), (ops.reduce.default, 0), (ops.scan.default, True), (ops.exscan.default, False),
                 (ops.allreduce.default, 1, True), (ops.allreduce.default, 4), (ops.allreduce.default, 2, True),
                 (ops.reduce.default, 0, 3), (ops.reduce.default, 0, 2),
                 (ops.allgather_along.counts, 0, [2] * size), (ops.gather_along.counts, 0, [2] * size, 0),
                 (ops.scatter_along.counts, 0, own, 0, [2, 3]), (ops.reduce_scatter_along.counts, 0, own),
                 (ops.alltoall_along.counts, 0, [2] * size, 1, [3] + [0] * (size - 1))]:
        torch.library.opcheck(call[0], (x, handle, *call[1:]))
