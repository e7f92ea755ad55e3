# SPDX-License-Identifier: BSD-3-Clause
"""torch.vmap over every operation, against a loop over the batch."""

import pytest
import torch
from mpi4py import MPI

import syncyte
from syncyte import stats
from syncyte.torch import (
    allgather_along,
    allreduce,
    alltoall_along,
    bcast,
    bcast_,
    exscan,
    gather,
    gather_along,
    halo_exchange,
    iallreduce,
    irecv,
    isend,
    join_dummies,
    reduce,
    reduce_,
    reduce_scatter_along,
    scan,
    scatter_along,
)

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
BATCH = 3
PART, PARTS = RANK + 1, SIZE * (SIZE + 1) // 2

OPERATIONS = {
    "allreduce": allreduce,
    "identity": lambda x: allreduce(x, adjoint="identity"),
    "max": lambda x: allreduce(x, op="max"),
    "prod": lambda x: allreduce(x, op="prod"),
    "bcast": lambda x: bcast(x, SIZE - 1),
    "reduce": lambda x: reduce(x, SIZE - 1),
    "reduce min": lambda x: reduce(x, 0, op="min"),
    "scan": scan,
    "exscan": lambda x: exscan(x, reverse=True),
    "allgather 0": lambda x: allgather_along(x, 0),
    "allgather -1": lambda x: allgather_along(x, -1),
    "gather": lambda x: gather_along(x, 1, SIZE - 1),
    "gather -2": lambda x: gather_along(x, -2, 0),
    "scatter": lambda x: scatter_along(x, PART, 0, SIZE - 1),
    "scatter -1": lambda x: scatter_along(x, PART, -1, 0),
    "reduce_scatter": lambda x: reduce_scatter_along(x, PART, 1),
    "reduce_scatter -2": lambda x: reduce_scatter_along(x, PART, -2),
    "alltoall": lambda x: alltoall_along(x, 0, 1, PART),
    "alltoall back": lambda x: alltoall_along(x, -1, -2, PART),
    "repartition": lambda x: alltoall_along(x, 1, 1, PARTS if RANK == 0 else SIZE * PARTS - PARTS if RANK == 1 else 0),
    "bcast_": lambda x: bcast_(x * 1, 0),
    "reduce_": lambda x: reduce_(x * 1, 0),
    "join": lambda x: join_dummies(allreduce(x), [x]),
}
DIMENSIONS = [0, 1, 2, -1]


@pytest.fixture(params=OPERATIONS)
def operation(request):
    return OPERATIONS[request.param]


def batch(dim: int) -> torch.Tensor:
    """BATCH matrices of PARTS x PARTS elements."""
    generator = torch.Generator().manual_seed(7 + RANK)
    return torch.randn(BATCH, PARTS, PARTS, dtype=torch.float64, generator=generator).movedim(0, dim)


def cotangent(like: torch.Tensor) -> torch.Tensor:
    return torch.randn(like.shape, dtype=like.dtype, generator=torch.Generator().manual_seed(70 + RANK))


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_values_and_gradients(operation, dim):
    x, y = batch(dim).requires_grad_(), batch(dim).requires_grad_()
    result = torch.vmap(operation, in_dims=dim)(x)
    expected = torch.stack([operation(part) for part in y.unbind(dim)])
    torch.testing.assert_close(result, expected)
    weights = cotangent(expected)
    (given,) = torch.autograd.grad(result, x, weights)
    (wanted,) = torch.autograd.grad(expected, y, weights)
    torch.testing.assert_close(given, wanted)


def test_the_batch_in_another_place_on_every_rank(operation):
    dim = RANK % 3
    x = batch(dim)
    result = torch.vmap(operation, in_dims=dim, out_dims=1)(x)
    torch.testing.assert_close(result, torch.stack([operation(part) for part in x.unbind(dim)], 1))


def test_batches_in_batches():
    x = torch.randn(2, BATCH, 4, dtype=torch.float64)
    result = torch.vmap(torch.vmap(lambda part: allgather_along(part, 0), in_dims=0), in_dims=0)(x)
    assert result.shape == (2, BATCH, 4 * SIZE)
    torch.testing.assert_close(result[:, :, 4 * RANK : 4 * RANK + 4], x)


def test_one_collective_for_the_batch():
    allreduce(torch.ones(1))  # the first call creates the counter
    before = stats()["comm_allreduce"].calls
    torch.vmap(allreduce)(batch(0))
    assert stats()["comm_allreduce"].calls == before + 1


def test_gradients_in_batches(operation):
    """torch.autograd.grad(is_grads_batched=True): backward passes under vmap."""
    x = batch(0)[0].clone().requires_grad_()
    result = operation(x)
    weights = cotangent(torch.empty(BATCH, *result.shape, dtype=result.dtype))
    (given,) = torch.autograd.grad(result, x, weights, is_grads_batched=True, retain_graph=True)
    wanted = torch.stack([torch.autograd.grad(result, x, weight, retain_graph=True)[0] for weight in weights])
    torch.testing.assert_close(given, wanted)


def test_whole_tensors():
    whole = syncyte.WholeTensor((6, 2), "float64")
    if RANK == 0:
        whole[torch.arange(6)] = torch.arange(12.0, dtype=torch.float64).reshape(6, 2)
    whole.sync()
    index = torch.tensor([[5, 0], [1, 1], [2, 3]])
    for dim in (0, 1):
        given = index.movedim(0, dim)
        for collective in (False, True):
            if collective:
                whole.requires_grad_()
            result = torch.vmap(lambda i, how=collective: gather(whole, i, collective=how), in_dims=dim)(given)
            torch.testing.assert_close(result.detach(), (index[..., None] * 2 + torch.tensor([0, 1])).double())
    result.sum().backward()
    expected = torch.bincount(index.flatten(), minlength=6).double() * SIZE
    mine = whole.rows()
    torch.testing.assert_close(whole.local.grad, expected[mine.start : mine.stop, None].expand(-1, 2))


def test_halos():
    cart = syncyte.COMM_WORLD.cartesian([SIZE], periods=True)
    halo = syncyte.Halo(cart, [5, 2], "float64", 1)
    x, y = (
        torch.randn(5, BATCH, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(RANK)).requires_grad_()
        for _ in range(2)
    )
    result = torch.vmap(lambda part: halo_exchange(part, halo), in_dims=1)(x)
    expected = torch.stack([halo_exchange(part, halo) for part in y.unbind(1)])
    torch.testing.assert_close(result, expected)
    result.sin().sum().backward()
    expected.sin().sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


@pytest.mark.parametrize(
    "name, call",
    [
        ("isend", lambda x: isend(x, RANK).wait()),
        ("irecv", lambda x: irecv(x, RANK).wait()),
        ("start_collective", lambda x: iallreduce(x).wait()),
    ],
)
def test_what_is_refused(name, call):
    with pytest.raises(NotImplementedError, match=f"vmap over syncyte::{name} is not possible"):
        torch.vmap(call)(batch(0))
    assert allreduce(torch.ones(1)).item() == SIZE


def test_gradients_of_messages_and_started_collectives_in_batches_are_refused():
    x = torch.ones(2, requires_grad=True)
    request = isend(x * 1, RANK)
    got = irecv(join_dummies(torch.empty(2), [request.ticket]), RANK).wait()
    for result, what in (
        (join_dummies(got, [request.wait()]), "a message"),
        (iallreduce(x * 1).wait(), "a started collective"),
    ):
        with pytest.raises(NotImplementedError, match=f"gradients of {what} cannot be batched"):
            torch.autograd.grad(result, x, torch.ones(BATCH, 2), is_grads_batched=True, retain_graph=True)
    assert torch.autograd.grad(result, x, torch.ones(2))[0].tolist() == [SIZE] * 2


def test_a_wrong_axis_is_an_error_within_a_batch_too():
    for axis in (2, -3):
        with pytest.raises(IndexError, match="axis is"):
            torch.vmap(lambda part, axis=axis: allgather_along(part, axis))(batch(0))
    assert allreduce(torch.ones(1)).item() == SIZE
