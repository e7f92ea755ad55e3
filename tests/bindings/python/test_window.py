# SPDX-License-Identifier: BSD-3-Clause
"""Windows: one-sided access, atomics and locks."""

import numpy as np
import pytest
import torch

import syncyte


def test_put_get_and_view(world):
    window = syncyte.Window(8 * (world.rank + 1), name="uneven")
    assert window.size() == 8 * (world.rank + 1)
    assert window.size(0) == 8
    assert window.comm is world
    assert not window.view().any()
    world.barrier()
    target = (world.rank + 1) % world.size
    window.put(target, 0, np.array([world.rank + 0.5]))
    window.flush(target)
    window.fence()
    source = (world.rank - 1) % world.size
    assert window.view(dtype="float64")[0] == source + 0.5
    assert window.get(target, 0, 1, "float64").tolist() == [world.rank + 0.5]
    out = torch.zeros(1, dtype=torch.float64)
    assert window.get(target, 0, out=out) is out
    assert out.item() == world.rank + 0.5
    window.fence()


def test_view_outlives_window(world):
    window = syncyte.Window(64)
    view = window.view(dtype="int64")
    view[:] = world.rank
    del window
    world.collect()
    assert view.tolist() == [world.rank] * 8


def test_empty_parts(world):
    window = syncyte.Window(16 if world.rank == world.size - 1 else 0)
    assert window.view().shape == (16 if world.rank == world.size - 1 else 0,)
    window.put(world.size - 1, 0, np.zeros(0))
    window.fence()


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_accumulate_and_fetch_op(world, dtype):
    window = syncyte.Window(64)
    for _ in range(100):
        window.accumulate(0, 0, np.ones(3, dtype))
        window.fetch_op(0, 32, 2, "sum", dtype)
    window.fence()
    assert window.get(0, 0, 3, dtype).tolist() == [100 * world.size] * 3
    total = window.fetch_op(0, 32, 0, "sum", dtype)
    assert total == 200 * world.size
    assert isinstance(total, float if dtype.startswith("f") else int)
    window.fence()
    window.fetch_op(world.rank, 0, 9, syncyte.Op.REPLACE, dtype)
    window.fence()
    assert window.view(dtype=dtype)[0] == 9


def test_compare_swap(world):
    window = syncyte.Window(8)
    won = window.compare_swap(0, 0, 0, world.rank + 1) == 0
    window.fence()
    assert world.allreduce(int(won)) == 1
    assert (window.fetch_op(0, 0, 0) == world.rank + 1) == won
    window.fence()


FLOAT32 = np.float32(2)
REFUSED = [
    (1.5, None, syncyte.DtypeError, "operand is 1.5; expected an integer, or dtype="),
    (1.5, "int32", syncyte.DtypeError, "operand is 1.5; expected an integer, as int32 holds"),
    (FLOAT32, None, syncyte.DtypeError, "operand is of float32; expected int64, or dtype="),
    (np.int32(1), None, syncyte.DtypeError, "operand is of int32; expected int64, or dtype="),
    (torch.tensor(2.0), None, syncyte.DtypeError, "operand is of float32"),
    (FLOAT32, "int64", syncyte.DtypeError, "expected an integer, as int64 holds"),
    (300, "int8", syncyte.ArgumentError, "operand is 300; expected -128 to 127, as int8 holds"),
    (-1, "uint8", syncyte.ArgumentError, "operand is -1; expected 0 to 255"),
    (2**63, None, syncyte.ArgumentError, "operand is 9223372036854775808"),
    (2, "bool", syncyte.ArgumentError, "operand is 2; expected 0 to 1"),
    (1 + 2j, "float64", syncyte.DtypeError, "expected a real number, as float64 holds"),
    (2**53 + 1, "float64", syncyte.ArgumentError, "an integer that float64 holds exactly"),
    (257, "bfloat16", syncyte.ArgumentError, "an integer that bfloat16 holds exactly"),
    (1e300, "float32", syncyte.ArgumentError, "operand is 1e[+]300; expected a number within the range of float32"),
    (10**400, "float64", syncyte.ArgumentError, "within the range of float64"),
    ("3", None, syncyte.DtypeError, "operand is '3'; expected a number"),
    (None, "float64", syncyte.DtypeError, "operand is None; expected a number"),
    (np.ones(2), "float64", syncyte.DtypeError, "expected a number"),
]


@pytest.mark.parametrize("operand, dtype, error, text", REFUSED)
def test_operands_that_the_type_does_not_hold(world, operand, dtype, error, text):
    window = syncyte.Window(16)
    for call in (window.fetch_op, window.ifetch_op):
        with pytest.raises(error, match=text):
            call(world.rank, 0, operand, dtype=dtype)
        with pytest.raises(error, match=text):
            call(world.rank, 0, operand, "replace", dtype)
    for call in (window.compare_swap, window.icompare_swap):
        for name, values in {"expected": (operand, 1), "desired": (0, operand)}.items():
            with pytest.raises(error, match=text.replace("operand", name)):
                call(world.rank, 0, *values, dtype)
    assert not window.view().any()


@pytest.mark.parametrize(
    "operand, dtype, expected",
    [
        (True, None, 1), (np.int64(-5), None, -5), (torch.tensor(7), None, 7), (np.array([7]), None, 7),
        (np.int16(3), "int64", 3), (2**63, "uint64", 2**63), (FLOAT32, "float32", 2.0), (FLOAT32, "float64", 2.0),
        (2**53, "float64", 2.0**53), (0.1, "float32", float(np.float32(0.1))), (float("inf"), "float32", float("inf")),
    ],
)  # fmt: skip
def test_operands_of_their_own_types(world, operand, dtype, expected):
    window = syncyte.Window(16)
    window.fetch_op(world.rank, 0, operand, "replace", dtype)
    assert window.fetch_op(world.rank, 0, 0, dtype=dtype) == expected
    window.ifetch_op(world.rank, 8, operand, "replace", dtype).wait()
    assert window.ifetch_op(world.rank, 8, 0, dtype=dtype).wait() == expected
    window.fence()


def test_locks_exclude(world):
    window = syncyte.Window(16)
    for _ in range(50):
        with window.lock(0):
            value = window.get(0, 0, 1, "int64")[0]
            window.put(0, 0, np.array([value + 1]))
    world.barrier()
    with window.lock(0, exclusive=False) as locked:
        assert locked.get(0, 0, 1, "int64")[0] == 50 * world.size
    world.barrier()


def test_wrong_use(world):
    window = syncyte.Window(16)
    for call, error in [
        (lambda: window.put(0, 9, np.ones(1)), IndexError),
        (lambda: window.get(0, 0, 3, "float64"), IndexError),
        (lambda: window.put(world.size, 0, np.ones(1)), ValueError),
        (lambda: window.put(-1, 0, np.ones(1)), ValueError),
        (lambda: window.put(0, -8, np.ones(1)), ValueError),
        (lambda: window.flush(-1), ValueError),
        (lambda: window.put(0, 0, np.ones(4)[::2]), ValueError),
        (lambda: window.put(0, 0, "text"), TypeError),
        (lambda: window.get(0, 0), ValueError),
        (lambda: window.accumulate(0, 0, np.ones(1), "mean"), ValueError),
        (lambda: window.fetch_op(0, 0, "a"), TypeError),
        (lambda: window.fetch_op(0, 0, 2**70), ValueError),
        (lambda: window.fetch_op(0, 3, 1), syncyte.Error),
        (lambda: window.compare_swap(0, 0, 0, 1, "float64"), syncyte.Error),
        (lambda: window.size(world.size), ValueError),
        (lambda: window.put(world.rank, 4, window.view(dtype="float32")[:3]), syncyte.ArgumentError),
        (lambda: window.accumulate(world.rank, 4, window.view(dtype="float32")[:3]), syncyte.ArgumentError),
        (lambda: window.view(dtype="complex128").shape == (1,) or 1 / 0, None),
    ]:
        if error is None:
            call()
            continue
        with pytest.raises(error):
            call()
    odd = syncyte.Window(7)
    with pytest.raises(syncyte.ShapeError):
        odd.view(dtype="int64")
    for size in (-1, 2**63, 2**60):
        with pytest.raises((ValueError, MemoryError)):
            syncyte.Window(size if world.rank == world.size - 1 else 8)
    with window.lock(0, exclusive=False), pytest.raises(syncyte.BusyError):
        with window.lock(0, exclusive=False):
            pass
    window.free()
    with pytest.raises(syncyte.HandleError):
        window.fence()


def test_started_operations(world):
    window = syncyte.Window(256)
    target, source = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    put = window.iput(target, 8, np.arange(4.0) + world.rank)
    adds = [window.iaccumulate(0, 64, np.ones(3, "int32")) for _ in range(10)]
    counts = [window.ifetch_op(0, 128, 2) for _ in range(10)]
    olds = [count.wait() for count in counts]
    assert len(set(olds)) == 10
    assert all(old % 2 == 0 for old in olds)
    assert syncyte.wait_all([put, *adds]) == [None] * 11
    window.fence()
    assert window.iget(world.rank, 8, 4, "float64").wait().tolist() == [source + i for i in range(4)]
    out = torch.zeros(3, dtype=torch.int32)
    read = window.iget(0, 64, out=out)
    while not read.test():
        pass
    assert read.wait() is out
    assert out.tolist() == [10 * world.size] * 3
    assert window.fetch_op(0, 128, 0) == 20 * world.size
    window.fence()
    old = window.icompare_swap(0, 128, 20 * world.size, world.rank).wait()
    assert old == 20 * world.size or 0 <= old < world.size
    window.fence()


def test_wrong_started_operations(world):
    window = syncyte.Window(16)
    with pytest.raises(IndexError, match="offset"):
        window.iput(0, 16, np.ones(1))
    with pytest.raises(ValueError, match="exactly one"):
        window.iget(0, 0)
    with pytest.raises(ValueError, match="rank is"):
        window.ifetch_op(world.size, 0, 1)
    window.fence()
