# SPDX-License-Identifier: BSD-3-Clause
"""Started accesses to whole tensors."""

import gc

import numpy as np
import pytest
import torch

import syncyte


def make(world, dtype="float64", rows=11, columns=5):
    tensor = syncyte.WholeTensor((rows, columns), dtype, name="started")
    for row in tensor.rows():
        tensor.put_box((row, 0), expected(row, columns, tensor.numpy_dtype)[None])
    tensor.sync()
    return tensor


def expected(row, columns=5, dtype=np.float64):
    return (np.arange(columns) + 10 * row).astype(dtype)


def test_several_gathers_end_in_any_order(world):
    tensor = make(world)
    indices = [np.random.default_rng(i).integers(0, 11, 30) for i in range(20)]
    requests = [tensor.igather(index) for index in indices]
    for index, request in reversed(list(zip(indices, requests, strict=True))):
        assert np.array_equal(request.wait(), [expected(row) for row in index])
    world.barrier()


def test_gather_of_torch_and_into_out(world):
    tensor = make(world)
    index = torch.tensor([[10, 0], [3, 3]])
    request = tensor.igather(index)
    index.zero_()  # may change after the start
    found = request.wait()
    assert isinstance(found, torch.Tensor)
    assert found.shape == (2, 2, 5)
    assert np.array_equal(found[0, 0].numpy(), expected(10))
    out = np.zeros((1, 5))
    request = tensor.igather([7], out)
    while not request.test():
        pass
    assert request.wait() is out
    assert np.array_equal(out[0], expected(7))
    with pytest.raises(syncyte.HandleError, match="tensor_igather"):
        request.wait()
    view = memoryview(out)
    assert tensor.igather([7], view).wait() is view
    world.barrier()


def test_scatter_and_scatter_add(world):
    tensor = make(world)
    mine = np.arange(world.rank, 11, world.size)
    assert tensor.iscatter_(mine, np.full((len(mine), 5), -1.0)).wait() is tensor
    tensor.sync()
    adds = [tensor.iscatter_add_(torch.arange(11), torch.ones((11, 5), dtype=torch.float64)) for _ in range(8)]
    syncyte.wait_all(adds)
    tensor.sync()
    assert (tensor.gather(np.arange(11)) == 8 * world.size - 1).all()
    world.barrier()


@pytest.mark.parametrize("dtype", [np.float64, torch.float64])
def test_boxes(world, dtype):
    tensor = make(world, dtype)
    reads = [tensor.iget_box((first, 1), (11 - first, 3)) for first in range(8)]
    out = np.zeros((3, 11)).T
    assert tensor.iget_box((0, 2), out=out).wait() is out
    whole = np.array([expected(row) for row in range(11)])
    for first, read in enumerate(reads):
        assert np.array_equal(np.asarray(read.wait()), whole[first:, 1:4])
    assert np.array_equal(out, whole[:, 2:])
    world.barrier()
    source = np.full((11, 1), float(world.rank))
    put = tensor.iput_box((0, world.rank), source)
    source[:] = -5  # may change after the start
    assert put.wait() is tensor
    tensor.sync()
    adds = [tensor.iaccumulate_box((0, 0), torch.ones((11, 5), dtype=torch.float64), alpha=2) for _ in range(4)]
    assert syncyte.wait_all(adds) == [tensor] * 4
    tensor.sync()
    whole[:, : world.size] = range(world.size)
    assert np.array_equal(np.asarray(tensor.get_box((0, 0), (11, 5))), whole + 8 * world.size)
    world.barrier()


def test_wrong_boxes(world):
    tensor = make(world)
    with pytest.raises(IndexError, match="outside the tensor"):
        tensor.iget_box((8, 0), (4, 1))
    with pytest.raises(ValueError, match="exactly one of them"):
        tensor.iget_box((8, 0))
    with pytest.raises(ValueError, match="extent"):
        tensor.iget_box((8, 0), (1,))
    with pytest.raises(TypeError, match="source"):
        tensor.iput_box((0, 0), np.zeros((1, 5), np.int32))
    with pytest.raises(ValueError, match="op"):
        tensor.iaccumulate_box((0, 0), np.zeros((1, 5)), op="replace")
    world.barrier()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_fetch_add(world, dtype):
    counters = syncyte.WholeTensor((world.size, 2), dtype)
    requests = [counters.ifetch_add((owner, 1), 3) for owner in range(world.size) for _ in range(10)]
    previous = syncyte.wait_all(requests)
    assert all(old % 3 == 0 and 0 <= old < 30 * world.size for old in previous)
    counters.sync()
    assert [counters.load((owner, 1)) for owner in range(world.size)] == [30 * world.size] * world.size
    counters.sync()
    right = (world.rank + 1) % world.size
    counters.ifetch_add((right, 0), -5).wait()
    assert counters.ifetch_add((right, 0)).wait() == -5
    assert counters.icompare_swap((right, 0), -4, 9).wait() == -4
    assert counters.icompare_swap((right, 0), -4, 1).wait() == 9
    with pytest.raises(IndexError, match="outside the tensor"):
        counters.ifetch_add((0, 2))
    with pytest.raises(TypeError, match="desired is 'a'"):
        counters.icompare_swap((right, 0), 9, "a")
    with pytest.raises(TypeError, match="operand is 'a'"):
        counters.ifetch_add(0, "a")
    world.barrier()


def test_signals(world):
    """A reader sees the rows, although their writer does not look at its request."""
    tensor, counters = make(world), syncyte.WholeTensor(world.size, "int32")
    if world.rank == world.size - 1:
        rows, twos = np.arange(11), np.full((11, 5), 2.0)
        requests = [tensor.iput_signal_(rows, twos, counters, reader, 7) for reader in range(world.size)]
    assert counters.wait(world.rank, "==", 7) == 7
    assert (tensor.gather(np.arange(11)) == 2).all()
    world.barrier()  # no counter changes before its reader has seen it
    if world.rank == world.size - 1:
        assert syncyte.wait_all(requests) == [tensor] * world.size
        assert tensor.iput_signal_([], np.empty((0, 5)), counters, 0, 9, op="replace").wait() is tensor
    assert counters.wait(0, "==", 9) == 9
    with pytest.raises(ValueError, match="op"):
        tensor.iput_signal_([0], np.zeros((1, 5)), counters, 0, op="max")
    with pytest.raises(ValueError, match="counters"):
        tensor.iput_signal_([0], np.zeros((1, 5)), np.zeros(1), 0)
    world.barrier()


def test_gradients(world):
    """Each rank updates a row of all ranks; a row that repeats is updated once."""
    table = syncyte.WholeTensor((world.size, 3), torch.float32)
    with pytest.raises(syncyte.UnsupportedError, match="no optimizer"):
        table.iapply_gradients([0], torch.ones(1, 3))
    table.set_optimizer("adam", 0.5)
    right = (world.rank + 1) % world.size
    assert table.iapply_gradients(torch.tensor([right, right]), torch.ones(2, 3)).wait() is table
    table.sync()
    assert table.optimizer_steps().load(0) == world.size
    assert (table.gather([world.rank]) < 0).all()
    with pytest.raises(ValueError, match="gradients has shape"):
        table.iapply_gradients([0], torch.ones(2, 3))
    world.barrier()


def test_requests_keep_tensor_and_arrays(world):
    tensor = make(world)
    request = tensor.igather(np.array([4, 5]))
    adding = tensor.iscatter_add_([1], np.ones((1, 5)))
    del tensor
    gc.collect()
    adding.wait()
    assert np.array_equal(request.wait()[1], expected(5))
    world.barrier()


def test_a_dropped_request_warns(world):
    tensor = make(world)
    request = tensor.igather([1])
    with pytest.warns(ResourceWarning, match="tensor_igather.* was dropped"):
        del request
        gc.collect()
    assert np.array_equal(tensor.igather([2]).wait()[0], expected(2))
    world.barrier()


def test_wrong_use(world):
    tensor = make(world)
    with pytest.raises(IndexError, match="index 11 at position 1"):
        tensor.igather([0, 11])
    with pytest.raises(ValueError, match="out has shape"):
        tensor.igather([0], np.zeros((2, 5)))
    with pytest.raises(TypeError, match="source"):
        tensor.iscatter_([0], np.zeros((1, 5), np.float32))
    with pytest.raises(ValueError, match="source requires grad"):
        tensor.iscatter_add_([0], torch.ones((1, 5), dtype=torch.float64, requires_grad=True))
    world.barrier()
