# SPDX-License-Identifier: BSD-3-Clause
"""Whole tensors: creation, gather, scatter, boxes, counters, against a numpy array that all ranks have (the oracle)."""

import ctypes
import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest
import torch

import syncyte
from syncyte import DType

SHAPE = (11, 2, 3)


def oracle(shape=SHAPE, dtype=np.float64):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def filled(world, shape=SHAPE, dtype="float64", **options):
    """A tensor in which every rank has written its rows of the oracle."""
    tensor = syncyte.WholeTensor(shape, dtype, comm=world, **options)
    rows = tensor.rows()
    tensor.local_array[:] = oracle(shape, tensor.numpy_dtype)[rows.start : rows.stop]
    tensor.sync()
    return tensor


def uneven(world):
    """Number of this rank's rows: the last rank has most; of several ranks, rank 0 has none."""
    return SHAPE[0] - sum(range(world.size - 1)) if world.rank == world.size - 1 else world.rank


@pytest.mark.parametrize("dtype", list(DType))
def test_every_element_type(world, dtype):
    tensor = syncyte.WholeTensor((7, 2), dtype, name="all types")
    assert tensor.dtype == dtype
    assert tensor.shape == (7, 2)
    assert tensor.ndim == 2
    assert len(tensor) == 7
    assert tensor.comm is world
    assert not tensor.local.any()
    assert tensor.local.dtype == tensor.torch_dtype
    assert tensor.local_array.dtype == tensor.numpy_dtype
    tensor.local[:] = 1
    tensor.sync()
    assert bool((tensor.gather(torch.tensor([0, 6, 3])) == 1).all())
    world.barrier()
    index = torch.tensor([world.rank], dtype=torch.int32)
    tensor.scatter_add_(index, torch.ones(1, 2, dtype=tensor.torch_dtype))
    tensor.sync()
    expected = 1 if dtype == DType.BOOL else 2
    assert bool((tensor[: world.size] == torch.tensor(expected, dtype=tensor.torch_dtype)).all())


def test_default_partition(world):
    tensor = syncyte.WholeTensor(SHAPE)
    sizes = [SHAPE[0] // world.size + (rank < SHAPE[0] % world.size) for rank in range(world.size)]
    assert [len(tensor.rows(rank)) for rank in range(world.size)] == sizes
    assert tensor.rows() == tensor.rows(world.rank)
    assert tensor.rows(world.size - 1).stop == SHAPE[0]
    assert tensor.local.shape == (sizes[world.rank], 2, 3)


def test_owner(world):
    tensor = syncyte.WholeTensor(SHAPE, local_rows=uneven(world))
    expected = [rank for rank in range(world.size) for _ in tensor.rows(rank)]
    assert [tensor.owner(row) for row in range(SHAPE[0])] == expected
    assert isinstance(tensor.owner(3), int)
    owners = tensor.owner(np.arange(SHAPE[0], dtype=np.int32).reshape(1, -1))
    assert owners.dtype == np.int32
    assert owners.tolist() == [expected]
    assert tensor.owner(torch.tensor([[0], [10]])).tolist() == [[expected[0]], [expected[-1]]]
    assert tensor.owner(torch.tensor(10)).shape == ()
    assert tensor.owner([]).shape == (0,)


@pytest.mark.parametrize("rows", ["equal", "uneven"])
def test_gather(world, rows):
    tensor = filled(world, local_rows=None if rows == "equal" else uneven(world))
    whole = oracle()
    index = np.array([[10, 0, 3], [3, 7, 10]])
    result = tensor.gather(index)
    assert isinstance(result, np.ndarray)
    assert result.shape == (2, 3, 2, 3)
    np.testing.assert_array_equal(result, whole[index])
    for dtype in (torch.int32, torch.int64):
        result = tensor.gather(torch.from_numpy(index).to(dtype))
        assert isinstance(result, torch.Tensor)
        np.testing.assert_array_equal(result.numpy(), whole[index])
    np.testing.assert_array_equal(tensor.gather([4, 4]), whole[[4, 4]])
    np.testing.assert_array_equal(tensor.gather(5), whole[5])
    assert tensor.gather([]).shape == (0, 2, 3)
    assert tensor.gather(torch.zeros(0, dtype=torch.long)).shape == (0, 2, 3)
    world.barrier()


def test_gather_into_out(world):
    tensor = filled(world)
    index = torch.tensor([1, 9])
    out = torch.empty(2, 2, 3, dtype=torch.float64)
    version = out._version
    assert tensor.gather(index, out=out) is out
    assert out._version > version
    np.testing.assert_array_equal(out.numpy(), oracle()[[1, 9]])
    array = np.empty((2, 2, 3))
    assert tensor.gather(index, array) is array
    world.barrier()


def test_large_gather_is_recycled(world):
    tensor = filled(world, (50, 1024))
    index = np.arange(49, -1, -1)
    np.testing.assert_array_equal(tensor.gather(index), oracle((50, 1024))[::-1])
    hits = syncyte.memory.stats().hits
    tensor.gather(index)
    assert syncyte.memory.stats().hits > hits
    world.barrier()


def test_scatter(world):
    tensor = syncyte.WholeTensor(SHAPE, "float64")
    mine = np.arange(world.rank, SHAPE[0], world.size)[::-1].copy()
    assert tensor.scatter_(mine, oracle()[mine]) is tensor
    tensor.sync()
    np.testing.assert_array_equal(tensor[:], oracle())
    world.barrier()
    if world.rank == 0:
        tensor.scatter_(torch.tensor([2, 2]), torch.stack([torch.zeros(2, 3), torch.ones(2, 3)]).double())
        tensor.flush()
    tensor.sync()
    assert bool((tensor[2] == 1).all())


def test_scatter_add_is_exact(world):
    tensor = syncyte.WholeTensor((5, 8), "float32")
    index = np.arange(1000) % 5
    source = np.ones((1000, 8), np.float32)
    for _ in range(10):
        tensor.scatter_add_(index, source)
    tensor.sync()
    assert (tensor.gather(np.arange(5)) == 2000 * world.size).all()
    world.barrier()


def test_boxes(world):
    tensor = filled(world)
    whole = oracle()
    np.testing.assert_array_equal(tensor.get_box((2, 0, 1), (7, 2, 2)), whole[2:9, :, 1:])
    out = np.zeros((3, 4, 7)).transpose(2, 0, 1)[:, :2, ::2]
    assert tensor.get_box((4, 0, 0), out=out) is out
    np.testing.assert_array_equal(out, whole[4:11, :, :2])
    assert tensor.get_box((11, 0, 0), (0, 2, 3)).shape == (0, 2, 3)
    world.barrier()
    if world.rank == 0:
        tensor.put_box((1, 1, 0), -whole[1:10, 1:, ::-1])
    tensor.sync()
    whole[1:10, 1:] = -whole[1:10, 1:, ::-1]
    np.testing.assert_array_equal(tensor[:], whole)


def test_accumulate_box(world):
    tensor = filled(world)
    whole = oracle()
    source = np.arange(24.0).reshape(4, 2, 3).transpose(0, 1, 2)[:, ::-1, :2]
    tensor.accumulate_box((2, 0, 1), source)
    tensor.accumulate_box((2, 0, 1), torch.from_numpy(source.copy()), alpha=-0.25)
    tensor.sync()
    whole[2:6, :, 1:] += 0.75 * world.size * source
    np.testing.assert_array_equal(tensor[:], whole)
    world.barrier()
    tensor.accumulate_box((0, 0, 0), np.full((11, 1, 1), -1.0), op="min")
    tensor.sync()
    assert (tensor[:, 0, 0] == -1).all()


@pytest.mark.parametrize("dtype", list(DType))
def test_accumulate_box_of_every_element_type(world, dtype):
    tensor = syncyte.WholeTensor((5, 3), dtype)
    ones = torch.ones(5, 1, dtype=tensor.torch_dtype)
    tensor.accumulate_box((0, 1), ones, alpha=1 if dtype == DType.BOOL else 3)
    tensor.sync()
    expected = torch.tensor(3 * world.size, dtype=tensor.torch_dtype)
    assert (tensor.gather(torch.arange(5))[:, 1] == expected).all()
    world.barrier()


def test_accumulate_box_wrong_use(world):
    tensor = syncyte.WholeTensor((4, 2), "int32")
    ones = np.ones((2, 2), np.int32)
    for call, error, text in (
        (lambda: tensor.accumulate_box((3, 0), ones), syncyte.OutOfRangeError, "outside"),
        (lambda: tensor.accumulate_box((0,), ones), syncyte.ShapeError, "dimensions"),
        (lambda: tensor.accumulate_box((0, 0), ones, op="replace"), syncyte.ArgumentError, "op is SYNCYTE_OP_REPLACE"),
        (lambda: tensor.accumulate_box((0, 0), ones, alpha=0.5), syncyte.DtypeError, "alpha is 0.5"),
        (lambda: tensor.accumulate_box((0, 0), ones, alpha=2**40), syncyte.ArgumentError, "alpha is"),
        (lambda: tensor.accumulate_box((0, 0), ones, alpha="3"), syncyte.DtypeError, "alpha is '3'; expected a number"),
        (lambda: tensor.accumulate_box((0, 0), ones.astype("f4")), syncyte.DtypeError, "float32"),
    ):
        with pytest.raises(error, match=text):
            call()
    assert not tensor.gather(np.arange(4)).any()
    world.barrier()


def test_locate_box(world):
    tensor = syncyte.WholeTensor(SHAPE, local_rows=uneven(world))
    parts = tensor.locate_box((1, 0, 1), (9, 2, 1))
    assert [row for _, rows in parts for row in rows] == list(range(1, 10))
    for rank, rows in parts:
        assert len(rows) > 0
        assert (tensor.owner(np.array(rows)) == rank).all()
    assert tensor.locate_box((3, 0, 0), (4, 0, 1)) == []
    with pytest.raises(syncyte.OutOfRangeError):
        tensor.locate_box((3, 0, 0), (9, 1, 1))
    with pytest.raises(syncyte.ShapeError):
        tensor.locate_box((3, 0, 0), (-1, 1, 1))


@pytest.mark.parametrize("wraps", [False, True])
def test_lock(world, wraps):
    if wraps:
        tensor = syncyte.WholeTensor.wrap(np.zeros((1, 2)), row_locks=True)
    else:
        tensor = syncyte.WholeTensor((2, 2), "float64", row_locks=True)
    for _ in range(10):
        with tensor.lock(0) as locked:
            assert locked is tensor
            tensor.scatter_([0], tensor.gather(np.array([0])) + 1)
    tensor.sync()
    assert (tensor.gather(np.array([0])) == 10 * world.size).all()
    with pytest.raises(syncyte.OutOfRangeError), tensor.lock(world.size + 2):
        pass
    with pytest.raises(syncyte.UnsupportedError, match="row_locks"), syncyte.WholeTensor((2,)).lock(0):
        pass


def test_put_signal(world):
    tensor, counters = syncyte.WholeTensor((6, 4), "float32"), syncyte.WholeTensor((1, 2), "int32")
    if world.rank == world.size - 1:
        tensor.put_signal_(np.arange(6), np.full((6, 4), 2.0, np.float32), counters, (0, 1))
    assert counters.wait(1, ">=", 1) == 1
    assert (tensor.gather(np.arange(6)) == 2).all()
    counters.sync()
    if world.rank == 0:
        tensor.put_signal_([], np.empty((0, 4), np.float32), counters, 1, 7, op="replace")
    assert counters.wait(1, "!=", 1) == 7
    row = np.ones((1, 4), np.float32)
    with pytest.raises(syncyte.ArgumentError, match="op is"):
        tensor.put_signal_([0], row, counters, 0, op="max")
    with pytest.raises(syncyte.ArgumentError, match="counters is"):
        tensor.put_signal_([0], row, np.zeros(1), 0)
    with pytest.raises(syncyte.DtypeError):
        tensor.put_signal_([0], row, tensor, 0)
    world.barrier()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_deterministic_adds(world, dtype):
    tensor = syncyte.WholeTensor((3, 5), dtype, deterministic=True)
    torch.manual_seed(1)
    source = torch.randn(40, 5, dtype=torch.float64) * 10.0 ** torch.randint(-4, 4, (40, 1))
    source = source.to(tensor.torch_dtype)
    index = torch.arange(40) % 3
    results = []
    for shift in range(3):  # other ranks add each row, in another order
        order = torch.randperm(40)
        for place in order[(order + shift) % world.size == world.rank].tolist():
            tensor.scatter_add_(index[place : place + 1], source[place : place + 1])
        if world.rank == shift % world.size:
            tensor.accumulate_box((0, 1), source[:3, 1:3])
        tensor.sync()
        results.append(tensor.gather(torch.arange(3)))
        world.barrier()
        tensor.local.zero_()
        tensor.sync()
    for result in results[1:]:
        assert torch.equal(result, results[0])
    assert results[0].abs().sum() > 0


def test_assignment(world):
    tensor = filled(world)
    whole = oracle()
    if world.rank == world.size - 1:
        tensor[3] = 5
        tensor[-2:, 0] = np.array([1.0, 2, 3])
        tensor[torch.tensor([0, 6])] = torch.tensor([[[9.0]], [[8.0]]])
        tensor[np.arange(11) == 4] = 0
        tensor[5, 1, 2] = -1
    tensor.sync()
    whole[3] = 5
    whole[-2:, 0] = [1, 2, 3]
    whole[0], whole[6], whole[4], whole[5, 1, 2] = 9, 8, 0, -1
    np.testing.assert_array_equal(tensor[:], whole)


def test_counters(world):
    tensor = syncyte.WholeTensor((world.size, 4), "int64")
    seen = [tensor.fetch_add((0, 1)) for _ in range(100)]
    assert seen == sorted(seen)
    tensor.sync()
    assert tensor.load((0, 1)) == tensor.load(1) == 100 * world.size
    winner = tensor.compare_swap((-1, 2), 0, world.rank + 1) == 0
    tensor.sync()
    assert world.allreduce(int(winner)) == 1
    assert (tensor.load((-1, 2)) == world.rank + 1) == winner
    assert tensor.compare_swap((-1, 2), -5, 1) == tensor.load((-1, 2))
    tensor.store((world.rank, 3), -world.rank - 2**40)
    tensor.sync()
    assert tensor[:, 3].tolist() == [-rank - 2**40 for rank in range(world.size)]
    narrow = syncyte.WholeTensor((1,), "int32")
    assert narrow.fetch_add(0, 3) in range(0, 3 * world.size, 3)


def test_counters_refuse_what_their_type_does_not_hold(world):
    tensor = syncyte.WholeTensor((2,), "int32")
    rows = syncyte.WholeTensor((2,), "float32")
    calls = {
        "fetch_add": lambda value: tensor.fetch_add(0, value),
        "ifetch_add": lambda value: tensor.ifetch_add(0, value).wait(),
        "store": lambda value: tensor.store(0, value),
        "compare_swap, expected": lambda value: tensor.compare_swap(0, value, 1),
        "compare_swap, desired": lambda value: tensor.compare_swap(0, 0, value),
        "icompare_swap": lambda value: tensor.icompare_swap(0, 0, value).wait(),
        "wait": lambda value: tensor.wait(0, "!=", value, timeout=5),
        "put_signal_": lambda value: rows.put_signal_([], np.zeros(0, "f4"), tensor, 0, value),
        "iput_signal_": lambda value: rows.iput_signal_([], np.zeros(0, "f4"), tensor, 0, value).wait(),
    }
    for name, call in calls.items():
        for value in (2**31, -(2**31) - 1, 2**64 + 1, 2**63):
            with pytest.raises(syncyte.ArgumentError, match=str(value)):
                call(value), name
        for value in (1.5, np.float32(2), "3", 1j, None):
            with pytest.raises(syncyte.DtypeError, match="expected an integer"):
                call(value), name
    for element in (2**64, -(2**64), 2**63):
        with pytest.raises((syncyte.ArgumentError, syncyte.OutOfRangeError), match=str(element)):
            tensor.fetch_add(element)
    assert tensor.load(0) == 0
    assert tensor.wait(0, "==", np.int64(0), timeout=0) == 0


def test_strided_rows_are_copied(world):
    tensor = syncyte.WholeTensor((6, 2), "float64")
    tensor.local_array[:] = [[row, -row] for row in tensor.rows()]
    tensor.sync()
    for index in (np.arange(6)[::2], torch.arange(6)[::2], np.arange(6, dtype=np.int32)[::-2]):
        assert np.asarray(tensor.gather(index))[:, 0].tolist() == np.asarray(index).tolist()
        assert np.asarray(tensor.igather(index).wait())[:, 0].tolist() == np.asarray(index).tolist()
    world.barrier()
    tensor.scatter_add_(np.arange(6)[::3], np.ones((2, 2)))
    tensor.sync()
    assert tensor[:, 0].tolist() == [world.size, 1, 2, 3 + world.size, 4, 5]


def test_publish_and_wait(world):
    """Rank 0 writes data, then a flag. The other ranks wait for the flag and must then see the data."""
    flags = syncyte.WholeTensor((1,), "int64")
    data = syncyte.WholeTensor((64, 128), "float64")
    for step in range(1, 6):
        if world.rank == 0:
            data[:] = step
            flags.store(0, step)
        else:
            assert flags.wait(0, ">=", step, timeout=15) == step
            assert (data.gather(np.arange(64)) == step).all()
        world.barrier()


def test_wait_lets_other_threads_run(world):
    tensor = syncyte.WholeTensor((1,), "int32", comm=syncyte.COMM_SELF)
    found = []
    thread = threading.Thread(target=lambda: found.append(tensor.wait(0, "!=", 0, timeout=15)))
    thread.start()
    time.sleep(0.6)  # beyond the interval at which a wait looks for signals
    tensor.store(0, 7)
    thread.join()
    assert found == [7]
    begin = time.monotonic()
    with pytest.raises(TimeoutError, match="element 0 .* is 7; it was not == 8"):
        tensor.wait(0, "==", 8, timeout=0.3)
    assert 0.25 < time.monotonic() - begin < 5
    assert tensor.wait(0, "<=", 7, timeout=0) == 7


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_wrapped_arrays(world, library):
    rows = world.rank + 1
    mine = np.full((rows, 3), float(world.rank))
    given = mine if library == "numpy" else torch.from_numpy(mine)
    tensor = syncyte.WholeTensor.wrap(given, name="mine")
    assert tensor.shape == (sum(range(world.size + 1)), 3)
    assert (tensor.local is given) == (library == "torch")
    assert tensor.local_array.ctypes.data == mine.ctypes.data
    tensor.sync()
    expected = np.concatenate([np.full((rank + 1, 3), float(rank)) for rank in range(world.size)])
    np.testing.assert_array_equal(np.asarray(tensor.gather(np.arange(len(expected)))), expected)
    tensor.sync()
    mine[0, 0] = -5
    tensor.sync()
    assert tensor.gather([tensor.rows(0).start])[0, 0] == -5
    assert isinstance(tensor[0], torch.Tensor if library == "torch" else np.ndarray)
    tensor.sync()


def test_a_wrapped_array_lives_as_long_as_its_tensor_and_no_longer(world):
    array = np.ones((2, 3))
    lives = weakref.ref(array)
    tensor = syncyte.WholeTensor.wrap(array)
    del array
    tensor.sync()
    assert lives() is not None
    del tensor
    gc.collect()
    assert lives() is not None  # other ranks may still read it
    world.collect()
    syncyte.WholeTensor((1,)).sync()
    gc.collect()
    assert lives() is None


def test_a_wrapped_array_outlives_an_interrupted_wrap(world, monkeypatch):
    from syncyte import _library

    array, core, made = np.ones((2, 3)), _library.core(), []
    lives = weakref.ref(array)

    class Interrupted:
        def output(self, name, *arguments):
            made.append(core.output(name, *arguments))
            raise KeyboardInterrupt

    monkeypatch.setattr(_library, "core", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        syncyte.WholeTensor.wrap(array, comm=world)
    monkeypatch.undo()
    del array
    syncyte.WholeTensor((1,)).sync()
    gc.collect()
    assert lives() is not None  # other ranks may read it
    core.syncyte_tensor_destroy(ctypes.c_void_p(made[0]))
    world.collect()
    syncyte.WholeTensor((1,)).sync()
    gc.collect()
    assert lives() is None


def test_a_refused_array_is_let_go_of(world):
    array = np.ones((2, 3), order="F" if world.rank == world.size - 1 else "C")
    lives = weakref.ref(array)
    with pytest.raises(syncyte.ShapeError, match="contiguous"):
        syncyte.WholeTensor.wrap(array)
    unequal = np.ones((2, 3 + (world.rank > 0)))
    lives_unequal = weakref.ref(unequal)
    if world.size > 1:
        with pytest.raises(syncyte.MismatchError, match="shape"):
            syncyte.WholeTensor.wrap(unequal)
    del array, unequal
    syncyte.WholeTensor((1,)).sync()
    gc.collect()
    assert lives() is None
    assert lives_unequal() is None


def test_two_threads_let_go_of_a_wrapped_array_once():
    from syncyte import _tensor_memory

    class Released:  # while one thread reads `value`, another one calls _forget_released()
        asked = False

        @property
        def value(self):
            if not self.asked:
                self.asked = True
                other = threading.Thread(target=_tensor_memory._forget_released)
                other.start()
                other.join()
            return 1

    _tensor_memory._remember(Released(), None)
    (entry,) = (one for one in _tensor_memory._wrapped.values() if isinstance(one[0], Released))
    held = sys.getrefcount(entry)
    _tensor_memory._forget_released()
    assert sys.getrefcount(entry) == held - 2  # the table's and the library's


def test_kinds_of_results(world):
    made = {
        torch.float32: torch.Tensor,
        np.float32: np.ndarray,
        np.dtype("f4"): np.ndarray,
        "float32": torch.Tensor,  # torch is imported
    }
    for dtype, kind in made.items():
        tensor = syncyte.WholeTensor((4, 2), dtype)
        assert isinstance(tensor[1:3], kind)
        assert isinstance(tensor.gather([1]), kind)
        assert isinstance(tensor[np.array([1])], np.ndarray)
        assert isinstance(tensor[torch.tensor([1])], torch.Tensor)


def test_from_handle_of_another_library(world):
    tensor = filled(world)
    from syncyte import _library

    _library.core().syncyte_tensor_retain(tensor.handle)
    other = syncyte.WholeTensor.from_handle(tensor.handle)
    tensor.free()
    assert other.shape == SHAPE
    assert other.dtype == DType.FLOAT64
    assert other.comm.size == world.size
    np.testing.assert_array_equal(other[3], oracle()[3])
    world.barrier()


def test_optimizer_of_numpy_rows(world):
    """Rank 0 updates rows of all ranks; a row that repeats is updated once, by the sum of its gradients."""
    table = syncyte.WholeTensor((3 * world.size, 2), np.float32, comm=world)
    assert table.set_optimizer("adagrad", 1.0, eps=0.0) is table
    if world.rank == 0:
        table.apply_gradients([3 * world.size - 1, 0, 0], np.array([[2, -2], [1, 1], [2, 2]], "f4"))
    table.sync()
    assert table[-1].tolist() == [-1, 1]
    assert table[0].tolist() == [-1, -1]
    assert not table[1].any()
    state = table.optimizer_state()
    assert isinstance(state[:], np.ndarray)
    assert state.shape == (3 * world.size, 2, 2)  # 8-byte rows: a spare slot
    assert state[0, 0].tolist() == [9, 9]
    assert table.optimizer_steps() is None
    table.sync()
    table.set_optimizer("adam", 0.5)
    table.set_learning_rate(0.25)
    table.apply_gradients([world.rank], np.ones((1, 2), "f4"))
    table.sync()
    assert table.optimizer_steps().load(0) == world.size
    with pytest.raises(ValueError, match="gradients has shape"):
        table.apply_gradients([0], np.ones((2, 2), "f4"))
    with pytest.raises(TypeError, match="gradients is of float64; expected float32"):
        table.apply_gradients([0], np.ones((1, 2)))
    with pytest.raises(TypeError, match="momentum"):
        table.set_optimizer("sgd", 0.5, momentum="much")
    with pytest.raises(ValueError, match="lr"):
        table.set_optimizer("sgd", -1.0)
    with pytest.raises(ValueError, match="eps"):
        table.set_optimizer("adam", 1.0, eps=-0.5)
    with pytest.raises(ValueError, match="one of sgd, adagrad, adam"):
        table.set_optimizer("rmsprop", 1.0)
