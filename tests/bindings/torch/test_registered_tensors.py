# SPDX-License-Identifier: BSD-3-Clause
"""Tensors in host memory as CUDA tensors: WholeMemory's host tensors, and node_on()."""

import ctypes
import gc
import os

import pytest
import torch
from mpi4py import MPI

from device_under_test import needs_device
from syncyte import WholeTensor, errors
from syncyte.compat import wholememory_pytorch as wm

RANK, SIZE = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
ROWS = 3 * SIZE + 4
STANDIN = "SYNCYTE_TEST_HOST_OPS" in os.environ

pytestmark = needs_device


@pytest.fixture(autouse=True)
def session():
    torch.cuda.init()
    wm.init_lib()
    wm.mp_init(RANK, SIZE)
    yield
    gc.collect()
    wm.finalize_lib()


def registered() -> int:
    return ctypes.CDLL("libcuda.so.1").standin_registered() if STANDIN else 0


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randint(-9, 9, shape, generator=torch.Generator().manual_seed(3)).to(dtype)


def filled(values: torch.Tensor, strides: tuple[int, ...] = ()) -> torch.Tensor:
    """A host tensor of WholeMemory's with these values, written by its last rank."""
    table = wm.create_tensor(list(values.shape), list(strides), values.dtype, True, [])
    if RANK == SIZE - 1:
        table.copy_(values)
        torch.cuda.synchronize()
    wm.barrier([])
    return table


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64, torch.float8_e4m3fn])
def test_a_host_tensor_is_a_cuda_tensor_where_cuda_is_used(dtype):
    table = wm.create_tensor([2 * SIZE + 1, 3], [], dtype, True, [])
    assert table.device == torch.device("cuda", torch.cuda.current_device())
    assert type(table) is torch.Tensor
    assert table.stride() == (3, 1)
    host = wm.get_tensor_view(table, "cpu")
    assert (host.device.type, host.dtype, host.shape) == ("cpu", dtype, table.shape)
    assert host.data_ptr() == table.data_ptr()
    assert host.is_pinned()
    bits = host.view(torch.uint8)
    assert not bits.any()
    wm.barrier([])
    if RANK % 2 == 0:
        bits[2 * RANK + 1] = RANK + 1
    else:
        table.view(torch.uint8)[2 * RANK + 1] = RANK + 1
        torch.cuda.synchronize()
    wm.barrier([])
    for rank in range(SIZE):
        assert bits[2 * rank + 1].eq(rank + 1).all()
        assert table.view(torch.uint8)[2 * rank + 1].cpu().eq(rank + 1).all()
    wm.barrier([])


def test_before_cuda_is_used_it_is_a_cpu_tensor(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: RANK % 2 == 1)
    table = wm.create_tensor([SIZE, 2], [], torch.float32, True, [])
    assert table.device.type == ("cuda" if RANK % 2 == 1 else "cpu")
    host = wm.get_tensor_view(table, "cpu")
    host[RANK] = RANK
    wm.barrier([])
    seen = wm.get_tensor_view(table, torch.device("cuda", 0))
    assert seen.data_ptr() == table.data_ptr()
    assert seen[:, 1].tolist() == list(range(SIZE))
    wm.barrier([])


def test_in_a_build_without_cuda_it_is_a_cpu_tensor(monkeypatch):
    monkeypatch.setattr(wm, "device_count", lambda: 0)
    assert wm.create_tensor([2], [], torch.float32, True, []).device.type == "cpu"


def test_views_of_every_device_also_of_slices():
    values = numbers(ROWS, 4)
    table = filled(values)
    for device in ("cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))):
        part = wm.get_tensor_view(table[1:4, 1:], device)
        assert part.device == torch.device(device)
        assert part.data_ptr() == table[1:, 1:].data_ptr()
        assert part.stride() == (4, 1)
        assert torch.equal(part.cpu(), values[1:4, 1:])
        assert wm.get_tensor_view(part, table.device).data_ptr() == part.data_ptr()
    with pytest.raises(errors.ArgumentError, match="device is 99"):
        wm.get_tensor_view(table, "cuda:99")
    with pytest.raises(errors.ArgumentError, match="device is meta"):
        wm.get_tensor_view(table, "meta")
    wm.barrier([])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
@pytest.mark.parametrize("memory", ["host", "device"])
def test_gather_of_tables_with_gaps(dtype, memory):
    values = numbers(ROWS, 2, 6, dtype=dtype)
    table = (
        filled(values, (20, 8, 1)) if memory == "host" else wm.create_tensor([ROWS, 2, 6], [20, 8, 1], dtype, False, [])
    )
    if memory == "device" and RANK == 0:
        table.copy_(values)
        torch.cuda.synchronize()
    wm.barrier([])
    index = torch.tensor([4, 0, 4])
    wanted = dtype if dtype == torch.int32 else torch.float64
    parts = lambda of: (of, of[1:], of[:, :, 1::2], of[:, 1], of[:, :1, 3:], of[:, 0, ::3])  # noqa: E731
    for found, part in zip(parts(table), parts(values), strict=True):
        rows = torch.ops.wholememory.gather(index.cuda(), found, wanted)
        assert rows.is_contiguous()
        assert torch.equal(rows.cpu(), part[index].to(wanted))
    with pytest.raises(errors.UnsupportedError, match="rows that are not contiguous"):
        torch.ops.wholememory.gather(index.cuda(), table[:, 0].t(), wanted)
    torch.ops.wholememory.gather(torch.tensor([0, ROWS]).cuda(), table, wanted)
    torch.cuda.synchronize()
    with pytest.raises(IndexError, match=f"index {ROWS} at position 1"):
        torch.ops.wholememory.gather(index.cuda(), table, wanted)
    wm.barrier([])


def test_what_does_not_fit_together():
    table = filled(numbers(ROWS, 4))
    with pytest.raises(errors.ArgumentError, match="index: memory is the host's"):
        torch.ops.wholememory.gather(torch.tensor([0]), table, torch.float32)
    with pytest.raises(errors.UnsupportedError, match="index: memory is that of CUDA device"):
        torch.ops.wholememory.gather(torch.tensor([0]).cuda(), wm.get_tensor_view(table, "cpu"), torch.float32)
    wm.barrier([])


@pytest.mark.skipif(not STANDIN, reason="asks the stand-in")
def test_it_is_registered_until_it_is_freed():
    before = registered()
    table = wm.create_tensor([ROWS, 3], [], torch.float32, True, [])
    part = table[1:]
    assert registered() == before + 1
    del table
    wm.create_tensor([1], [], torch.int8, False, [])
    assert registered() == before + 1, "a view keeps the memory"
    del part
    wm.finalize_lib()
    assert registered() == before


@pytest.mark.skipif(not STANDIN, reason="asks the stand-in to fail")
def test_a_refused_registration_is_every_ranks_error(monkeypatch):
    before = registered()
    if RANK == SIZE - 1:
        monkeypatch.setenv("STANDIN_FAIL", "cuMemHostRegister:1")
    with pytest.raises(errors.OutOfMemoryError, match="cuMemHostRegister failed"):
        wm.create_tensor([ROWS, 3], [], torch.float32, True, [])
    monkeypatch.undo()
    gc.collect()
    wm.finalize_lib()
    assert registered() == before
    wm.mp_init(RANK, SIZE)
    assert wm.create_tensor([1], [], torch.float32, True, []).is_cuda


def test_rows_of_a_whole_tensor_for_kernels():
    whole = WholeTensor((SIZE, 2), "float32")
    for_kernels = whole.node_on("cuda")
    assert for_kernels is whole.node_on("cuda")
    assert for_kernels.data_ptr() == whole.node.data_ptr()
    assert whole.node_on("cpu") is whole.node
    for_kernels[RANK] = RANK + 1.0  # enqueued
    whole.sync()
    assert whole.node[:, 1].tolist() == [rank + 1.0 for rank in range(SIZE)]
    assert whole.gather(torch.tensor([SIZE - 1]))[0, 0].item() == SIZE
    with pytest.raises(errors.BusyError, match="view that is in use"):
        whole.relocate(local_rows=len(whole.rows()))
    del for_kernels
    whole.relocate(local_rows=SIZE if RANK == 0 else 0)
    assert whole.node_on("cuda")[:, 1].tolist() == [rank + 1.0 for rank in range(SIZE)]
    whole.sync()


def test_rows_that_kernels_cannot_use():
    mine = torch.zeros(2, 2)
    with pytest.raises(errors.UnsupportedError, match="wraps"):
        WholeTensor.wrap(mine).node_on("cuda")
    with pytest.raises(errors.ArgumentError, match="device is 99"):
        WholeTensor((SIZE, 2)).node_on("cuda:99")
    with pytest.raises(errors.UnsupportedError, match="device is cpu; expected a CUDA device"):
        WholeTensor((SIZE, 2), device="cuda").node_on("cpu")
