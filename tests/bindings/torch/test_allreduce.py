# SPDX-License-Identifier: BSD-3-Clause
"""torch.ops.syncyte.allreduce: values, gradients, memory, and errors of wrong use."""

import gc

import pytest
import torch
from mpi4py import MPI

import syncyte
from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from syncyte.excepthook import _agreed_rank
from syncyte.torch import allreduce

DTYPES = [
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
]


def values_of(rank: int, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.randint(0, 4, shape, generator=torch.Generator().manual_seed(rank)).to(dtype)


def expected_sum(size: int, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    # torch adds no unsigned integers except uint8
    return sum(values_of(rank, shape, torch.int64) for rank in range(size)).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4), (1,) * 10])
def test_sums_every_dtype_and_shape(comm, dtype, shape):
    source = values_of(comm.rank, shape, dtype)
    result = allreduce(source, comm)
    assert result.dtype == dtype
    assert result.shape == shape
    assert result.is_contiguous()
    assert torch.equal(result, expected_sum(comm.size, shape, dtype))
    assert torch.equal(source, values_of(comm.rank, shape, dtype))


def test_bool_is_a_logical_or(comm):
    result = allreduce(torch.tensor([comm.rank == 0, False, True]), comm)
    assert result.tolist() == [True, False, True]


def test_strided_and_conjugated_input(comm):
    source = values_of(comm.rank, (4, 6), torch.float64)
    assert torch.equal(allreduce(source.t()[::2], comm), expected_sum(comm.size, (4, 6), torch.float64).t()[::2])
    z = torch.complex(source, source + 1)
    assert torch.equal(allreduce(z.conj(), comm), allreduce(z, comm).conj())


def test_world_is_the_default():
    assert allreduce(torch.ones(2)).tolist() == [syncyte.COMM_WORLD.size] * 2


def test_adjoint_identity(comm, generator):
    x = torch.randn(5, dtype=torch.float64, generator=generator, requires_grad=True)
    y = torch.randn(5, dtype=torch.float64, generator=generator)
    result = allreduce(x, comm)
    (adjoint,) = torch.autograd.grad(result, x, y)
    forward = MPI.COMM_WORLD.allreduce(float(result.detach() @ y))
    backward = MPI.COMM_WORLD.allreduce(float(x.detach() @ adjoint))
    assert forward == pytest.approx(backward, rel=1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradcheck(comm, generator, dtype):
    x = torch.randn(2, dtype=dtype, generator=generator)
    distributed_gradcheck(lambda t: allreduce(t * t, comm).sin(), [x])
    distributed_gradgradcheck(lambda t: allreduce(t * t, comm).sin(), [x])


def test_gradients_of_expanded_and_sibling_use(comm):
    x = torch.ones(3, requires_grad=True)
    cotangent = torch.full((3,), 2.0)
    result = allreduce(x, comm)
    (result + x).backward(cotangent)
    assert x.grad.tolist() == [2.0 * comm.size + 2.0] * 3
    assert cotangent.tolist() == [2.0] * 3  # never overwritten
    x.grad = None
    allreduce(x, comm).sum().backward()  # an expanded cotangent, with strides 0
    assert x.grad.tolist() == [float(comm.size)] * 3


def test_nothing_is_recorded_without_gradients(comm):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        assert not allreduce(x, comm).requires_grad
    assert not allreduce(x.detach(), comm).requires_grad
    assert allreduce(x, comm).requires_grad


def test_output_is_recycled_and_resizable(comm):
    count = 1 << 18
    allreduce(torch.ones(count), comm)
    hits = syncyte.memory.stats().hits
    for _ in range(5):
        allreduce(torch.ones(count), comm)
    assert syncyte.memory.stats().hits >= hits + 5
    result = allreduce(torch.ones(4), comm)
    result.resize_(1000)
    assert result.numel() == 1000


def test_memory_does_not_grow(comm):
    x = torch.ones(1000, requires_grad=True)
    for _ in range(20):
        allreduce(x, comm).sum().backward()
    gc.collect()
    before = syncyte.memory.stats()
    for _ in range(300):
        x.grad = None
        allreduce(x, comm).sum().backward()
    gc.collect()
    after = syncyte.memory.stats()
    assert after.in_use <= before.in_use + 4096
    assert after.cached <= before.cached + 65536


def test_different_shapes_are_everybodys_error(comm):
    if comm.size == 1:
        pytest.skip("one rank agrees with itself")
    with pytest.raises(ValueError, match="elements of output is"):
        allreduce(torch.ones(3 + comm.rank), comm)
    with pytest.raises(ValueError, match="dtype of output is"):
        allreduce(torch.ones(3, dtype=torch.float64 if comm.rank else torch.float32), comm)
    assert allreduce(torch.ones(1), comm).item() == comm.size


@pytest.mark.parametrize(
    "shapes, text",
    [
        (((2, 3), (3, 2)), "extent 0 of input is 2 on rank.* 3 on rank 1"),
        (((2, 3), (6,)), "dimensions of input is 2 on rank.* 1 on rank 1"),
        (((1,) * 8 + (2, 3), (1,) * 8 + (3, 2)), "extents is"),
    ],
)
def test_shapes_of_equally_many_elements_are_different(comm, shapes, text):
    if comm.size == 1:
        pytest.skip("one rank agrees with itself")
    with pytest.raises(ValueError, match=text) as caught:
        allreduce(torch.ones(shapes[comm.rank == 1]), comm)
    assert _agreed_rank(caught.value) == comm.rank  # of an uncaught one rank 0 alone prints a traceback
    assert allreduce(torch.ones(shapes[0]), comm).shape == shapes[0]


def test_need_for_gradients_is_a_fact(comm):
    """Without the error, a backward pass that only some ranks run would wait for ever."""
    if comm.size == 1:
        pytest.skip("one rank agrees with itself")
    x = torch.ones(3, requires_grad=comm.rank == 0)
    with pytest.raises(
        ValueError,
        match="needs-gradient is (1 on rank 0, but 0 on rank|0 on ranks [-1-9, ]+, but 1 on rank 0).*mixed_grad=True",
    ):
        allreduce(x, comm)
    with torch.no_grad():
        assert allreduce(x, comm).tolist() == [comm.size] * 3
    unchecked = comm.dup(check="off")
    assert allreduce(x, unchecked).tolist() == [comm.size] * 3
    unchecked.free()


def test_need_for_second_gradients_is_a_fact(comm):
    if comm.size == 1:
        pytest.skip("one rank agrees with itself")
    x = torch.ones(3, requires_grad=True)
    cotangent = torch.ones(3, requires_grad=comm.rank == 1)
    with pytest.raises(ValueError, match="needs-gradient"):
        torch.autograd.grad(allreduce(x, comm), x, cotangent, create_graph=True)
    assert allreduce(x, comm).tolist() == [comm.size] * 3


def test_no_memory_for_the_input_is_everybodys_error(comm):
    """An operation that fails on one rank before the collective must not leave the others waiting."""
    odd = comm.rank == comm.size - 1
    source = torch.zeros(1).expand(10**13) if odd else torch.ones(3)
    with pytest.raises(RuntimeError, match=f"failed on rank {comm.size - 1}.*allocate"):
        allreduce(source, comm)
    assert allreduce(torch.ones(1), comm).item() == comm.size


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
def test_unsigned_integers_have_all_their_bits(comm, dtype):
    largest = torch.iinfo(dtype).max
    ends = torch.tensor([largest, comm.rank], dtype=dtype)
    assert allreduce(ends, comm, op="max").tolist() == [largest, comm.size - 1]
    assert allreduce(ends, comm, op="min").tolist() == [largest, 0]
    assert allreduce(ends, comm, op="band").tolist() == [largest, 0]
    assert allreduce(ends, comm).tolist()[0] == comm.size * largest % (largest + 1)
    assert allreduce(ends, comm, op="prod").tolist()[0] == pow(largest, comm.size, largest + 1)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.complex32])
def test_unknown_dtype_is_everybodys_error(comm, dtype):
    source = torch.ones(3).to(dtype if comm.rank == 0 else torch.int16)
    with pytest.raises(TypeError, match="expected one of SYNCYTE_FLOAT16"):
        allreduce(source, comm)


def test_freed_communicator_is_an_error(comm):
    part = comm.dup()
    handle = part.handle
    part.free()
    with pytest.raises(RuntimeError, match="freed"):
        torch.ops.syncyte.allreduce(torch.ones(1), handle)


@pytest.mark.parametrize("grad", [True, pytest.param(False, marks=pytest.mark.thorough)])
def test_opcheck(comm, grad):
    x = torch.randn(3, 2, requires_grad=grad)
    torch.library.opcheck(torch.ops.syncyte.allreduce.default, (x, comm.handle))
    torch.library.opcheck(torch.ops.syncyte.allreduce.default, (x, comm.handle, 1, False, 3))
