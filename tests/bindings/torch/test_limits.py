# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that do not fit the types of the C interface are errors; they must not be truncated to valid ones."""

import pytest
import torch

import syncyte
from syncyte.torch import (
    allgather_along,
    allreduce,
    alltoall_along,
    bcast,
    bcast_,
    gather_along,
    iallgather_along,
    ibcast,
    irecv,
    isend,
    recv,
    reduce,
    reduce_,
    reduce_scatter_along,
    scatter_along,
)

WORLD = syncyte.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size
OPS = torch.ops.syncyte
FAR = 2**40  # its lower 32 bits are 0: truncated it would be rank 0

ROOTED = {
    "bcast": lambda x, root: bcast(x, root),
    "bcast_": lambda x, root: bcast_(x, root),
    "reduce": lambda x, root: reduce(x, root),
    "reduce_": lambda x, root: reduce_(x, root),
    "gather": lambda x, root: gather_along(x, 0, root),
    "scatter": lambda x, root: scatter_along(x, 1, 0, root),
    "ibcast": lambda x, root: ibcast(x, root).wait(),
}


@pytest.mark.parametrize("on_all", [True, False])
@pytest.mark.parametrize("name", ROOTED)
def test_a_root_of_more_than_32_bits_is_everybodys_error(name, on_all):
    x = torch.ones(SIZE)
    root = FAR if on_all or RANK == SIZE - 1 else 0
    with pytest.raises(ValueError, match=f"root is {FAR}"):
        ROOTED[name](x, root)
    assert allreduce(torch.ones(1)) == SIZE
    assert (x == 1).all()


@pytest.mark.parametrize("operator", ["allreduce", "reduce"])
def test_an_op_of_more_than_32_bits_is_everybodys_error(operator):
    op = 1 + FAR if RANK == SIZE - 1 else 1
    call = getattr(torch.ops.syncyte, operator)
    with pytest.raises(ValueError, match=f"op is {1 + FAR}"):
        call(torch.ones(2), WORLD.handle, *([0] if operator == "reduce" else []), op)
    assert allreduce(torch.ones(1)) == SIZE


def test_an_unknown_collective_is_an_error():
    for name in ("", "scan", "allgather_along"):
        with pytest.raises(ValueError, match=f"collective is '{name}'; expected one of allreduce, bcast"):
            torch.ops.syncyte.start_collective(torch.ones(2), name, WORLD.handle)
    assert allreduce(torch.ones(1)) == SIZE


LENGTHS = {
    "allgather": lambda x, counts: allgather_along(x, counts=counts),
    "gather": lambda x, counts: OPS.gather_along.counts(x, WORLD.handle, 0, 0, counts),
    "scatter": lambda x, counts: OPS.scatter_along.counts(x, WORLD.handle, 0, 0, counts, [SIZE]),
    "reduce_scatter": lambda x, counts: OPS.reduce_scatter_along.counts(x, WORLD.handle, 0, counts, 1),
    "alltoall": lambda x, counts: OPS.alltoall_along.counts(x, WORLD.handle, 0, 0, [1] * SIZE, counts),
    "iallgather": lambda x, counts: iallgather_along(x, counts=counts).wait(),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_a_negative_length_on_one_rank_is_everybodys_error(name):
    counts = [1] * (SIZE - 1) + [-2 if RANK == SIZE - 1 else 1]
    with pytest.raises(ValueError, match=r"counts.*-2.*expected .*0 or more"):
        LENGTHS[name](torch.ones(SIZE if "scatter" in name else 1), counts)
    assert allreduce(torch.ones(1)) == SIZE


NINE = (1,) * 8 + (SIZE,)
ALONG = {
    "allgather": lambda x: allgather_along(x, -1),
    "gather": lambda x: gather_along(x, -1, 0),
    "scatter": lambda x: scatter_along(x, 1, -1, 0),
    "reduce_scatter": lambda x: reduce_scatter_along(x, 1, -1),
    "alltoall": lambda x: alltoall_along(x, 0, -1, 1),
    "iallgather": lambda x: iallgather_along(x, -1, counts=[SIZE] * SIZE).wait(),
}


@pytest.mark.parametrize("name", ALONG)
def test_more_dimensions_than_there_are_is_everybodys_error(name):
    x = torch.ones(NINE if RANK == SIZE - 1 or name == "scatter" else NINE[1:])
    with pytest.raises(ValueError, match="has 9 dimensions; expected at most 8"):
        ALONG[name](x)
    assert allreduce(torch.ones(1)) == SIZE


def test_messages_have_eight_dimensions_too():
    for start in (lambda: isend(torch.ones(NINE), RANK), lambda: irecv(torch.empty(NINE), RANK)):
        with pytest.raises(ValueError, match="has 9 dimensions; expected at most 8"):
            start()
    request = isend(torch.ones(NINE[1:]), RANK)
    assert torch.equal(recv(torch.empty(NINE[1:]), RANK), torch.ones(NINE[1:]))
    request.wait()


def test_what_has_no_axis_takes_any_number_of_dimensions():
    x = torch.full((1,) * 9 + (2,), float(RANK))
    assert torch.equal(allreduce(x), torch.full_like(x, SIZE * (SIZE - 1) / 2))
    assert torch.equal(bcast(x, SIZE - 1), torch.full_like(x, SIZE - 1))
