# SPDX-License-Identifier: BSD-3-Clause
"""Adding rows to a whole tensor from torch, one-sided and as a pure function with gradients."""

import pytest
import torch
from mpi4py import MPI

import syncyte
from syncyte.torch import gather, scatter_add

WORLD = MPI.COMM_WORLD
ROWS, WIDTH = 7, 2


@pytest.fixture
def whole(comm):
    tensor = syncyte.WholeTensor((ROWS, WIDTH), torch.float64, comm=comm)
    tensor.local[:] = start()[tensor.rows()]
    tensor.sync()
    return tensor


def start() -> torch.Tensor:
    return torch.arange(ROWS * WIDTH, dtype=torch.float64).reshape(ROWS, WIDTH)


def index_of(rank: int) -> torch.Tensor:
    """Rows to which a rank adds: some repeat, and some are other ranks'."""
    return torch.tensor([0, rank % ROWS, ROWS - 1, 0])


def source_of(rank: int) -> torch.Tensor:
    return torch.arange(8, dtype=torch.float64).reshape(4, WIDTH) + 10.0 * rank


def summed() -> torch.Tensor:
    result = start()
    for rank in range(WORLD.size):
        result.index_add_(0, index_of(rank), source_of(rank))
    return result


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_one_sided(whole, comm, dtype):
    assert scatter_add(whole, index_of(comm.rank).to(dtype), source_of(comm.rank)) is None
    whole.sync()
    assert torch.equal(whole[:], summed())


def test_one_sided_has_no_gradient(whole, comm):
    source = source_of(comm.rank).requires_grad_()
    with pytest.raises(RuntimeError, match="collective=True"):
        scatter_add(whole, index_of(comm.rank), source)
    with torch.no_grad():
        scatter_add(whole, index_of(comm.rank), source)
    whole.sync()
    assert torch.equal(whole[:], summed())


def test_compiled(whole, comm):
    @torch.compile(fullgraph=True, backend="aot_eager")
    def twice(index, source):
        scatter_add(whole, index, 0.5 * source)  # the graph keeps it, although it returns nothing
        scatter_add(whole, index, 0.5 * source)

    twice(index_of(comm.rank), source_of(comm.rank))
    whole.sync()
    assert torch.equal(whole[:], summed())


@pytest.mark.parametrize("records", [False, True])
def test_collective(whole, comm, records):
    """Gradients are those of index_add on one process; the whole tensor does not change."""
    if records:
        whole.requires_grad_()
    source = source_of(comm.rank).requires_grad_()
    result = scatter_add(whole, index_of(comm.rank), source, collective=True)
    assert torch.equal(result, summed()[whole.rows()])
    assert torch.equal(whole.local.detach(), start()[whole.rows()])

    cotangent = start().square()
    inputs = [source, whole.local] if records else [source]
    gradients = torch.autograd.grad(result, inputs, cotangent[whole.rows()])
    assert torch.equal(gradients[0], cotangent[index_of(comm.rank)])
    if records:
        assert torch.equal(gradients[1], cotangent[whole.rows()])


def test_it_is_the_adjoint_of_gather(whole, comm, generator):
    """<gather(x), y> = <x, scatter_add(y)>, with x of zeros as the summand."""
    index = torch.randint(ROWS, (5,), generator=generator)
    y = torch.randn(5, WIDTH, dtype=torch.float64, generator=generator)
    pairing = float((gather(whole, index) * y).sum())
    added = scatter_add(whole, index, y, collective=True) - whole.local
    home = float((whole.local * added).sum())
    assert WORLD.allreduce(pairing) == pytest.approx(WORLD.allreduce(home), rel=1e-12)


def test_second_derivative(whole, comm):
    source = source_of(comm.rank).requires_grad_()
    result = scatter_add(whole, index_of(comm.rank), source, collective=True)
    (first,) = torch.autograd.grad(result.pow(3).sum(), source, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), source)

    sources = [source_of(rank).requires_grad_() for rank in range(WORLD.size)]
    whole_result = start()
    for rank, each in enumerate(sources):
        whole_result = whole_result.index_add(0, index_of(rank), each)
    reference = torch.autograd.grad(whole_result.pow(3).sum(), sources, create_graph=True)
    references = torch.autograd.grad(sum(each.sum() for each in reference), sources)
    assert torch.allclose(first, reference[comm.rank])
    assert torch.allclose(second, references[comm.rank])


@pytest.mark.parametrize("collective", [False, True])
def test_wrong_arguments(whole, comm, collective):
    index, source = index_of(comm.rank), source_of(comm.rank)
    with pytest.raises(TypeError, match="index"):
        scatter_add(whole, [0], source, collective=collective)
    with pytest.raises(TypeError, match="source"):
        scatter_add(whole, index, None, collective=collective)
    with pytest.raises(TypeError, match="float"):
        scatter_add(whole, index, source.float(), collective=collective)
    with pytest.raises(ValueError, match="elements|shape"):
        scatter_add(whole, index, source[:2], collective=collective)
    with pytest.raises(IndexError, match="position 1"):
        scatter_add(whole, torch.tensor([0, ROWS]), source[:2], collective=collective)
    with pytest.raises(TypeError, match="WholeTensor"):
        scatter_add(whole.local, index, source, collective=collective)
    whole.sync()
    assert torch.equal(whole[:], start())


def test_an_error_of_one_rank_is_everybodys(whole, comm):
    if comm.size == 1:
        pytest.skip("one rank")
    index = index_of(comm.rank) if comm.rank else torch.tensor([ROWS, 0, 0, 0])
    with pytest.raises(IndexError, match="rank 0"):
        scatter_add(whole, index, source_of(comm.rank), collective=True)
    assert torch.equal(
        scatter_add(whole, index_of(comm.rank), source_of(comm.rank), collective=True), summed()[whole.rows()]
    )
