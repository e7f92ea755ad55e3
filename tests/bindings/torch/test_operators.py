# SPDX-License-Identifier: BSD-3-Clause
"""Requirements on every operator that communicates."""

import pytest
import torch
from mpi4py import MPI

import syncyte
import syncyte.nn  # it has keep_gradients' kernel
from syncyte import _torch_operators
from syncyte import torch as sct
from traces import traced_operations

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
NO_DATA = {"barrier.default"}  # their tensor only selects the kernel
LOCAL = {
    "gather.default",
    "scatter_add.default",
    "embedding.default",
    "apply_gradients.default",
    "keep_gradients.default",
    "isend.default",
    "irecv.default",
    "wait_message.default",
    "wait_collective.default",
}  # their errors concern this rank only
COLLECTING = {f"{name}_along.default" for name in ("allgather", "gather", "scatter", "reduce_scatter", "alltoall")}


EFFECTFUL = [f"{row.packet}.{row.overload}" for row in _torch_operators.table() if row.is_effectful]


def test_the_table_has_every_operator():
    listed = [f"{row.packet}.{row.overload}" for row in _torch_operators.table()]
    registered = {
        name.removeprefix("syncyte::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("syncyte::")
    }
    assert {name if "." in name else f"{name}.default" for name in registered} == set(listed)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", EFFECTFUL)
def test_kernels(name):
    def has(key):
        return torch._C._dispatch_has_kernel_for_dispatch_key(f"syncyte::{name.removesuffix('.default')}", key)

    if name in COLLECTING:  # they call the operator with counts, on any device
        assert has("CompositeExplicitAutograd")
        assert has("Meta")
        return
    assert has("CPU")
    assert has("Meta")
    if name not in NO_DATA:
        assert has("CUDA"), "no kernel for devices"
    if name not in NO_DATA | LOCAL:
        assert all(has(key) for key in ("SparseCPU", "SparseCUDA", "MkldnnCPU")), "no kernel for refused layouts"


def test_effects_are_all_there():
    """Every operator with its own CPU kernel communicates with other ranks, except the test of a message."""
    with_kernels = {
        name.removeprefix("syncyte::")
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("syncyte::") and torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU")
    }
    with_overload = {name if "." in name else f"{name}.default" for name in with_kernels}
    assert with_overload - {"test_message.default"} <= set(EFFECTFUL)


BACKWARDS = {
    "allgather": (lambda x: sct.allgather_along(x, counts=[2] * SIZE), ["comm_reduce_scatter_along"]),
    "alltoall": (lambda x: sct.alltoall_along(x, 0, 1, 2), ["comm_alltoall_along"]),
    "gather": (lambda x: sct.gather_along(x, counts=[2] * SIZE), ["comm_scatter_along"]),
    "scatter": (lambda x: sct.scatter_along(x, 2), ["comm_gather_along"]),
    "allreduce": (sct.allreduce, ["comm_allreduce"]),
}


@pytest.mark.parametrize("operation", BACKWARDS)
def test_defect_8_backward_is_one_collective_at_any_number_of_ranks(operation):
    forward, expected = BACKWARDS[operation]
    x = torch.ones(2 * SIZE if operation == "scatter" else 2, 2 * SIZE, requires_grad=True)
    y = forward(x)
    with traced_operations() as seen:
        torch.autograd.grad(y, x, torch.ones_like(y))
    queries = {"comm_rank", "comm_size", "comm_sequence", "comm_compare"}
    assert [name for name in seen if name.startswith("comm_") and name not in queries] == expected


def test_defect_12_messages_of_the_application_on_the_same_communicator_are_its_own():
    """from_mpi4py() duplicates the communicator, so messages of the application and of Syncyte with equal tags do not
    match."""
    theirs = WORLD.Dup()
    ours = syncyte.Comm.from_mpi4py(theirs)
    following, before = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    got = torch.zeros(1, dtype=torch.float64).numpy()
    receive = theirs.Irecv(got, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG)  # would match any message
    sent = sct.isend(torch.full((1,), 7.0, dtype=torch.float64), following, 3, comm=ours)
    received = sct.recv(torch.zeros(1, dtype=torch.float64), before, 3, comm=ours)
    total = sct.allreduce(torch.ones(1), ours)
    sent.wait()
    assert not receive.Test()
    assert received.item() == 7.0
    assert total.item() == SIZE
    WORLD.Barrier()  # no rank replies before all have tested their receive
    reply = theirs.Isend(torch.full((1,), 8.0, dtype=torch.float64).numpy(), dest=following, tag=3)
    MPI.Request.Waitall([receive, reply])
    assert got[0] == 8.0
    theirs.Free()
