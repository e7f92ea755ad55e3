# SPDX-License-Identifier: BSD-3-Clause
"""Differentiable gather of whole-tensor rows, one-sided and collective."""

import gc

import pytest
import torch
from mpi4py import MPI

import syncyte
from syncyte.torch import gather

ROWS, WIDTH = 11, 3


@pytest.fixture
def whole(comm):
    """A whole tensor in which element e of row r is 10 r + e. Parts are uneven; of three ranks the last has no rows."""
    weights = [3, 1, 0][: comm.size] if comm.size < 4 else [1] * comm.size
    counts = [ROWS * w // sum(weights) for w in weights]
    counts[0] += ROWS - sum(counts)
    tensor = syncyte.WholeTensor((ROWS, WIDTH), torch.float64, comm=comm, local_rows=counts[comm.rank])
    for i, row in enumerate(tensor.rows()):
        tensor.local[i] = 10.0 * row + torch.arange(WIDTH)
    tensor.sync()
    return tensor


def table() -> torch.Tensor:
    return 10.0 * torch.arange(ROWS, dtype=torch.float64)[:, None] + torch.arange(WIDTH)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("index", [[], [4], [10, 0, 4, 4], [[1, 2], [3, 4]]])
def test_values(whole, dtype, index):
    index = torch.tensor(index, dtype=dtype)
    assert torch.equal(gather(whole, index), table()[index.long()])


def test_one_sided_adjoint_identity(whole, comm, generator):
    """<gather(x), y> = <x, sync_grad()>, although ranks gather different numbers of times."""
    whole.requires_grad_()
    pairing = 0.0
    for _ in range(comm.rank + 1):
        index = torch.randint(ROWS, (7,), generator=generator)
        y = torch.randn(7, WIDTH, dtype=torch.float64, generator=generator)
        rows = whole.gather(index)
        pairing += float((rows.detach() * y).sum())
        rows.backward(y)
    assert whole.local.grad is None  # no gradient before sync_grad
    whole.sync_grad()
    home = float((whole.local.detach() * whole.local.grad).sum())
    assert MPI.COMM_WORLD.allreduce(pairing) == pytest.approx(MPI.COMM_WORLD.allreduce(home), rel=1e-12)


def test_sync_grad_accumulates_and_clears(whole, comm):
    whole.requires_grad_()
    for turn in (1.0, 2.0):
        gather(whole, torch.tensor([0, ROWS - 1])).sum().backward()
        whole.sync_grad()
        for i, row in enumerate(whole.rows()):
            expected = turn * comm.size if row in (0, ROWS - 1) else 0.0
            assert whole.local.grad[i].tolist() == [expected] * WIDTH
    whole.local.grad = None
    whole.sync_grad()
    assert not whole.local.grad.any()


def test_zero_grad_drops_what_an_optimizer_cannot_reach(whole, comm):
    whole.requires_grad_()
    optimizer = torch.optim.SGD([whole.local], lr=1.0)
    gather(whole, torch.tensor([0])).sum().backward()
    whole.sync_grad()
    for _ in range(comm.rank + 1):  # a skipped step; each rank gathers a different number of times
        gather(whole, torch.arange(ROWS)).sum().backward()
    optimizer.zero_grad()
    whole.zero_grad()
    assert whole.local.grad is None
    gather(whole, torch.tensor([ROWS - 1])).sum().backward()  # other ranks may still be in zero_grad()
    whole.sync_grad()
    for i, row in enumerate(whole.rows()):
        assert whole.local.grad[i].tolist() == [comm.size if row == ROWS - 1 else 0.0] * WIDTH


def test_zero_grad_needs_asking(whole):
    with pytest.raises(syncyte.UnsupportedError, match="zero_grad: .*requires_grad_"):
        whole.zero_grad()
    whole.local  # noqa: B018  (a view is there, but no companion)
    with pytest.raises(syncyte.UnsupportedError, match="zero_grad: .*requires_grad_"):
        whole.zero_grad()


def test_optimizer_step_is_seen_by_all(whole, comm):
    whole.requires_grad_()
    optimizer = torch.optim.SGD([whole.local], lr=0.5)
    gather(whole, torch.arange(ROWS)).sum().backward()
    whole.sync_grad()
    optimizer.step()
    whole.sync()
    with torch.no_grad():
        assert torch.equal(gather(whole, torch.arange(ROWS)), table() - 0.5 * comm.size)


def test_one_sided_gradient_is_not_for_autograd_grad(whole):
    whole.requires_grad_()
    rows = whole.gather(torch.tensor([1]))
    with pytest.raises(RuntimeError):
        torch.autograd.grad(rows.sum(), whole.local)
    rows = whole.gather(torch.tensor([1]))
    cotangent = torch.ones_like(rows, requires_grad=True)
    with pytest.raises(RuntimeError, match="collective=True"):
        torch.autograd.backward(rows, cotangent, create_graph=True)
    whole.sync_grad()


def test_out_of_range_names_index_and_position(whole, comm):
    with pytest.raises(IndexError, match=r"(?s)11.*position.*2|position.*2.*11"):
        gather(whole, torch.tensor([0, 1, 11]))
    whole.requires_grad_()
    index = torch.tensor([0, 1, 11 if comm.rank == comm.size - 1 else 2])
    with pytest.raises(IndexError, match="11"):  # on every rank
        gather(whole, index, collective=True)
    assert torch.equal(gather(whole, torch.tensor([2]), collective=True).detach(), table()[2:3])


def test_values_that_do_not_fit_are_everybodys_error(whole, comm):
    """A rank with a wrong shape, dtype or rows must neither write beyond its part nor let the others wait."""
    whole.requires_grad_()
    scratch = whole.__dict__["_gradient_companions"][1].handle
    index, rows = torch.tensor([0, 1]), len(whole.rows())
    odd = comm.rank == comm.size - 1
    good = torch.ones(rows, WIDTH, dtype=torch.float64)
    for bad, error in (
        (torch.ones(rows + 1000, WIDTH, dtype=torch.float64), ValueError),
        (torch.ones(rows, WIDTH), TypeError),
        (torch.tensor(1.0, dtype=torch.float64), ValueError),
    ):
        with pytest.raises(error, match="local is"):
            torch.ops.syncyte.gather_collective(bad if odd else good, whole.handle, scratch, index)
    cotangent = torch.ones(2, WIDTH, dtype=torch.float64)
    with pytest.raises(ValueError, match="rows is not"):
        torch.ops.syncyte.gather_adjoint(cotangent, whole.handle, scratch, index, rows + 5 * odd)
    with pytest.raises(IndexError):
        torch.ops.syncyte.gather_collective(good, whole.handle, scratch, torch.tensor([ROWS if odd else 0]))
    adjoint = torch.ops.syncyte.gather_adjoint(cotangent, whole.handle, scratch, index, rows)
    expected = [[float(comm.size) * (row < 2)] * WIDTH for row in whole.rows()]
    assert adjoint.tolist() == expected  # the failed calls have left nothing in scratch


def test_no_memory_for_the_index_is_everybodys_error(whole, comm):
    """The others must not wait for a rank that fails within the collective."""
    whole.requires_grad_()
    scratch = whole.__dict__["_gradient_companions"][1].handle
    odd, rows = comm.rank == comm.size - 1, len(whole.rows())
    index = torch.zeros(1, dtype=torch.int64).expand(10**13) if odd else torch.tensor([0])
    with pytest.raises(RuntimeError, match=f"failed on rank {comm.size - 1}.*allocate"):
        gather(whole, index, collective=True)
    cotangent = torch.ones(1, WIDTH, dtype=torch.float64)
    with pytest.raises(RuntimeError, match=f"failed on rank {comm.size - 1}.*allocate"):
        torch.ops.syncyte.gather_adjoint(cotangent, whole.handle, scratch, index, rows)
    wrong = syncyte.WholeTensor((ROWS + 7, WIDTH), torch.float64, comm=comm)  # the wrong number of rows for scratch
    local = torch.ones(rows, WIDTH, dtype=torch.float64)
    with pytest.raises(ValueError, match="local is"):
        torch.ops.syncyte.gather_collective(local, whole.handle, wrong.handle if odd else scratch, torch.tensor([0]))
    assert torch.equal(gather(whole, torch.tensor([2]), collective=True).detach(), table()[2:3])


def test_a_transposed_square_is_not_the_tensor_itself(comm):
    """The slice begins at the same address and has the same shape."""
    width = 3
    square = syncyte.WholeTensor((width * comm.size, width), torch.float64, comm=comm)
    square.local.copy_(torch.arange(9.0).view(3, 3) + 100 * comm.rank)
    square.sync()
    square.requires_grad_()
    scratch = square.__dict__["_gradient_companions"][1].handle
    index = torch.arange(width * comm.size)
    rows = torch.ops.syncyte.gather_collective(square.local.detach().t(), square.handle, scratch, index)
    for rank in range(comm.size):
        expected = torch.arange(9.0, dtype=torch.float64).view(3, 3).t() + 100 * rank
        assert torch.equal(rows[rank * width : (rank + 1) * width], expected)


def test_need_for_gradients_is_a_fact(whole, comm):
    whole.requires_grad_()
    if comm.size == 1:
        pytest.skip("one rank agrees with itself")
    scratch = whole.__dict__["_gradient_companions"][1].handle
    index, odd, rows = torch.tensor([0, 1]), comm.rank == 0, len(whole.rows())
    local = torch.ones(rows, WIDTH, dtype=torch.float64, requires_grad=odd)
    with pytest.raises(ValueError, match="needs-gradient"):
        torch.ops.syncyte.gather_collective(local, whole.handle, scratch, index)
    cotangent = torch.ones(2, WIDTH, dtype=torch.float64, requires_grad=odd)
    with pytest.raises(ValueError, match="needs-gradient"):
        torch.ops.syncyte.gather_adjoint(cotangent, whole.handle, scratch, index, rows)
    assert gather(whole, index, collective=True).requires_grad


@pytest.mark.parametrize("collective", [False, True])
def test_a_graph_keeps_the_tensor(comm, collective):
    """The program drops it between forward and backward."""
    whole = syncyte.WholeTensor((ROWS, WIDTH), torch.float64, comm=comm)
    whole.requires_grad_()
    local, companions = whole.local, [made.handle for made in whole.__dict__["_gradient_companions"]]
    index, ones = torch.tensor([1, 2]), torch.ones(2, WIDTH, dtype=torch.float64)
    rows = gather(whole, index, collective=collective)
    del whole
    gc.collect()
    comm.collect()
    rows.sum().backward()
    if collective:
        assert MPI.COMM_WORLD.allreduce(float(local.grad.sum())) == 2.0 * WIDTH * comm.size
    del rows
    gc.collect()
    for handle in companions:  # freed together with the graph
        with pytest.raises(RuntimeError, match="freed"):
            torch.ops.syncyte.scatter_add(ones, handle, index)


def test_needs_a_floating_point_tensor(comm):
    numbers = syncyte.WholeTensor((4,), torch.int64, comm=comm)
    with pytest.raises(TypeError, match="requires_grad_"):
        numbers.requires_grad_()
    with pytest.raises(NotImplementedError, match="requires_grad_"):
        syncyte.WholeTensor((4,), torch.float64, comm=comm).sync_grad()


def test_collective_gradient_is_the_true_one(whole, comm):
    whole.requires_grad_()
    index = torch.tensor([comm.rank, comm.rank, ROWS - 1])
    (gradient,) = torch.autograd.grad(gather(whole, index, collective=True).sum(), whole.local)
    for i, row in enumerate(whole.rows()):
        expected = 2.0 * (row < comm.size) + comm.size * (row == ROWS - 1)
        assert gradient[i].tolist() == [expected] * WIDTH


def test_opcheck(whole, comm):
    whole.requires_grad_()
    companion, scratch = (made.handle for made in whole.__dict__["_gradient_companions"])
    index = torch.tensor([0, 2, 2])
    torch.library.opcheck(torch.ops.syncyte.gather.default, (whole.local, whole.handle, companion, index))
    rows = torch.randn(3, WIDTH, dtype=torch.float64)
    torch.library.opcheck(torch.ops.syncyte.scatter_add.default, (rows, companion, index))
    local = whole.local.detach().clone().requires_grad_()
    torch.library.opcheck(torch.ops.syncyte.gather_collective.default, (local, whole.handle, scratch, index))
    torch.library.opcheck(
        torch.ops.syncyte.gather_adjoint.default,
        (rows.requires_grad_(), whole.handle, scratch, index, len(whole.rows())),
    )
