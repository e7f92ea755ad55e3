# SPDX-License-Identifier: BSD-3-Clause
"""torch.library.opcheck of the operators that no other file checks, and a test that every operator is checked.

opcheck's last test runs an operator twice on the same arguments, in compiled code too. A request can be waited for only
once, so the operators of requests omit that test. test_compile_messages.py and test_nonblocking.py compile them.
"""

import pathlib

import pytest
import torch
from mpi4py import MPI

import syncyte
from syncyte import torch as sct

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE
SHAPE = [2, 3]
OPS = torch.ops.syncyte
ALL = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
ONCE = ALL[:3]


def x(grad: bool = False) -> torch.Tensor:
    return torch.ones(SHAPE, dtype=torch.float64, requires_grad=grad)


def exchanged(comm: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Sends a message round the ring. Returns the statuses of the send and of the receive, as backward needs them."""
    sent, received = OPS.isend(x(True), comm, NEXT, 7), OPS.irecv(x(True), comm, PREVIOUS, 7)
    return tuple(
        OPS.wait_message(ticket, comm, SHAPE, torch.float64, is_receive)[1].detach()
        for ticket, is_receive in ((sent, False), (received, True))
    )


def sent(comm: int, grad: bool) -> torch.Tensor:
    OPS.irecv(x(grad), comm, PREVIOUS, 8)  # dropped, and completed later
    return OPS.isend(x(grad), comm, NEXT, 8)


def received(comm: int, grad: bool) -> torch.Tensor:
    OPS.isend(x(grad), comm, NEXT, 9)
    return OPS.irecv(x(grad), comm, PREVIOUS, 9)


def answer_to_receive(comm: int, grad: bool) -> tuple:
    to_send, to_receive = exchanged(comm)
    OPS.isend(x(), comm, 0, 0, 0, to_receive, 1)
    return x(), comm, 0, 0, to_send, 1


def answer_to_send(comm: int, grad: bool) -> tuple:
    to_send, to_receive = exchanged(comm)
    OPS.irecv(x(), comm, 0, 0, to_send, 1)
    return x(), comm, 0, 0, 0, to_receive, 1


def started(comm: int, grad: bool) -> tuple:
    return OPS.start_collective(x(grad), "allreduce", comm), "allreduce", comm, SHAPE, torch.float64


OWN = 2 if RANK == 0 else 0  # rows that this rank gets: rank 0 gets all
CASES = {
    "start_collective.default": (ONCE, lambda comm, grad: (x(grad), "allreduce", comm)),
    "wait_collective.default": (ONCE, started),
    "isend.default": (ONCE, lambda comm, grad: (x(grad), comm, syncyte.PROC_NULL, 0)),
    "irecv.default": (ONCE, lambda comm, grad: (x(grad), comm, syncyte.PROC_NULL, 0)),
    "wait_message.default": (ONCE, lambda comm, grad: (sent(comm, grad), comm, SHAPE, torch.float64, False)),
    "wait_message.default of a receive": (
        ONCE,
        lambda comm, grad: (received(comm, grad), comm, SHAPE, torch.float64, True, 0, 1 if grad else 0),
    ),
    "isend.default of a cotangent": (ONCE, answer_to_send),
    "irecv.default of a cotangent": (ONCE, answer_to_receive),
    "allgather_along.default": (ALL, lambda comm, grad: (x(grad), comm, -1)),
    "gather_along.default": (ALL, lambda comm, grad: (x(grad), comm, 0, 0)),
    "scatter_along.default": (ALL, lambda comm, grad: (x(grad), comm, 0, 0, OWN, SHAPE)),
    "reduce_scatter_along.default": (ALL, lambda comm, grad: (x(grad), comm, 0, OWN)),
    "alltoall_along.default": (ALL, lambda comm, grad: (x(grad), comm, 1, 0, OWN)),
    "parallel_copy.default": (ALL, lambda comm, grad: (x(grad), comm)),
    "relocate.default": (ALL, lambda comm, grad: (x(grad), comm, {"to_dim": 0, "to_counts": [2] + [0] * (SIZE - 1)})),
    "relocate.default to the whole": (
        ALL,
        lambda comm, grad: (x(grad), comm, {"from_dim": -1, "from_counts": [3] * SIZE}),
    ),
    "mixed_grad.default": (ALL, lambda comm, grad: (x(grad),)),
    "join_dummies.default": (ALL, lambda comm, grad: (x(grad), [x(True), x()])),
    "overwrite.default": (ALL, lambda comm, grad: (x(grad) * 1, x(grad))),
}
# Operators for C++ and TorchScript that call other operators and have no kernels; opcheck would check those others.
COMPOSED = (
    "wait",
    "wait_all",
    "send",
    "recv",
    "sendrecv",
    "iallreduce",
    "ibcast",
    "iallgather_along",
    "ireduce_scatter_along",
    "ialltoall_along",
)
ELSEWHERE = {
    "test_allreduce.py": ["allreduce.default"],
    "test_collectives.py": ["barrier.default"],
    "test_compile_collectives.py": [
        "bcast.default",
        "reduce.default",
        "scan.default",
        "exscan.default",
        "allgather_along.counts",
        "gather_along.counts",
        "scatter_along.counts",
        "reduce_scatter_along.counts",
        "alltoall_along.counts",
    ],
    "test_gather.py": ["gather.default", "scatter_add.default", "gather_collective.default", "gather_adjoint.default"],
    "test_whole_embedding.py": ["embedding.default", "apply_gradients.default", "keep_gradients.default"],
    "test_in_place.py": ["bcast_.default", "reduce_.default"],
    "test_opcheck.py": ["halo_exchange.default", "neighbor_alltoall.default", "join_order.default"],
}
# Operators without tensors, or with a ticket, whose state does not follow from its value.
NO_TENSORS = {
    "comm_rank.default",
    "comm_size.default",
    "enter_order.default",
    "leave_order.default",
    "requests_in_flight.default",
    "skip_message_numbers.default",
    "test_message.default",
    "use_device_memory.default",
    "device_rows.default",  # of devices: test_tensors_on_devices.py
    "device_cache.default",  # test_device_cache.py
    "model_tensor.default",  # test_models_on_devices.py
    "operator_table.default",
    "raise_interruption.default",
}


@pytest.mark.parametrize(
    "grad",
    [pytest.param(False, marks=pytest.mark.thorough, id="without gradients"), pytest.param(True, id="with gradients")],
)
@pytest.mark.parametrize("name", CASES)
def test_opcheck(name, grad, comm):
    tests, arguments = CASES[name]
    packet, overload = name.split()[0].split(".")
    for test in tests:
        *given, last = arguments(comm.handle, grad)
        given, named = (given, last) if isinstance(last, dict) else ([*given, last], {})
        torch.library.opcheck(getattr(getattr(OPS, packet), overload), tuple(given), named, test_utils=test)


@pytest.mark.parametrize("adjoint", [False, True])
def test_halo_exchange(comm, adjoint):
    ring = syncyte.Halo(comm.cartesian([0], True), (4, 3), "float64", 1)
    for grad in (False, True):
        field = torch.ones(4, 3, dtype=torch.float64, requires_grad=grad)
        torch.library.opcheck(OPS.halo_exchange.default, (field, ring.handle, adjoint))


def test_neighbor_alltoall(comm):
    ring = comm.cartesian([0], True)
    for grad in (False, True):
        torch.library.opcheck(OPS.neighbor_alltoall.default, (x(grad), ring.handle))


def test_join_order():
    with sct.ordered():
        torch.library.opcheck(OPS.join_order.default, (x(True),), test_utils=ONCE)


def test_every_operator_is_checked():
    composed = pathlib.Path(__file__).with_name("test_request_operators.py").read_text()
    for name in COMPOSED:
        assert f"torch.ops.syncyte.{name}(" in composed, f"test_request_operators.py does not run {name}"
    checked = {name.split()[0] for name in CASES} | NO_TENSORS | {f"{name}.default" for name in COMPOSED}
    for file, names in ELSEWHERE.items():
        text = pathlib.Path(__file__).with_name(file).read_text()
        for name in names:
            assert f".{name}" in text, f"{file} does not check {name}"
        checked |= set(names)
    names = (
        name.removeprefix("syncyte::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("syncyte::")
    )
    assert {name if "." in name else f"{name}.default" for name in names} == checked
