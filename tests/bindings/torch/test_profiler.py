# SPDX-License-Identifier: BSD-3-Clause
"""Communications in the traces of torch's profilers: names and shapes, forward and backward."""

import pytest
import torch
from mpi4py import MPI
from torch.autograd.profiler import profile

import syncyte
from syncyte.torch import (
    DataParallel,
    allgather_along,
    allreduce,
    alltoall_along,
    bcast,
    exscan,
    gather,
    gather_along,
    halo_exchange,
    iallgather_along,
    iallreduce,
    irecv,
    isend,
    join_dummies,
    reduce,
    reduce_scatter_along,
    scan,
    scatter_along,
)

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
EVEN = [4] * SIZE

OPERATIONS = {
    "allreduce": (allreduce, ["allreduce"], ["allreduce"]),
    "max": (lambda x: allreduce(x, op="max"), ["allreduce"], ["allreduce"]),
    "bcast": (bcast, ["bcast"], ["reduce"]),
    "reduce": (reduce, ["reduce"], ["bcast"]),
    "scan": (scan, ["scan"], ["scan"]),
    "exscan": (exscan, ["exscan"], ["exscan"]),
    "allgather_along": (allgather_along, ["allgather_along"], ["reduce_scatter_along"]),
    "gather_along": (gather_along, ["gather_along"], ["scatter_along"]),
    "scatter_along": (lambda x: scatter_along(x, 4 if RANK == 0 else 0), ["scatter_along"], ["gather_along"]),
    "reduce_scatter_along": (
        lambda x: reduce_scatter_along(x, 4 if RANK == 0 else 0),
        ["reduce_scatter_along"],
        ["allgather_along"],
    ),
    "alltoall_along": (
        lambda x: alltoall_along(x, 0, 1, 3 if RANK == 0 else 0),
        ["alltoall_along"],
        ["alltoall_along"],
    ),
    "iallreduce": (
        lambda x: iallreduce(x).wait(),
        ["start_collective", "iallreduce", "iallreduce_wait"],
        ["iallreduce", "iallreduce_wait", "iallreduce_wait_backward"],
    ),
    "iallgather": (
        lambda x: iallgather_along(x, counts=EVEN).wait(),
        ["iallgather", "iallgather_wait"],
        ["ireduce_scatter", "ireduce_scatter_wait", "iallgather_wait_backward"],
    ),
}


def events_of(function) -> tuple[dict[str, list], object]:
    """Shapes of inputs by name of the event."""
    with profile(record_shapes=True) as recorded:
        result = function()
    found: dict[str, list] = {}
    for event in recorded.function_events:
        found.setdefault(event.name.removeprefix("syncyte::"), []).append(event.input_shapes)
    return found, result


@pytest.mark.parametrize("name", OPERATIONS)
def test_names_and_shapes(name):
    operation, forward, backward = OPERATIONS[name]
    x = torch.ones(4, 3, requires_grad=True)
    found, result = events_of(lambda: operation(x))
    assert set(forward) <= found.keys()
    assert [4, 3] in [shape for shapes in found[forward[0]] for shape in shapes]
    gradient = torch.ones_like(result)
    found, _ = events_of(lambda: result.backward(gradient))
    own = {"max": "allreduce"}.get(name, name) + "_backward"
    assert set(backward) | {own} <= found.keys()
    assert any(list(shape) for shape in found[own][0]) == (
        result.dim() > 0 and own not in ("iallreduce_backward", "iallgather_backward")
    )


def test_messages():
    x = torch.ones(5, requires_grad=True)

    def forward() -> torch.Tensor:
        request = isend(x, RANK)
        got = irecv(join_dummies(torch.empty(5), [request.ticket]), RANK).wait()
        return join_dummies(got, [request.wait()])

    found, result = events_of(forward)
    assert {"isend", "irecv", "wait_message"} <= found.keys()
    assert found["isend"][0][0] == [5]
    found, _ = events_of(lambda: result.sum().backward())
    assert {
        "isend",
        "irecv",
        "isend_backward",
        "irecv_backward",
        "isend_wait_backward",
        "irecv_wait_backward",
    } <= found.keys()
    assert found["irecv_wait_backward"][0][0] == [5]


def test_halos_and_whole_tensors():
    halo = syncyte.Halo(syncyte.COMM_WORLD.cartesian([SIZE]), [5], "float64", 1)
    x = torch.ones(5, dtype=torch.float64, requires_grad=True)
    found, result = events_of(lambda: halo_exchange(x, halo))
    assert found["halo_exchange"][0][0] == [5]
    found, _ = events_of(lambda: result.sum().backward())
    assert found["halo_exchange_backward"][0][0] == [5]
    whole = syncyte.WholeTensor((6, 2), "float64")
    whole.requires_grad_()
    index = torch.tensor([1, 2, 0])
    for collective, name in ((False, "gather"), (True, "gather_collective")):
        found, result = events_of(lambda how=collective: gather(whole, index, collective=how))
        assert index.shape == tuple(found[name][0][3])
        found, _ = events_of(lambda: result.sum().backward())
        assert found[f"{name}_backward"][0][0] == [3, 2]
    whole.sync_grad()


def test_the_averages_of_data_parallel_training():
    module = torch.nn.Linear(3, 2)
    averager = DataParallel(module)
    found, _ = events_of(lambda: module(torch.ones(1, 3)).sum().backward())
    assert {"data_parallel_start", "data_parallel_wait"} <= found.keys()
    del averager
