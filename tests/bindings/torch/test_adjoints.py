# SPDX-License-Identifier: BSD-3-Clause
"""The adjoint identity <A x, y> = <x, A' y> with random cotangents, for linear operations for which other files do not
check it: messages, non-blocking and in-place collectives, the collective gather, and halos in three dimensions."""

import pytest
import torch
from mpi4py import MPI

import syncyte
from rings import chain
from syncyte.torch import (
    allgather_along,
    allreduce,
    alltoall_along,
    bcast_,
    exscan,
    gather,
    gather_along,
    halo_exchange,
    iallgather_along,
    iallreduce,
    ialltoall_along,
    ibcast,
    irecv,
    ireduce_scatter_along,
    isend,
    join_dummies,
    neighbor_alltoall,
    reduce_,
    reduce_scatter_along,
    scan,
    scatter_along,
    sendrecv,
)

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE
ROWS = [0, *range(2, SIZE + 1)] if SIZE > 1 else [2]  # rows of each rank: uneven, the first rank has none
ALL = sum(ROWS)
MINE = ROWS[RANK]
ON_THE_FIRST = [ALL] + [0] * (SIZE - 1)
TO_THE_FIRST = {"gather_counts": ROWS, "scatter_counts": ON_THE_FIRST}


def pairing(a: torch.Tensor, b: torch.Tensor) -> complex:
    return WORLD.allreduce(complex((a.detach().conj() * b).sum()))


def check(function, shape, dtype: torch.dtype) -> None:
    """Checks the identity for random whole numbers, whose sums are exact."""
    generator = torch.Generator().manual_seed(3 + RANK)

    def numbers(shape) -> torch.Tensor:
        parts = torch.randint(-9, 10, (2, *shape), generator=generator).double()
        return (torch.complex(parts[0], parts[1]) if dtype.is_complex else parts[0]).to(dtype)

    x = numbers(shape).requires_grad_()
    ax = function(x)
    y = numbers(ax.shape)
    (adjoint,) = torch.autograd.grad(ax, x, y)
    left, right = pairing(ax, y), pairing(x, adjoint)
    assert left == right
    assert left != 0 or ALL == 0


def started_messages(x: torch.Tensor) -> torch.Tensor:
    sent = isend(x, NEXT)
    received = irecv(join_dummies(torch.empty(ROWS[PREVIOUS], 2, dtype=x.dtype), [sent]), PREVIOUS)
    token = join_dummies(sent, [received]).wait()
    return join_dummies(received, [token]).wait()


def both_ways(x: torch.Tensor) -> torch.Tensor:
    right = sendrecv(x, NEXT, join_dummies(torch.empty(ROWS[PREVIOUS], 2, dtype=x.dtype), [x]), PREVIOUS, 1)
    left = sendrecv(x, PREVIOUS, join_dummies(torch.empty(ROWS[NEXT], 2, dtype=x.dtype), [right]), NEXT, 2)
    return torch.cat([right, 3 * left])


MESSAGES = {
    "isend, irecv": (started_messages, (MINE, 2)),
    "sendrecv": (both_ways, (MINE, 2)),
    "send, recv": (chain, (3,)),
}
STARTED = {
    "iallreduce": (lambda x: iallreduce(x.t()).wait(), (3, 2)),
    "ibcast": (lambda x: ibcast(x, SIZE - 1).wait(), (3,)),
    "iallgather": (lambda x: iallgather_along(x, -2, counts=ROWS).wait(), (MINE, 2)),
    "ireduce_scatter": (lambda x: ireduce_scatter_along(x, -1, counts=ROWS).wait(), (2, ALL)),
    "ialltoall": (lambda x: ialltoall_along(x.t().contiguous().t(), 0, 1, **TO_THE_FIRST).wait(), (MINE, ALL)),
    "ialltoall of one axis": (lambda x: ialltoall_along(x, -2, 0, **TO_THE_FIRST).wait(), (MINE, 3)),
}
IN_PLACE = {
    "bcast_": (lambda x: bcast_(x * 1, SIZE - 1), (3,)),
    "bcast_ of a view": (lambda x: bcast_((x * 1)[:, 1], 0), (3, 2)),
    "reduce_": (lambda x: reduce_(x * 1, SIZE - 1), (3,)),
    "reduce_ of a view": (lambda x: reduce_((x * 1).t()[1:], 0), (3, 2)),
}
UNEVEN = {
    "gather of strided": (lambda x: gather_along(x[:, ::2], 0, SIZE - 1), (MINE, 4)),
    "allgather, counts given": (lambda x: allgather_along(x, 1, counts=ROWS), (2, MINE)),
    "scatter": (lambda x: scatter_along(x, MINE, 0, SIZE - 1), (ALL, 2)),
    "reduce_scatter": (lambda x: reduce_scatter_along(x, MINE, 0), (ALL, 2)),
    "alltoall of one axis": (lambda x: alltoall_along(x[:, ::2], 0, 0, ON_THE_FIRST[RANK]), (MINE, 6)),
    "scan from the end": (lambda x: scan(x, reverse=True), (3,)),
    "exscan": (lambda x: exscan(x), (3,)),
    "allreduce of nothing": (lambda x: torch.cat([allreduce(x[:0]), x]), (2,)),
}
CASES = {**MESSAGES, **STARTED, **IN_PLACE, **UNEVEN}


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128, torch.float32])
@pytest.mark.parametrize("name", CASES)
def test_adjoint_identity(name, dtype):
    function, shape = CASES[name]
    if SIZE == 1 and name == "exscan":
        return  # there is no rank before the only one
    check(function, shape, dtype)


@pytest.mark.parametrize("rows", ["even", "uneven"])
def test_adjoint_identity_of_the_collective_gather(rows):
    mine = 2 if rows == "even" else MINE
    total = 2 * SIZE if rows == "even" else ALL
    whole = syncyte.WholeTensor((total, 2), torch.float64, local_rows=mine)
    whole.requires_grad_()
    generator = torch.Generator().manual_seed(RANK)
    index = torch.randint(total, (RANK + 2, 2), generator=generator)
    with torch.no_grad():
        whole.local.copy_(torch.randint(-9, 10, whole.local.shape, generator=generator))
    whole.sync()
    result = gather(whole, index, collective=True)
    y = torch.randint(-9, 10, result.shape, generator=generator).double()
    (adjoint,) = torch.autograd.grad(result, whole.local, y)
    left = pairing(result, y)
    assert left == pairing(whole.local, adjoint)
    assert left != 0


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("periods", [[False], [True], [True, False]], ids=["open", "periodic", "two dimensions, mixed"])
def test_adjoint_identity_of_neighbours(periods, dtype):
    cart = syncyte.COMM_WORLD.cartesian([0] * len(periods), periods=periods)
    shape = (2 * len(periods), 3)
    if any(periods) or SIZE > 1:
        check(lambda x: neighbor_alltoall(x, comm=cart), shape, dtype)
    x = torch.full(shape, float(RANK), dtype=dtype)
    below, above = cart.shift(0, 1)
    result = neighbor_alltoall(x, comm=cart)
    assert [block[0].real.item() for block in result[:2]] == [max(below, 0), max(above, 0)]


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("corners", [True, False], ids=["corners", "no corners"])
@pytest.mark.parametrize(
    "periods",
    [[False] * 3, [True] * 3, [True, False, True], [True, False]],
    ids=["open", "periodic", "mixed", "two dimensions, mixed"],
)
def test_adjoint_identity_of_halos(periods, corners, dtype):
    dimensions = len(periods)
    cart = syncyte.COMM_WORLD.cartesian([0] * dimensions, periods=periods)
    shape = (5, 6, 7)
    halo = syncyte.Halo(
        cart,
        shape,
        dtype,
        [2, 1, 1][:dimensions],
        [1, 2, 1][:dimensions],
        corners=corners,
        axes=list(range(dimensions)),
    )
    check(lambda x: halo_exchange(x, halo), shape, dtype)
