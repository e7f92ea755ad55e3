# SPDX-License-Identifier: BSD-3-Clause
"""Views of whole tensors: they are not copies, and the memory exists as long as the last slice."""

import contextlib
import gc
import threading

import numpy as np
import pytest
import torch

import syncyte
from syncyte import DType


@pytest.mark.parametrize("dtype", list(DType))
def test_numpy_and_torch_share_memory(world, dtype):
    tensor = syncyte.WholeTensor((2 * world.size, 3), dtype)
    array, local = tensor.local_array, tensor.local
    assert array.ctypes.data == local.data_ptr()
    assert array.shape == tuple(local.shape) == (2, 3)
    assert array.flags.writeable
    assert array.flags.c_contiguous
    assert array.flags.aligned
    local[1, 2] = 1
    assert array[1, 2] != 0
    array[1, 2] = 0
    assert not bool(local.any())
    assert tensor.local is local
    assert tensor.local_array is array


@pytest.mark.parametrize("dtype", [dtype for dtype in DType])
def test_dlpack(world, dtype):
    tensor = syncyte.WholeTensor((2 * world.size, 3), dtype)
    source = tensor if world.size == 1 else tensor.local
    other = torch.from_dlpack(source)
    assert other.dtype == tensor.torch_dtype
    assert other.data_ptr() == tensor.local.data_ptr()
    if dtype != DType.BFLOAT16:
        array = np.from_dlpack(tensor if world.size == 1 else tensor.local_array)
        assert array.ctypes.data == other.data_ptr()
        assert array.dtype == tensor.numpy_dtype
    tensor.free()
    del tensor, source
    world.collect()
    other[0, 0] = 1
    assert bool(other[0, 0] == 1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_as_an_array_it_is_whole_or_an_error(world, dtype):
    """The conversion must not give this rank's part, because then a mean would differ between ranks."""
    tensor = syncyte.WholeTensor((2 * world.size + 1, 1), dtype)
    tensor.local[:, 0] = torch.arange(tensor.rows().start, tensor.rows().stop)
    tensor.sync()
    whole = torch.arange(tensor.shape[0], dtype=tensor.torch_dtype).reshape(tensor.shape)
    bits = whole.view(torch.uint16) if dtype == "bfloat16" else whole
    assert np.array_equal(np.asarray(tensor), bits.numpy())
    assert np.sum(tensor) == bits.numpy().sum()
    assert np.asarray(tensor, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.asarray(tensor, copy=False)
    for convert in (torch.as_tensor, torch.tensor, torch.from_dlpack, np.from_dlpack):
        if world.size == 1:
            assert convert is np.from_dlpack or torch.equal(convert(tensor), whole)
        else:
            with pytest.raises(syncyte.UnsupportedError, match=r"t\.local .*t\[:\]"):
                convert(tensor)
    with pytest.raises(syncyte.UnsupportedError) if world.size > 1 else contextlib.nullcontext():
        tensor.__dlpack_device__()
    copy = syncyte.WholeTensor(tensor.shape, dtype)
    if world.rank == 0:
        copy[:] = tensor
    copy.sync()
    assert torch.equal(copy[:], whole)


def test_node_view_is_one_range(world):
    tensor = syncyte.WholeTensor((3 * world.size, 4), "int64")
    assert tensor.node_first_row == 0
    tensor.local[:] = world.rank
    tensor.sync()
    expected = np.repeat(np.arange(world.size), 3)
    assert tensor.node_array[:, 1].tolist() == expected.tolist()
    assert tensor.node[:, 2].tolist() == expected.tolist()
    rows = tensor.rows()
    assert tensor.node[rows.start :].data_ptr() == tensor.node.data_ptr() + rows.start * 32
    world.barrier()
    if world.rank == 0:
        tensor.node[-1] = 77
    tensor.sync()
    assert tensor[-1].tolist() == [77] * 4


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool"])
def test_ranks_without_rows(world, dtype):
    rows = 5 if world.rank == world.size - 1 else 0
    tensor = syncyte.WholeTensor((5, 2), dtype, local_rows=rows)
    assert tensor.local.shape == tensor.local_array.shape == (rows, 2)
    assert tensor.node.shape == (5, 2)
    assert torch.from_dlpack(tensor.local).shape == (rows, 2)
    empty = syncyte.WholeTensor((0, 3), dtype)
    assert empty.local.shape == empty.node_array.shape == (0, 3)
    assert empty[:].shape == (0, 3)


def slices(tensor):
    return {
        "torch": lambda: tensor.local[1:, 2],
        "numpy": lambda: tensor.local_array[1:, 2],
        "node": lambda: tensor.node[1:, 2],
        "dlpack": lambda: np.from_dlpack(tensor.local)[1:, 2],
        "parameter": lambda: torch.nn.Parameter(tensor.local)[1:, 2].detach(),
        "memoryview": lambda: memoryview(tensor.local_array)[1:],
    }


@pytest.mark.parametrize("name", list(slices(None)))
def test_a_slice_outlives_its_tensor(world, name):
    tensor = syncyte.WholeTensor((2 * world.size, 3), "float64")
    tensor.local[:] = world.rank + 1
    tensor.sync()
    part = slices(tensor)[name]()
    del tensor
    gc.collect()
    for _ in range(3):
        world.collect()
    other = syncyte.WholeTensor((2 * world.size, 3), "float64")
    other.local[:] = -1
    other.sync()
    values = np.asarray(part) if not isinstance(part, torch.Tensor) else part.numpy()
    assert (values[..., -1] == (world.size if name == "node" else world.rank + 1)).all()
    del part, values
    world.collect()


def test_dropped_tensors_give_memory_back(world):
    """Ranks drop tensors in different orders, in threads and in reference cycles; all mappings must be removed."""

    def mappings():
        with open("/proc/self/maps", encoding="utf-8") as file:
            return sum("syncyte" in line or "memfd" in line for line in file)

    world.collect()
    before = mappings()
    tensors = [syncyte.WholeTensor((1024 * world.size, 64), "float32") for _ in range(6)]
    views = [tensor.node[5:] for tensor in tensors]
    assert mappings() > before
    order = list(range(6)) if world.rank % 2 else list(reversed(range(6)))
    for number in order:
        tensors[number] = None
    cycle = [views[0]]
    cycle.append(cycle)
    del cycle
    views[0] = None
    gc.collect()
    thread = threading.Thread(target=views.clear)
    thread.start()
    thread.join()
    world.collect()
    assert mappings() == before


def test_autograd_on_local(world):
    tensor = syncyte.WholeTensor((2 * world.size, 3), torch.float32)
    local = tensor.local
    local.requires_grad_()
    assert local.is_leaf
    (local * 3).sum().backward()
    assert tensor.local.grad is not None
    assert bool((tensor.local.grad == 3).all())
    with torch.no_grad():
        local -= 1
        tensor.sync()
        assert tensor.gather(np.array([0]))[0].tolist() == [-1] * 3
