# SPDX-License-Identifier: BSD-3-Clause
"""comm=None does not mean COMM_WORLD. A rank has None for a communicator of which it is no member, so None is an
error."""

import inspect

import pytest
import torch

import syncyte
import syncyte.torch as syt

ONE = torch.ones(2)
NEEDS_COMM = {
    "allreduce": lambda comm: syt.allreduce(ONE, comm),
    "allreduce max": lambda comm: syt.allreduce(ONE, comm, op="max"),
    "bcast": lambda comm: syt.bcast(ONE, 0, comm),
    "bcast_": lambda comm: syt.bcast_(ONE.clone(), 0, comm),
    "reduce": lambda comm: syt.reduce(ONE, 0, comm),
    "reduce_": lambda comm: syt.reduce_(ONE.clone(), 0, comm),
    "barrier": syt.barrier,
    "scan": lambda comm: syt.scan(ONE, comm=comm),
    "exscan": lambda comm: syt.exscan(ONE, comm=comm),
    "allgather_along": lambda comm: syt.allgather_along(ONE, comm=comm),
    "gather_along": lambda comm: syt.gather_along(ONE, comm=comm),
    "scatter_along": lambda comm: syt.scatter_along(ONE, 1, comm=comm),
    "reduce_scatter_along": lambda comm: syt.reduce_scatter_along(ONE, 1, comm=comm),
    "alltoall_along": lambda comm: syt.alltoall_along(ONE, 0, 0, 1, comm=comm),
    "iallreduce": lambda comm: syt.iallreduce(ONE, comm),
    "ibcast": lambda comm: syt.ibcast(ONE, 0, comm),
    "iallgather_along": lambda comm: syt.iallgather_along(ONE, counts=[2], comm=comm),
    "ireduce_scatter_along": lambda comm: syt.ireduce_scatter_along(ONE, counts=[2], comm=comm),
    "ialltoall_along": lambda comm: syt.ialltoall_along(ONE, 0, 0, gather_counts=[2], scatter_counts=[2], comm=comm),
    "isend": lambda comm: syt.isend(ONE, 0, 0, comm),
    "irecv": lambda comm: syt.irecv(ONE, 0, 0, comm),
    "send": lambda comm: syt.send(ONE, 0, 0, comm),
    "recv": lambda comm: syt.recv(ONE, 0, 0, comm),
    "sendrecv": lambda comm: syt.sendrecv(ONE, 0, ONE, 0, comm=comm),
    "DataParallel": lambda comm: syt.DataParallel([torch.ones(2, requires_grad=True)], comm),
    "relocate_rows": lambda comm: syt.relocate_rows(ONE, [0, 0], comm=comm),
    "layout_of": lambda comm: syt.layout_of(ONE, comm),
    "WholeTensor": lambda comm: syncyte.WholeTensor((4, 2), comm=comm),
    "WholeTensor.wrap": lambda comm: syncyte.WholeTensor.wrap(torch.ones(2), comm=comm),
    "Window": lambda comm: syncyte.Window(8, comm=comm),
    "Store": lambda comm: syncyte.Store(8, 2, comm=comm),
    "save": lambda comm: syncyte.checkpoint.save("none.h5", {}, comm),
    "load": lambda comm: syncyte.checkpoint.load("none.h5", comm=comm),
    "open": lambda comm: syncyte.checkpoint.open("none.h5", comm),
    "Halo": lambda comm: syncyte.Halo(comm, (4,), "float64", 1),
}


@pytest.mark.parametrize("name", NEEDS_COMM)
def test_none_is_refused(comm, name):
    with pytest.raises(syncyte.ArgumentError, match="is None: this rank has no part in that communicator"):
        NEEDS_COMM[name](None)


def test_a_rank_without_color_takes_part_in_nothing(comm):
    even = comm.split(0 if comm.rank % 2 == 0 else None)
    if even is None:
        with pytest.raises(ValueError, match="no part"):
            syt.allreduce(torch.ones(1), even)
    else:
        assert syt.allreduce(torch.ones(1), even).item() == (comm.size + 1) // 2
    assert syt.allreduce(torch.ones(1)).item() == comm.size  # the world's next allreduce works


def test_a_rank_beyond_the_grid_takes_part_in_nothing(comm):
    grid = comm.cartesian([1])
    if comm.rank == 0:
        assert syt.allreduce(torch.ones(1), grid).item() == 1
    else:
        with pytest.raises(ValueError, match="comm is None.*cartesian"):
            syt.allreduce(torch.ones(1), grid)
        with pytest.raises(ValueError, match="cart is None.*cartesian"):
            syncyte.Halo(grid, (4,), "float64", 1)
    assert syt.allreduce(torch.ones(1)).item() == comm.size


@pytest.mark.parametrize("module", [syt, syncyte, syncyte.checkpoint])
def test_every_default_is_the_world_itself(module):
    """None differs from an omitted argument. The table above lists every function with a communicator."""
    found = {}
    for name in module.__all__:
        try:
            parameters = inspect.signature(getattr(module, name)).parameters
        except (TypeError, ValueError):
            continue
        if "comm" in parameters and parameters["comm"].default is not inspect.Parameter.empty:
            found[name] = parameters["comm"].default
    assert found, "no function with a communicator"
    for name, default in found.items():
        assert default is syncyte.COMM_WORLD, name
        assert name in NEEDS_COMM, name


def test_compiled_functions_take_the_default_and_refuse_none(comm):
    comm.barrier()
    default = torch.compile(lambda x: syt.allreduce(x * 2), backend="aot_eager", fullgraph=True)
    assert default(torch.ones(1)).item() == 2 * comm.size
    x = torch.ones(1, requires_grad=True)
    default(x).backward()
    assert x.grad.item() == 2 * comm.size
    with pytest.raises(Exception, match="no part in that communicator|None"):
        torch.compile(lambda x: syt.allreduce(x, None), backend="aot_eager")(torch.ones(1))
    assert syt.allreduce(torch.ones(1)).item() == comm.size
