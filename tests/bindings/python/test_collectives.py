# SPDX-License-Identifier: BSD-3-Clause
"""Reductions to one rank, scans, and collectives along an axis, against numpy's own split and concatenate."""

import itertools

import numpy as np
import pytest
import torch

import syncyte

SHAPES = [(7,), (4, 5), (3, 0, 2), (6, 2, 5)]
CASES = [(shape, axis) for shape in SHAPES for axis in range(-len(shape), len(shape))]


def table(shape, dtype=np.float64):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def partitions(extent, size):
    """Lengths of the ranks' parts: even, uneven with empty parts, and all on the last rank."""
    yield syncyte.even_counts(extent, size)
    cuts = [0, *sorted((7 * rank * rank + 3) % (extent + 1) for rank in range(1, size)), extent]
    yield np.diff(cuts).tolist()
    yield [0] * (size - 1) + [extent]


def parts_of(whole, counts, axis):
    return np.split(whole, np.cumsum(counts)[:-1], axis)


def strided(array):
    """The same elements, as a slice of a larger array in column order, one axis backwards."""
    wide = np.full([2 * extent + 1 for extent in array.shape], -1, array.dtype, order="F")
    inner = wide[tuple(slice(1, 2 * extent, 2) for extent in array.shape)][::-1]
    inner[...] = array
    return inner


def last(world):
    return world.rank == world.size - 1


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_even_counts_are_numpys(parts):
    for extent in range(9):
        assert syncyte.even_counts(extent, parts) == [len(part) for part in np.array_split(np.zeros(extent), parts)]
    with pytest.raises(ValueError, match="extent is -1"):
        syncyte.even_counts(-1, parts)
    with pytest.raises(ValueError, match="parts is 0"):
        syncyte.even_counts(3, 0)


def test_counts(world):
    assert world.counts(10 * world.rank) == [10 * rank for rank in range(world.size)]
    for wrong, error in [(-1, ValueError), (2**63, ValueError), (1.5, TypeError)]:
        with pytest.raises(error if last(world) else syncyte.Error, match="count is"):
            world.counts(wrong if last(world) else 1)
    assert world.counts(0) == [0] * world.size


def test_reduce(world):
    total = world.size * (world.size + 1) // 2
    for root in range(world.size):
        result = world.reduce(np.full((2, 3), world.rank + 1), root=root)
        assert (result is None) == (world.rank != root)
        assert result is None or result.tolist() == [[total] * 3] * 2
        values, mine = torch.full((4,), world.rank), [world.rank] * 4
        assert world.reduce(values, "max", root, out=values) is (values if world.rank == root else None)
        assert values.tolist() == ([world.size - 1] * 4 if world.rank == root else mine)
    number = world.reduce(world.rank + 1)
    assert number == (total if world.rank == 0 else None)


def test_scans(world):
    rank, size = world.rank, world.size
    values = np.random.default_rng(1).integers(0, 9, (size, 5))
    up, down = np.cumsum(values, 0), np.cumsum(values[::-1], 0)[::-1]
    assert world.scan(values[rank]).tolist() == up[rank].tolist()
    assert world.scan(values[rank], reverse=True).tolist() == down[rank].tolist()
    assert world.scan(values[rank], "max").tolist() == np.maximum.accumulate(values)[rank].tolist()
    assert world.exscan(values[rank]).tolist() == (up - values)[rank].tolist()
    assert world.exscan(values[rank], reverse=True).tolist() == (down - values)[rank].tolist()
    assert world.exscan(2, "prod") == 2**rank
    assert world.scan(2, "prod", True) == 2 ** (size - rank)
    assert world.exscan(float(rank), "max") == (rank - 1 if rank else -np.inf)
    array = torch.full((3,), rank)
    version = array._version
    assert world.scan(array, out=array) is array
    assert array._version > version
    assert array.tolist() == [rank * (rank + 1) // 2] * 3


@pytest.mark.parametrize("shape, axis", CASES)
def test_gather_and_allgather(world, shape, axis):
    whole = table(shape)
    for counts in partitions(shape[axis], world.size):
        part = parts_of(whole, counts, axis)[world.rank]
        root = sum(counts) % world.size
        for given in (part, strided(part)):
            result = world.gather_along(given, axis, root)
            assert (result is None) == (world.rank != root)
            if result is not None:
                assert result.shape == shape
                assert (result == whole).all()
            np.testing.assert_array_equal(world.allgather_along(given, axis=axis), whole, strict=True)
        out = strided(np.zeros(shape))
        assert world.allgather_along(part, axis, counts=counts, out=out) is out
        np.testing.assert_array_equal(out, whole)
        assert (out.base == -1).sum() == out.base.size - whole.size, "written beside the array"


@pytest.mark.parametrize("shape, axis", CASES)
def test_scatter(world, shape, axis):
    for root in range(world.size):
        whole = strided(table(shape)) if world.rank == root else None
        expected = np.array_split(table(shape), world.size, axis)[world.rank]
        np.testing.assert_array_equal(world.scatter_along(whole, axis, root), expected, strict=True)
        for counts in partitions(shape[axis], world.size):
            expected = parts_of(table(shape), counts, axis)[world.rank]
            out = strided(np.zeros(expected.shape))
            assert world.scatter_along(whole, axis, root, counts=counts, out=out) is out
            np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("shape, axis", CASES)
def test_reduce_scatter(world, shape, axis):
    mine = table(shape) * (world.rank + 1)
    total = table(shape) * (world.size * (world.size + 1) // 2)
    expected = np.array_split(total, world.size, axis)[world.rank]
    np.testing.assert_array_equal(world.reduce_scatter_along(strided(mine), axis), expected, strict=True)
    for counts in partitions(shape[axis], world.size):
        expected = parts_of(table(shape) * world.size, counts, axis)[world.rank]
        np.testing.assert_array_equal(world.reduce_scatter_along(mine, axis, "max", counts=counts), expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_alltoall(world, shape):
    whole, axes = table(shape, np.int32), range(-len(shape), len(shape))
    for before, after in itertools.product(axes, axes):
        for gathered in partitions(shape[before], world.size):
            part = strided(parts_of(whole, gathered, before)[world.rank])
            expected = np.array_split(whole, world.size, after)[world.rank]
            np.testing.assert_array_equal(world.alltoall_along(part, before, after), expected, strict=True)
            for counts in partitions(shape[after], world.size):
                expected = parts_of(whole, counts, after)[world.rank]
                result = world.alltoall_along(part, before, after, scatter_counts=counts, gather_counts=gathered)
                np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.complex64, torch.bool])
def test_torch_tensors_stay_what_they_are(world, dtype):
    whole = (torch.arange(2 * world.size * 3) % 7).to(dtype).reshape(2 * world.size, 3)
    mine = slice(2 * world.rank, 2 * world.rank + 2)
    assert torch.equal(world.allgather_along(whole[mine], axis=0), whole)
    for number in (1.5, np.float32(1.5)):
        joined = world.gather_along(number)
        assert joined is None if world.rank else joined.tolist() == [1.5] * world.size
    assert torch.equal(world.allgather_along(whole.T[:, mine], axis=1), whole.T)
    root = world.size - 1
    assert torch.equal(world.scatter_along(whole if last(world) else None, root=root), whole[mine])
    columns = world.alltoall_along(whole[mine], 0, 1)
    assert columns.dtype == dtype
    assert torch.equal(world.alltoall_along(columns, -1, -2), whole[mine])
    if dtype.is_floating_point:
        assert torch.equal(world.reduce_scatter_along(whole), whole[mine] * world.size)


def test_written_tensors_have_a_new_version(world):
    out = torch.zeros(3, world.size)
    version = out._version
    assert world.allgather_along(torch.ones(3, 1), 1, out=out) is out
    assert out._version > version
    assert out.eq(1).all()


def expect_on_all(world, error, match, call):
    """The last rank gets the error from its own arguments, the others from the agreement."""
    with pytest.raises(error, match=match):
        call(last(world))
    assert world.allreduce(1) == world.size  # the next collective works


@pytest.mark.parametrize(
    "error, match, call",
    [
        (ValueError, "axis is 2", lambda w, odd: w.gather_along(np.ones((2, 2)), 2 if odd else 0)),
        (ValueError, "axis is -3", lambda w, odd: w.allgather_along(np.ones((2, 2)), axis=-3 if odd else 0)),
        (ValueError, "axis is 1", lambda w, odd: w.scatter_along(np.ones(4), 1 if odd else 0)),
        (ValueError, "axis is 1", lambda w, odd: w.reduce_scatter_along(np.ones(4), 1 if odd else 0)),
        (ValueError, "gather_axis is 9", lambda w, odd: w.alltoall_along(np.ones((2, 2)), 9 if odd else 0, 1)),
        (ValueError, "scatter_axis is 9", lambda w, odd: w.alltoall_along(np.ones((2, 2)), 0, 9 if odd else 1)),
        (ValueError, "root is -1", lambda w, odd: w.gather_along(np.ones(2), root=-1 if odd else 0)),
        (ValueError, "root is -1", lambda w, odd: w.scatter_along(np.ones(2), root=-1 if odd else 0)),
        (ValueError, "root is -1", lambda w, odd: w.reduce(np.ones(2), root=-1 if odd else 0)),
        (ValueError, "op is 'mean'", lambda w, odd: w.scan(np.ones(2), "mean" if odd else "sum")),
        (ValueError, "op is 'mean'", lambda w, odd: w.reduce_scatter_along(np.ones(2), op="mean" if odd else "sum")),
        (NotImplementedError, "MAX", lambda w, odd: w.exscan(np.ones(2, np.complex64), "max")),
        (syncyte.ShapeError, "no dimension", lambda w, odd: w.gather_along(np.ones(() if odd else 2))),
        (syncyte.ShapeError, "no dimension", lambda w, odd: w.scatter_along(np.ones(()))),
        (syncyte.ShapeError, "contiguous", lambda w, odd: w.scan(np.ones(4)[:: 2 if odd else 1])),
        (TypeError, "array is a str", lambda w, odd: w.reduce_scatter_along("text" if odd else np.ones(3))),
        (TypeError, "array is a str", lambda w, odd: w.scatter_along("text" if odd else np.ones(3), root=w.size - 1)),
        (
            syncyte.ShapeError,
            "counts has",
            lambda w, odd: w.allgather_along(np.ones(2), axis=0, counts=[2] * (w.size + odd)),
        ),
        (ValueError, "expected 0 or more", lambda w, odd: w.gather_along(np.ones(2), counts=[2 - 4 * odd] * w.size)),
        (ValueError, r"to 2\^63 - 1", lambda w, odd: w.gather_along(np.ones(2), counts=[2**63 if odd else 2] * w.size)),
        (syncyte.ShapeError, "this rank's", lambda w, odd: w.gather_along(np.ones(2 - odd), counts=[2] * w.size)),
        (
            syncyte.DtypeError,
            "out is of float32",
            lambda w, odd: w.scatter_along(np.ones(w.size), out=np.ones(1, np.float32 if odd else np.float64)),
        ),
        (
            syncyte.ShapeError,
            ", the sum of gather_counts",
            lambda w, odd: w.alltoall_along(np.ones(2), 0, 0, scatter_counts=[3] * w.size, out=np.ones(3)),
        ),
    ],
)
def test_error_on_one_rank_is_everybodys(world, error, match, call):
    expect_on_all(world, error, match, lambda odd: call(world, odd))


@pytest.mark.parametrize(
    "match, call",
    [
        ("extent 1", lambda w, odd: w.gather_along(np.ones((2, 3 + odd)))),
        ("dtype", lambda w, odd: w.allgather_along(np.ones(2, np.float32 if odd else np.float64), axis=0)),
        ("root", lambda w, odd: w.scatter_along(np.ones(2), root=int(odd))),
        ("axis", lambda w, odd: w.reduce_scatter_along(np.ones((2, 2)), int(odd))),
        ("reverse", lambda w, odd: w.exscan(np.ones(2), reverse=odd)),
        ("op", lambda w, odd: w.reduce(np.ones(2), "max" if odd else "sum")),
        ("counts", lambda w, odd: w.scatter_along(np.ones(2), counts=[0] * (w.size - 1) + [2] if odd else None)),
        ("comm_counts", lambda w, odd: w.gather_along(np.ones(2), counts=[2] * w.size if odd else None)),
    ],
)
def test_ranks_that_disagree(world, match, call):
    if world.size == 1:
        pytest.skip("one rank agrees with itself")
    expect_on_all(world, syncyte.MismatchError, match, lambda odd: call(world, odd))


def test_counts_of_rows_may_be_an_iterator(world):
    ones = [1] * world.size
    assert world.allgatherv(np.array([world.rank]), iter(ones)).tolist() == list(range(world.size))
    sent = np.full(world.size, world.rank)
    for counts in ((iter(ones),), (iter(ones), iter(ones))):
        assert world.alltoallv(sent, *counts).tolist() == list(range(world.size))


def test_relocate_rows(world):
    """Particles with numbers: each goes to the rank that its number says, and stays whole."""
    count = 3 * world.rank + 2
    numbers = world.rank * 100 + np.arange(count)
    positions = strided(np.stack([numbers, numbers * 0.5], axis=1).astype(float))
    destinations = numbers % (world.size + 1)
    destinations[destinations == world.size] = syncyte.PROC_NULL
    got, of = world.relocate_rows([positions, numbers], destinations)
    everything = np.concatenate([rank * 100 + np.arange(3 * rank + 2) for rank in range(world.size)])
    mine = everything[everything % (world.size + 1) == world.rank]
    assert np.array_equal(of, sorted(mine, key=lambda number: (number // 100 != world.rank, number)))
    assert np.array_equal(got, np.stack([of, of * 0.5], axis=1))
    alone = world.relocate_rows(torch.from_numpy(numbers), torch.full((count,), world.rank))
    assert isinstance(alone, torch.Tensor)
    assert np.array_equal(alone, numbers)
    assert world.relocate_rows((numbers,), np.full(count, syncyte.PROC_NULL))[0].shape == (0,)


def test_wrong_rows_to_relocate(world):
    rows = np.zeros((4, 2))
    with pytest.raises(syncyte.ArgumentError, match=rf"destinations\[1\] is {world.size}; expected 0 to"):
        world.relocate_rows(rows, [0, world.size if last(world) else 0, 0, 0])
    with pytest.raises(syncyte.ShapeError, match="4 rows, one for each destination"):
        world.relocate_rows(rows[: 3 if last(world) else 4], [0] * 4)
    with pytest.raises(syncyte.ArgumentError, match=r"destinations\[3\] is 4294967296"):
        world.relocate_rows(rows, [0, 0, 0, 2**32 if last(world) else 0])
    with pytest.raises(syncyte.DtypeError):
        world.relocate_rows(rows, np.zeros(4) if last(world) else [0] * 4)
    with pytest.raises(syncyte.ArgumentError, match="arrays is empty; expected an array or more"):
        world.relocate_rows([], [])
    with pytest.raises(syncyte.ArgumentError, match="gradient"):
        world.relocate_rows(torch.zeros(1, requires_grad=True), [0])
    if world.size > 1:
        with pytest.raises(syncyte.MismatchError, match="dtype"):
            world.relocate_rows(rows.astype("float32" if last(world) else "float64"), [0] * 4)
