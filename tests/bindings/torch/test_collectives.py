# SPDX-License-Identifier: BSD-3-Clause
"""Linear collectives of syncyte.torch: values, adjoints, gradients of any order, and errors of wrong use."""

import time

import pytest
import torch
from mpi4py import MPI

import syncyte
from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from resident_memory import resident_bytes
from syncyte.torch import (
    allgather_along,
    alltoall_along,
    barrier,
    bcast,
    exscan,
    gather_along,
    reduce,
    reduce_scatter_along,
    scan,
    scatter_along,
)

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank


def counts_of(total: int, *, lone: bool = False) -> list[int]:
    """Lengths of the ranks' parts. Uneven: rank 0 has most, some ranks have none. Lone: the last rank has all."""
    if lone:
        return [0] * (SIZE - 1) + [total]
    parts = [total // (2 * SIZE)] * SIZE
    parts[-1] = 0 if SIZE > 1 else parts[-1]
    parts[0] += total - sum(parts)
    return parts


def whole_of(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """An array that is the same on all ranks."""
    return torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)


def part_of(whole: torch.Tensor, axis: int, counts: list[int]) -> torch.Tensor:
    return whole.split(counts, axis)[RANK]


def random_like(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(tensor.shape, dtype=tensor.dtype, generator=generator)


CASES = {
    "bcast": lambda x: bcast(x, SIZE - 1),
    "reduce": lambda x: reduce(x, SIZE - 1),
    "scan": scan,
    "scan reverse": lambda x: scan(x, reverse=True),
    "exscan": exscan,
    "exscan reverse": lambda x: exscan(x, reverse=True),
    "allgather": lambda x: allgather_along(x, -1),
    "allgather of uneven": lambda x: allgather_along(x.narrow(1, 0, min(RANK, 2)), 1),
    "gather": lambda x: gather_along(x, 1, SIZE - 1),
    "gather of uneven": lambda x: gather_along(x.narrow(0, 0, min(RANK, 2)), 0, 0),
    "scatter": lambda x: scatter_along(x, counts_of(3)[RANK], 0, SIZE - 1),
    "scatter to one": lambda x: scatter_along(x, counts_of(2, lone=True)[RANK], 1, 0),
    "reduce_scatter": lambda x: reduce_scatter_along(x, counts_of(2)[RANK], -1),
    "alltoall": lambda x: alltoall_along(x, 0, 1, counts_of(2)[RANK]),
    "alltoall back": lambda x: alltoall_along(x, 1, 0, counts_of(3)[RANK]),
    "repartition": lambda x: alltoall_along(x, 0, 0, counts_of(3 * SIZE, lone=True)[RANK]),
}


@pytest.fixture(params=CASES)
def operation(request):
    return CASES[request.param]


def values(generator: torch.Generator, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(3, max(2, SIZE), dtype=dtype, generator=generator)[:, : max(2, SIZE - 1)]


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_adjoint_identity(operation, generator, dtype):
    """<A x, y> = <x, A^T y> over all ranks, for random x and y."""
    x = values(generator, dtype)[:, :2].clone().requires_grad_()
    result = operation(x)
    y = random_like(result.detach(), generator)
    (adjoint,) = torch.autograd.grad(result, x, y)
    forward = WORLD.allreduce(complex((result.detach().conj() * y).sum()))
    backward = WORLD.allreduce(complex((x.detach().conj() * adjoint).sum()))
    assert forward == pytest.approx(backward, rel=1e-12, abs=1e-12)


def test_gradcheck(operation, generator):
    x = values(generator)[:, :2].clone()
    distributed_gradcheck(lambda t: operation(t * t).sin(), [x])
    distributed_gradgradcheck(lambda t: operation(t * t).sin(), [x])


def test_tangents(operation, generator):
    x, v = (values(generator)[:, :2].clone() for _ in range(2))
    result, tangent = torch.func.jvp(operation, (x,), (v,))
    assert torch.allclose(result, operation(x))
    assert torch.allclose(tangent, operation(v))


def test_cotangents_and_inputs_stay_as_they_are(operation, generator):
    x = values(generator)[:, :2].clone().requires_grad_()
    before = x.detach().clone()
    result = operation(x)
    cotangent = random_like(result.detach(), generator)
    kept = cotangent.clone()
    (result.clone() + result).backward(cotangent)  # two branches share the gradient
    assert torch.equal(cotangent, kept)
    assert torch.equal(x.detach(), before)
    once = torch.autograd.grad(operation(x), x, cotangent)[0]
    assert torch.allclose(x.grad, 2 * once)


@pytest.mark.parametrize(
    "dtype",
    [torch.float16, torch.bfloat16, torch.float32, torch.complex64, torch.int8, torch.int64, torch.uint8, torch.bool],
)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("lone", [False, True])
def test_parts_and_wholes_of_every_dtype(dtype, axis, lone):
    whole = whole_of(4, 6, dtype=dtype)
    counts = counts_of(whole.shape[axis], lone=lone)
    part = part_of(whole, axis, counts)
    assert torch.equal(allgather_along(part, axis), whole)
    assert torch.equal(allgather_along(part.t(), 1 - axis % 2, counts=counts), whole.t())  # strided
    for root in range(SIZE):
        gathered = gather_along(part, axis, root)
        assert torch.equal(gathered, whole if RANK == root else whole.narrow(axis, 0, 0))
        given = whole if RANK == root else torch.empty(0, dtype=dtype)  # only root's shape counts
        assert torch.equal(scatter_along(given, counts[RANK], axis, root), part)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int32])
def test_sums_over_ranks(dtype):
    shares = [(torch.arange(6).reshape(2, 3) % 4 + rank).to(dtype) for rank in range(SIZE)]
    mine = shares[RANK]
    total = sum(shares)
    zero = torch.zeros_like(mine)
    assert torch.equal(reduce(mine, 0), total if RANK == 0 else zero)
    assert torch.equal(bcast(mine, SIZE - 1), shares[-1])
    assert torch.equal(scan(mine), sum(shares[: RANK + 1]))
    assert torch.equal(scan(mine, reverse=True), sum(shares[RANK:]))
    assert torch.equal(exscan(mine), sum(shares[:RANK], zero))
    assert torch.equal(exscan(mine, reverse=True), sum(shares[RANK + 1 :], zero))
    counts = counts_of(3)
    assert torch.equal(reduce_scatter_along(mine, counts[RANK], 1), part_of(total, 1, counts))


def test_alltoall_transposes_and_repartitions():
    whole = whole_of(5, 7, 2)
    for source in range(3):
        for target in range(3):
            before, after = counts_of(whole.shape[source]), counts_of(whole.shape[target], lone=True)
            result = alltoall_along(part_of(whole, source, before), source, target - 3, after[RANK])
            assert torch.equal(result, part_of(whole, target, after))


def test_one_ranks_error_is_everybodys():
    odd = RANK == SIZE - 1
    x = torch.ones(2, 3)
    with pytest.raises(IndexError, match="axis is 5"):
        allgather_along(x, 5 if odd else 0)
    with pytest.raises(ValueError, match="no dimension"):
        gather_along(torch.ones(()) if odd else x)
    with pytest.raises(ValueError, match="root is 77"):
        bcast(x, 77 if odd else 0)
    with pytest.raises(ValueError, match="count is -1"):
        reduce_scatter_along(x, -1 if odd else 0)
    wrong = [2] * (SIZE + 1)
    with pytest.raises(ValueError, match=f"counts has {SIZE + 1} numbers"):
        allgather_along(x, counts=wrong if odd else [2] * SIZE)


@pytest.mark.skipif(SIZE == 1, reason="one rank agrees with itself")
def test_what_differs_is_named():
    odd = RANK == 0
    with pytest.raises(ValueError, match="extent 1"):
        allgather_along(torch.ones(2, 3 + odd))
    with pytest.raises(ValueError, match="dtype"):
        gather_along(torch.ones(2, dtype=torch.float64 if odd else torch.float32))
    with pytest.raises(ValueError, match="extent 0 of input"):
        bcast(torch.ones(3, 2) if odd else torch.ones(2, 3))  # equally many elements
    with pytest.raises(ValueError, match="dimensions of input"):
        scan(torch.ones(6) if odd else torch.ones(2, 3))
    with pytest.raises(ValueError, match="needs-gradient"):
        allgather_along(torch.ones(2, requires_grad=odd))
    with pytest.raises(ValueError, match="has a tangent|different operations"):
        torch.func.jvp(scan, (torch.ones(2),), (torch.ones(2),)) if odd else scan(torch.ones(2))


def test_nothing_grows():
    """Resident memory does not grow over many calls, forward and backward."""

    def run(times: int) -> None:
        for _ in range(times):
            for operation in CASES.values():
                x = torch.ones(3, 2, requires_grad=True)
                operation(x).sum().backward()

    run(20)
    before = resident_bytes()
    run(60)
    assert resident_bytes() - before < 4_000_000


def test_barrier_waits_for_all():
    barrier()
    begin = time.monotonic()
    if RANK == SIZE - 1:
        time.sleep(0.3)
    barrier()
    assert time.monotonic() - begin > 0.25
    freed = syncyte.COMM_WORLD.dup()
    handle = freed.handle
    freed.free()
    with pytest.raises(RuntimeError, match="freed"):
        torch.ops.syncyte.barrier(torch.empty(0), handle)


def test_barrier_by_opcheck():
    torch.library.opcheck(torch.ops.syncyte.barrier.default, (torch.empty(0), syncyte.COMM_WORLD.handle))
