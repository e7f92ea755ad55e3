# SPDX-License-Identifier: BSD-3-Clause
"""Defects of mpi4torch 0.1.3 that syncyte.compat.mpi4torch does not have, numbered in the tests' names.

Other files test: 6 (counts of 32 bits) in test_large.py; 8 (the number of collectives in backward) and 12 (the
application's own messages) in test_operators.py; 14 (streams of a device) in test_device_memory.py; 2, 7, 13 and 15 for
every operation in test_safety.py; 3 of in-place collectives in test_in_place.py; 3 and 5 of receives in
test_mpi4torch_messages.py."""

import copy
import gc
import pickle

import pytest
import torch
from mpi4py import MPI

import syncyte.compat.mpi4torch as mpi4torch
from resident_memory import resident_bytes

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE


def of_rank(rank: int, *shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(rank))


def ring(world, x: torch.Tensor, tag: int, source: int = PREVIOUS) -> torch.Tensor:
    sent = world.Isend(x, NEXT, tag)
    got = world.Recv(mpi4torch.JoinDummies(torch.empty_like(x), [sent.dummy]), source, tag)
    return mpi4torch.JoinDummies(got, [world.Wait(mpi4torch.JoinDummiesHandle(sent, [got]))])


def test_defect_1_the_gradient_of_allgather_is_right_on_every_rank(world):
    x = of_rank(RANK, 2, 3).requires_grad_()
    weights = [of_rank(50 + rank, 2, 3 * SIZE) for rank in range(SIZE)]
    (world.Allgather(x, 1) * weights[RANK]).sum().backward()
    torch.testing.assert_close(x.grad, sum(weights)[:, 3 * RANK : 3 * RANK + 3])


@pytest.mark.parametrize("name", ["Bcast_", "Reduce_", "Allreduce"])
def test_defect_2_siblings_and_the_users_gradient_keep_their_values(world, name):
    x = 1 * of_rank(RANK, 3).requires_grad_()
    arguments = {"Bcast_": (0,), "Reduce_": (mpi4torch.MPI_SUM, 0), "Allreduce": (mpi4torch.MPI_SUM,)}[name]
    result = getattr(world, name)(x, *arguments)
    gradient = of_rank(RANK + 20, 3)
    before = gradient.clone()
    sibling = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    (result + sibling).backward(gradient)
    assert torch.equal(gradient, before)
    assert torch.equal(sibling.grad, before)


def test_defect_4_joining_dummies_leaks_nothing(world):
    elements = 1 << 18  # 2 MiB, which a reference cycle of a node and its tensor would keep

    def step() -> None:
        x = torch.ones(elements, dtype=torch.float64, requires_grad=True)
        mpi4torch.JoinDummies(x * 2, [world.Allreduce(x, mpi4torch.MPI_SUM)]).sum().backward()

    for _ in range(5):
        step()
    before = resident_bytes()
    for _ in range(40):
        step()
    assert resident_bytes() - before < 20 * 8 * elements


@pytest.mark.parametrize(
    "call",
    [
        lambda world, x: world.Allgather(x, -3),
        lambda world, x: world.Gather(x, 7, 0),
        lambda world, x: world.Scatter(x, 0, 1, SIZE),
        lambda world, x: world.Allgather(x[0, 0], 0),
    ],
)
def test_defect_7_a_wrong_axis_root_or_shape_is_an_error_on_all_ranks(world, call):
    with pytest.raises((ValueError, IndexError)):
        call(world, torch.zeros(2, 2))
    assert world.Allreduce(torch.ones(1), mpi4torch.MPI_SUM).item() == SIZE


def test_defect_9_gradients_of_tags_that_differ_by_ten(world):
    """mpi4torch's messages of backward have tags that the program's own messages may have too."""
    x = of_rank(RANK, 3).requires_grad_()
    first, second = ring(world, x, 0), ring(world, 2 * x, 10)
    (3 * first + 5 * second).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, 13.0))


def test_defect_9_gradients_of_a_receive_from_anybody(world):
    x = of_rank(RANK, 3).requires_grad_()
    (ring(world, x, 3, source=-1) * (RANK + 1)).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, NEXT + 1.0))


def test_defect_9_second_derivatives_of_messages(world):
    x = of_rank(RANK, 3).requires_grad_()
    (gradient,) = torch.autograd.grad((ring(world, x, 0) ** 3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), x)
    torch.testing.assert_close(second, 6 * x.detach())


def test_defect_10_a_dropped_handle_is_waited_for(world, capfd):
    world.Isend(torch.ones(5), NEXT, 7)
    gc.collect()
    assert f"isend to rank {NEXT}, tag 7 was dropped without a wait" in capfd.readouterr().err
    assert torch.equal(world.Recv(torch.empty(5), PREVIOUS, 7), torch.ones(5))


def test_defect_10_a_second_wait_is_an_error(world):
    handle = world.Isend(torch.ones(2), NEXT, 4)
    world.Recv(torch.empty(2), PREVIOUS, 4)
    world.Wait(handle)
    with pytest.raises(RuntimeError, match=f"isend to rank {NEXT}, tag 4 has been waited for already"):
        world.Wait(handle)


def test_defect_11_errors_have_a_class_and_a_text(world):
    with pytest.raises(ValueError, match=f"dest is {SIZE}"):
        world.Isend(torch.ones(2), SIZE, 0)
    with pytest.raises(ValueError, match=f"root is {SIZE}"):
        world.Bcast_(torch.ones(2), SIZE)


def test_defect_13_another_dtype_than_the_senders_is_an_error(world):
    sent = world.Isend(torch.ones(4, dtype=torch.float64), NEXT, 0)
    buffer = torch.zeros(4, dtype=torch.int64)
    with pytest.raises(ValueError, match="is float64 of shape"):
        world.Recv(buffer, PREVIOUS, 0)
    world.Wait(sent)
    assert buffer.tolist() == [0] * 4


def test_defect_13_an_undefined_gradient_is_zero(world):
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, y):
            return y.clone()

        @staticmethod
        def backward(ctx, gradient):
            return None

    x = of_rank(RANK, 3).requires_grad_()
    (Nothing.apply(world.Allreduce(x, mpi4torch.MPI_SUM)).sum() + x.sum()).backward()
    assert torch.equal(x.grad, torch.ones_like(x))


def test_defect_14_mpi_supports_threads_as_autograd_needs_them(world):
    """Backward of device tensors runs in another thread; the destructor of a handle does not throw."""
    assert world.size == SIZE
    assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
    handle = world.Irecv(torch.empty(2), PREVIOUS, 8)
    del handle
    gc.collect()
    world.Wait(world.Isend(torch.ones(2), NEXT, 8))


def test_defect_15_gradients_on_one_rank_alone_are_an_error(world):
    if SIZE == 1:
        return
    with pytest.raises(ValueError, match="needs-gradient"):
        world.Allreduce(torch.ones(2, requires_grad=RANK == 0), mpi4torch.MPI_SUM)


def test_defect_16_copies_and_pickles_of_communicators(world):
    for copied in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
        assert copied.Allreduce(torch.ones(1), mpi4torch.MPI_SUM).item() == SIZE


def test_defect_16_tangents_of_forward_mode(world):
    x, tangent = of_rank(RANK, 3), of_rank(RANK + 30, 3)
    _, moved = torch.func.jvp(lambda x: world.Allreduce(2 * x, mpi4torch.MPI_SUM), (x,), (tangent,))
    torch.testing.assert_close(moved, 2 * sum(of_rank(rank + 30, 3) for rank in range(SIZE)))


def test_defect_16_vmap(world):
    x = of_rank(RANK, 4, 3)
    result = torch.vmap(lambda row: world.Allreduce(row, mpi4torch.MPI_SUM))(x)
    torch.testing.assert_close(result, sum(of_rank(rank, 4, 3) for rank in range(SIZE)))


def test_defect_16_functional_gradients_are_refused_and_those_of_autograd_work(world):
    """torch.func.grad refuses every autograd function in C++, with a message of torch."""
    with pytest.raises(RuntimeError, match=r"functorch transforms.*expected torch.autograd.grad\(result, tensor\)"):
        torch.func.grad(lambda x: world.Allreduce(x, mpi4torch.MPI_SUM).sum())(of_rank(RANK, 3))
    x = of_rank(RANK, 3).requires_grad_()
    (gradient,) = torch.autograd.grad(world.Allreduce(x, mpi4torch.MPI_SUM).sum(), x)
    assert torch.equal(gradient, torch.full_like(x, SIZE))


def test_defect_16_compiled_functions(world):
    torch._dynamo.reset()
    x = of_rank(RANK, 3).requires_grad_()
    run = torch.compile(lambda x: world.Allreduce(x, mpi4torch.MPI_SUM) * 2, fullgraph=True, backend="aot_eager")
    run(x).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, 2.0 * SIZE))


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float16,
        torch.bfloat16,
        torch.bool,
        torch.complex64,
        torch.complex128,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.float32,
    ],
)
def test_defect_17_dtypes(world, dtype):
    x = torch.tensor([1, 0, RANK % 2]).to(dtype)
    expected = torch.tensor([1, 0, PREVIOUS % 2]).to(dtype)
    assert torch.equal(ring(world, x, 0), expected)
    operation = mpi4torch.MPI_LOR if dtype is torch.bool else mpi4torch.MPI_SUM
    result = world.Allreduce(x, operation)
    assert result.dtype == dtype
    assert result[0].item() == (True if dtype is torch.bool else SIZE)
