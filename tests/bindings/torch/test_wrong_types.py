# SPDX-License-Identifier: BSD-3-Clause
"""An argument of a wrong Python type, on one rank of a collective: every rank raises, and the next collective works."""

import contextlib

import numpy
import pytest
import torch
from mpi4py import MPI

import syncyte
from ranks import works
from syncyte import torch as sct
from syncyte.compat import mpi4torch

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
ODD = SIZE - 1
ALL = 4 if RANK == 0 else 0  # rows that this rank gets: rank 0 gets all
PARTS = [4] + [0] * (SIZE - 1)

WRONG_NUMBERS = {"word": "a", "none": None, "fraction": 1.5, "list": [0], "huge": 2**70}
WRONG_LISTS = {"number": 3, "words": ["a"], "fractions": [1.5] * SIZE, "huge": [2**70] * SIZE}
WRONG = {
    "tensor": {"list": [1.0], "none": None, "array": numpy.ones((4, 4)), "number": 1.0},
    "root": WRONG_NUMBERS,
    "axis": WRONG_NUMBERS,
    "count": WRONG_NUMBERS,
    "gather_axis": WRONG_NUMBERS,
    "scatter_axis": WRONG_NUMBERS,
    "counts": WRONG_LISTS,
    "gather_counts": WRONG_LISTS,
    "scatter_counts": WRONG_LISTS,
    "op": {"word": "median", "none": None, "list": ["sum"]},
    "adjoint": {"word": "mean", "list": ["sum"]},
    "reverse": {"word": "x", "list": [1]},
}


def x() -> torch.Tensor:
    return torch.ones(4, 4)


def waited_for(start):
    def both(**arguments):
        return start(**arguments).wait()

    return both


OPERATIONS = {
    "allreduce": (sct.allreduce, {}),
    "allreduce with keywords": (sct.allreduce, {"op": "max", "adjoint": "identity"}),
    "bcast": (sct.bcast, {"root": 0}),
    "bcast_": (sct.bcast_, {"root": 0}),
    "reduce": (sct.reduce, {"root": 0, "op": "sum"}),
    "reduce_": (sct.reduce_, {"root": 0, "op": "sum"}),
    "scan": (sct.scan, {"reverse": False, "op": "sum"}),
    "exscan": (sct.exscan, {"reverse": False, "op": "sum"}),
    "allgather": (sct.allgather_along, {"axis": 0}),
    "allgather with counts": (sct.allgather_along, {"axis": 0, "counts": [4] * SIZE}),
    "gather": (sct.gather_along, {"axis": 0, "root": 0}),
    "gather with counts": (sct.gather_along, {"axis": 0, "root": 0, "counts": [4] * SIZE}),
    "scatter": (sct.scatter_along, {"count": ALL, "axis": 0, "root": 0}),
    "reduce_scatter": (sct.reduce_scatter_along, {"count": ALL, "axis": 0, "op": "sum"}),
    "alltoall": (sct.alltoall_along, {"gather_axis": 0, "scatter_axis": 1, "count": ALL}),
    "iallreduce": (waited_for(sct.iallreduce), {}),
    "ibcast": (waited_for(sct.ibcast), {"root": 0}),
    "iallgather": (waited_for(sct.iallgather_along), {"counts": [4] * SIZE, "axis": 0}),
    "ireduce_scatter": (waited_for(sct.ireduce_scatter_along), {"counts": PARTS, "axis": 0}),
    "ialltoall": (
        waited_for(sct.ialltoall_along),
        {"gather_axis": 0, "scatter_axis": 1, "gather_counts": [4] * SIZE, "scatter_counts": PARTS},
    ),
}
COMPATIBLE = {
    "Allreduce": {"op": 2},
    "Bcast_": {"root": 0},
    "Reduce_": {"op": 2, "root": 0},
    "Gather": {"gatheraxis": 0, "root": 0},
    "Allgather": {"gatheraxis": 0},
    "Scatter": {"scatteraxis": 0, "numelem": ALL, "root": 0},
    "Alltoall": {"gatheraxis": 0, "scatteraxis": 1, "numelem": ALL},
}


def cases(operations):
    """A wrong type for each parameter of each operation."""
    return [
        pytest.param(name, parameter, id=f"{name}-{parameter}")
        for name, arguments in operations.items()
        for parameter in ("tensor", *arguments)
    ]


def call(function, arguments, **wrong):
    return function(**{"tensor": x(), **arguments, **(wrong if RANK == ODD else {})})


@contextlib.contextmanager
def everybodys_error(named: str):
    """The odd rank's error names the argument; the errors of the others name the rank."""
    with pytest.raises((TypeError, ValueError), match=named if RANK == ODD else f"rank {ODD}"):
        yield
    assert works()


@pytest.mark.parametrize("name, parameter", cases({name: more for name, (_, more) in OPERATIONS.items()}))
def test_every_rank_raises(name, parameter):
    function, arguments = OPERATIONS[name]
    for wrong in WRONG[parameter].values():
        with everybodys_error(f"{parameter} is"):
            call(function, arguments, **{parameter: wrong})
    assert call(function, arguments) is not None


@pytest.mark.parametrize("name", OPERATIONS)
def test_with_mixed_grad_too(name):
    function, arguments = OPERATIONS[name]
    with everybodys_error("tensor is"):
        call(function, {**arguments, "mixed_grad": True}, tensor=[1.0])


@pytest.mark.parametrize("name, parameter", cases(COMPATIBLE))
def test_of_mpi4torch(name, parameter):
    method, arguments = getattr(mpi4torch.COMM_WORLD, name), COMPATIBLE[name]
    for wrong in WRONG["tensor" if parameter == "tensor" else "root"].values():
        with everybodys_error("is .*; expected"):
            call(method, arguments, **{parameter: wrong})
    assert call(method, arguments) is not None


@pytest.mark.parametrize("wrong", WRONG["tensor"].values(), ids=WRONG["tensor"])
def test_neighbours_of_a_halo_are_told(wrong):
    ring = syncyte.Halo(syncyte.COMM_WORLD.cartesian([0], True), (4, 4), "float32", 1)
    is_near = (RANK - ODD) % SIZE in (0, 1, SIZE - 1)
    with pytest.raises((TypeError, ValueError, RuntimeError)) if is_near else contextlib.nullcontext():
        sct.halo_exchange(wrong if RANK == ODD else x(), ring)
    assert torch.equal(sct.halo_exchange(x(), ring), x())
    assert works()


@pytest.mark.parametrize("check", ["off", "on"])
@pytest.mark.parametrize("wrong", [[0, 1], None, numpy.zeros(2, dtype=int)], ids=["list", "none", "array"])
def test_an_index_of_a_collective_gather(comm, wrong, check):
    """The collective gather agrees on errors at every level of checks."""
    whole = syncyte.WholeTensor((2 * SIZE, 2), torch.float64, comm=comm.dup(check=check))
    whole.requires_grad_()
    with everybodys_error("index is"):
        sct.gather(whole, wrong if RANK == ODD else torch.tensor([0, 1]), collective=True)
    assert sct.gather(whole, torch.tensor([0, 1]), collective=True).shape == (2, 2)


@pytest.mark.parametrize("wrong", [None, 5, ["weight"]], ids=["none", "number", "words"])
def test_parameters_of_data_parallel(wrong):
    with everybodys_error("module is|parameter is"):
        sct.DataParallel(wrong if RANK == ODD else torch.nn.Linear(2, 2))
    sct.DataParallel(torch.nn.Linear(2, 2))


@pytest.mark.parametrize("check", ["on", "full"])
def test_whole_numbers_of_other_kinds_are_taken(comm, check):
    """torch accepts numpy's integers and tensors of one element as whole numbers."""
    group = comm.dup(check=check)
    for root in (numpy.int64(0), torch.tensor(0), False):
        assert sct.bcast(x(), root, group).sum() == 16
    assert sct.allgather_along(x(), numpy.int32(-1), counts=numpy.full(SIZE, 4), comm=group).shape == (4, 4 * SIZE)
    counts = numpy.full(SIZE, 4)
    assert sct.iallgather_along(x(), numpy.int32(-1), counts=counts, comm=group).wait().shape == (4, 4 * SIZE)
    assert sct.ibcast(x(), torch.tensor(0), group).wait().sum() == 16


def test_local_operations_name_argument_value_and_what_was_expected(comm):
    x, whole = torch.ones(2), syncyte.WholeTensor((4, 2), torch.float32)
    for call, text in (
        (lambda: sct.isend([1.0], RANK), "tensor is a list; expected a torch.Tensor"),
        (lambda: sct.isend(None, RANK), "tensor is a NoneType; expected a torch.Tensor"),
        (lambda: sct.isend(x, "a"), "dest is 'a'; expected a whole number"),
        (lambda: sct.isend(x, RANK, 1.5), "tag is 1.5; expected a whole number"),
        (lambda: sct.irecv(3, RANK), "like is a int; expected a torch.Tensor"),
        (lambda: sct.recv(x, None), "source is None; expected a whole number"),
        (lambda: sct.sendrecv(x, RANK, [1.0], RANK), "like is a list; expected a torch.Tensor"),
        (lambda: sct.gather(whole, [0]), "index is a list; expected a torch.Tensor"),
        (lambda: sct.gather(x, x), "whole is a Tensor; expected a syncyte.WholeTensor"),
        (lambda: sct.halo_exchange(x, comm), "halo is a _RootComm; expected a syncyte.Halo"),
        (lambda: sct.join_dummies(1.0, []), "value is a float; expected a torch.Tensor or a request"),
        (lambda: sct.join_dummies(x, [1.0]), r"dummies\[0\] is a float; expected a torch.Tensor or a request"),
        (lambda: sct.join_dummies(x, x), "dummies is tensor.*; expected a list"),
        (lambda: sct.wait_all([x]), r"requests\[0\] is tensor.*; expected a request"),
    ):
        with pytest.raises(syncyte.DtypeError, match=text):
            call()
    comm.barrier()
