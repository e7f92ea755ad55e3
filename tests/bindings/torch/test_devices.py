# SPDX-License-Identifier: BSD-3-Clause
"""Tensors on a device: values and gradients equal those of the same tensors on the CPU, and are on the device."""

import gc

import pytest
import torch
from mpi4py import MPI

import syncyte
from device_under_test import DEVICE, IS_PRETENDED, give_to_mpi, mpi_takes_it, needs_device
from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from rings import both_ways, start_then_wait
from syncyte.torch import (
    allgather_along,
    allreduce,
    alltoall_along,
    bcast,
    bcast_,
    exscan,
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
    ordered,
    recv,
    reduce,
    reduce_,
    reduce_scatter_along,
    scan,
    scatter_along,
    sendrecv,
    use_cuda_aware_mpi,
    wait_all,
)

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE
UNEVEN = list(range(SIZE))  # rank r has r
WHOLE = sum(UNEVEN)

pytestmark = needs_device


def rows(count: int, *others: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(5 + RANK)
    return torch.randint(1, 9, (count, *others), generator=generator).to(torch.float64)


def followed(x: torch.Tensor) -> torch.Tensor:
    """A received tensor requires gradients if the sender's does."""
    request = isend(x, NEXT)
    got = irecv(torch.empty_like(x), PREVIOUS).wait()
    return join_dummies(got, [request.wait()])


SAME_SHAPE = {
    "allreduce": allreduce,
    "allreduce max": lambda x: allreduce(x, op="max"),
    "allreduce prod": lambda x: allreduce(x, op="prod"),
    "allreduce identity": lambda x: allreduce(x, adjoint="identity"),
    "bcast": lambda x: bcast(x, SIZE - 1),
    "reduce": lambda x: reduce(x, SIZE - 1),
    "reduce min": lambda x: reduce(x, 0, op="min"),
    "scan": lambda x: scan(x, reverse=True),
    "exscan": exscan,
    "iallreduce": lambda x: iallreduce(x).wait(),
    "ibcast": lambda x: ibcast(x, SIZE - 1).wait(),
    "ring": start_then_wait,
    "both ways": both_ways,
    "followed": followed,
}
CASES = {name: (function, lambda: rows(3, 2)) for name, function in SAME_SHAPE.items()} | {
    "allgather": (allgather_along, lambda: rows(RANK, 2)),
    "allgather counts": (lambda x: allgather_along(x, -2, counts=UNEVEN), lambda: rows(RANK, 2)),
    "gather": (lambda x: gather_along(x, 1, SIZE - 1), lambda: rows(2, RANK)),
    "scatter": (lambda x: scatter_along(x, RANK, 0, SIZE - 1), lambda: rows(WHOLE, 2)),
    "reduce_scatter": (lambda x: reduce_scatter_along(x, RANK, 0), lambda: rows(WHOLE, 2)),
    "alltoall": (lambda x: alltoall_along(x, 0, 1, RANK), lambda: rows(RANK, WHOLE)),
    "iallgather": (lambda x: iallgather_along(x, counts=UNEVEN).wait(), lambda: rows(RANK, 2)),
    "ireduce_scatter": (lambda x: ireduce_scatter_along(x, counts=UNEVEN).wait(), lambda: rows(WHOLE, 2)),
    "ialltoall": (
        lambda x: ialltoall_along(x, 0, 1, gather_counts=UNEVEN, scatter_counts=UNEVEN).wait(),
        lambda: rows(RANK, WHOLE),
    ),
}


WAYS = {"copied": False, "given to MPI": True} | ({} if IS_PRETENDED else {"as Syncyte finds out": None})


@pytest.fixture(params=WAYS, autouse=True)
def way_to_mpi(request):
    is_given = WAYS[request.param]
    if is_given and not mpi_takes_it:
        pytest.skip("MPI may not take the device's memory (SYNCYTE_TEST_MPI_TAKES)")
    if is_given is not None:
        give_to_mpi(is_given)
    yield
    use_cuda_aware_mpi(None)


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def with_gradient(function, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    leaf = x.detach().requires_grad_()
    result = function(leaf)
    weights = torch.arange(1.0, result.numel() + 1, dtype=result.dtype).reshape(result.shape) * (RANK + 1)
    (result * weights.to(result.device)).sum().backward()
    return result.detach(), leaf.grad


def expect_like_cpu(function, x: torch.Tensor) -> None:
    expected = with_gradient(function, x)
    for given in (x.to(DEVICE), x.to(DEVICE).t().contiguous().t()):
        for mine, wanted in zip(with_gradient(function, given), expected, strict=True):
            assert mine.device == DEVICE
            torch.testing.assert_close(mine.cpu(), wanted, rtol=1e-14, atol=0)


def test_values_and_gradients_are_the_cpus(case):
    function, given = case
    expect_like_cpu(function, given())


@pytest.mark.parametrize("name", ["allreduce prod", "reduce", "gather", "iallreduce", "ialltoall", "ring", "both ways"])
def test_double_backward(name):
    function, given = CASES[name]
    at_home = given() / 9
    distributed_gradcheck(lambda x: function(x.to(DEVICE)).cpu(), [at_home])
    distributed_gradgradcheck(lambda x: (function((x * x).to(DEVICE)) ** 2).cpu(), [at_home], tolerance=1e-5)


def test_double_backward_in_an_ordered_scope():
    for _ in range(10):  # the order of the ranks differed in every second pass
        x = rows(3).to(DEVICE).requires_grad_()
        with ordered() as order:
            loss = order.join((allreduce(x.sin()) * allreduce(x * x)).sum())
        (first,) = torch.autograd.grad(loss, x, create_graph=True)
        (second,) = torch.autograd.grad((first * first).sum(), x)
        assert second.device == DEVICE


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.complex64, torch.int64, torch.uint8, torch.bool]
)
@pytest.mark.parametrize("shape", [(), (0, 4), (3, 5)])
def test_dtypes_and_shapes(dtype, shape):
    x = torch.ones(shape, dtype=dtype)
    for function in (lambda x: bcast(x, 0), lambda x: iallreduce(x).wait(), start_then_wait):
        result = function(x.to(DEVICE))
        assert result.device == DEVICE
        assert torch.equal(result.cpu(), function(x))


def test_conjugates():
    x = torch.tensor([1 + 2j, 3 - 1j]).to(DEVICE)
    torch.testing.assert_close(allreduce(x.conj()).cpu(), SIZE * torch.tensor([1 - 2j, 3 + 1j]))


def test_forward_mode():
    x, tangent = rows(2, 3), rows(2, 3) + RANK
    value, derivative = torch.func.jvp(lambda x: scan(x), (x.to(DEVICE),), (tangent.to(DEVICE),))
    torch.testing.assert_close(value.cpu(), scan(x))
    torch.testing.assert_close(derivative.cpu(), scan(tangent))


def test_in_place():
    x = torch.full((4, 2), float(RANK)).to(DEVICE)
    version = x._version
    assert bcast_(x[:, 1], SIZE - 1).device == DEVICE
    assert x._version > version
    assert x.cpu().tolist() == [[RANK, SIZE - 1]] * 4
    reduce_(x, 0, op="sum")
    assert x.cpu().tolist() == ([[WHOLE, SIZE * (SIZE - 1)]] * 4 if RANK == 0 else [[0, 0]] * 4)


def test_in_place_in_autograd():
    leaf = torch.full((3,), float(RANK + 1)).to(DEVICE).requires_grad_()
    x = leaf * 2
    reduce_(x, 0, op="sum")
    (x * 3).sum().backward()
    assert leaf.grad.cpu().tolist() == [6.0] * 3
    with pytest.raises(RuntimeError, match="leaf"):
        bcast_(leaf, 0)


@pytest.mark.parametrize("cells", [(6, 3), (5, 4)])
def test_halo_exchange(cells):
    halo = syncyte.Halo(syncyte.COMM_WORLD.cartesian([SIZE], periods=[True]), cells, "float64", 1)
    expect_like_cpu(lambda x: halo_exchange(x, halo), rows(*cells))


def test_ranks_may_have_different_devices():
    where = DEVICE if RANK % 2 == 0 else torch.device("cpu")
    x = rows(3)
    result, gradient = with_gradient(allreduce, x.to(where))
    expected, wanted = with_gradient(allreduce, x)
    assert result.device == where
    assert gradient.device == where
    torch.testing.assert_close(result.cpu(), expected)
    torch.testing.assert_close(gradient.cpu(), wanted)
    torch.testing.assert_close(start_then_wait(x.to(where)).cpu(), start_then_wait(x))


def mpi4torch_ring(x: torch.Tensor) -> torch.Tensor:
    from syncyte.compat import mpi4torch

    comm = mpi4torch.comm_from_mpi4py(WORLD)
    handle = comm.Isend(x, NEXT, 0)
    got = comm.Recv(mpi4torch.JoinDummies(torch.empty_like(x), [handle.dummy]), PREVIOUS, 0)
    got = mpi4torch.JoinDummies(got, [comm.Wait(mpi4torch.JoinDummiesHandle(handle, [got]))])
    return comm.Reduce_(comm.Bcast_(got * 2, 0) + got, mpi4torch.MPI_SUM, SIZE - 1)


def test_mpi4torch():
    expect_like_cpu(mpi4torch_ring, rows(4, 2))


def test_many_in_flight_in_any_order_of_waits():
    values = [torch.full((4,), float(i)).to(DEVICE).requires_grad_() for i in range(6)]
    requests = [iallreduce(value) if i % 2 else ibcast(value * RANK, i % SIZE) for i, value in enumerate(values)]
    while not all([request.test() for request in requests]):
        pass
    results = wait_all(requests[::-1])[::-1]
    for i, result in enumerate(results):
        assert result.cpu()[0] == (i * SIZE if i % 2 else i * (i % SIZE))
    sum((result * (RANK + 1)).sum() for result in results).backward()
    for i, value in enumerate(values):
        total = SIZE * (SIZE + 1) / 2
        assert value.grad.cpu()[0] == (total if i % 2 else (total * RANK if RANK == i % SIZE else 0))


def test_the_input_may_change_before_the_wait():
    x = torch.full((1000,), float(RANK + 1)).to(DEVICE)
    request = iallreduce(x)
    x.zero_()
    assert torch.equal(request.wait().cpu(), torch.full((1000,), SIZE * (SIZE + 1) / 2))


def test_a_second_wait_is_an_error():
    request = iallreduce(torch.ones(2).to(DEVICE))
    request.wait()
    with pytest.raises(RuntimeError, match="iallreduce has been waited for already"):
        request.wait()
    with pytest.raises(RuntimeError, match="iallreduce has been waited for already"):
        request.test()


def test_a_dropped_request_is_completed(capfd):
    request = isend(torch.ones(2).to(DEVICE), NEXT, 9)
    del request
    gc.collect()
    assert "isend to rank" in capfd.readouterr().err
    assert recv(torch.empty(2).to(DEVICE), PREVIOUS, 9).cpu().tolist() == [1, 1]
    # A send alone may wait for its receiver: Open MPI sends no memory of devices eagerly.
    sendrecv(torch.ones(2).to(DEVICE), NEXT, torch.empty(2).to(DEVICE), PREVIOUS, 10)


@pytest.mark.skipif(IS_PRETENDED, reason="syncyte.Comm takes tensors of CUDA devices and no others")
@pytest.mark.parametrize("count", [3, 5000])
def test_messages_of_the_communicator(count):
    given = torch.full((count,), RANK + 1.0).to(DEVICE)
    got = [torch.zeros_like(given) for _ in range(2)]
    comm = syncyte.COMM_WORLD
    comm.sendrecv(given, NEXT, got[0], PREVIOUS)
    receiving = comm.irecv(got[1], PREVIOUS)
    sending = comm.isend(given, NEXT)
    receiving.wait()
    sending.wait()
    assert [each.cpu().unique().tolist() for each in got] == [[PREVIOUS + 1.0]] * 2


def test_errors_of_one_rank_are_raised_on_all():
    if SIZE > 1:
        with pytest.raises(ValueError, match="elements of output is 2 on"):
            allreduce(torch.ones(3 if RANK == SIZE - 1 else 2).to(DEVICE))
    with pytest.raises(IndexError, match="axis is 5"):
        allgather_along(torch.ones(3).to(DEVICE), 5 if RANK == SIZE - 1 else 0, counts=[3] * SIZE)
    with pytest.raises(NotImplementedError, match="op max of scan has no adjoint"):
        scan(torch.ones(3).to(DEVICE).requires_grad_(), op="max")


def test_two_devices_in_one_operation_are_an_error_of_all_ranks():
    whole = syncyte.WholeTensor((4 * SIZE, 2), torch.float64)
    whole.requires_grad_()
    index = torch.arange(2)
    with pytest.raises(ValueError, match=f"index is on {DEVICE}, but local on cpu; expected both on one device"):
        whole.gather(index.to(DEVICE) if RANK == SIZE - 1 else index, collective=True)
    with pytest.raises(ValueError, match=f"index is on {DEVICE}, but local on cpu"):
        whole.gather(index.to(DEVICE))
    assert whole.gather(index, collective=True).shape == (2, 2)


def test_cpu_and_device_tensors_in_one_graph():
    """Autograd runs backward of device tensors in another thread, unless that is switched off."""
    leaf = torch.full((3,), 1.0 + RANK, requires_grad=True)
    total = leaf
    for i in range(6):
        total = total + (allreduce(leaf * i) if i % 2 else allreduce((leaf * i).to(DEVICE)).cpu())
    with torch.autograd.set_multithreading_enabled(False):
        total.sum().backward()
    assert leaf.grad.tolist() == [1 + SIZE * sum(range(6))] * 3


@pytest.mark.thorough  # no other test of this job needs torch's compiler, whose import takes seconds
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled(backend):
    def step(x):
        y = iallreduce(allreduce(x) * 2).wait()
        return start_then_wait(y) + allgather_along(x, 0, counts=[3] * SIZE)[:3]

    torch._dynamo.reset()
    x = rows(3)
    compiled = torch.compile(step, fullgraph=True, backend=backend)
    for mine, wanted in zip(with_gradient(compiled, x.to(DEVICE)), with_gradient(step, x), strict=True):
        assert mine.device == DEVICE
        torch.testing.assert_close(mine.cpu(), wanted)
