# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of listed points: an unstructured mesh, against the whole mesh."""

import numpy as np
import pytest
import torch

import syncyte
import syncyte.checkpoint
import syncyte.torch
from operators import needs_operators
from syncyte import Bundle, Layout

N = 40
EDGES = np.array([(i, j) for i in range(N) for j in range(i) if (i * 7 + j * 3) % 11 == 0])


def partition(world, seed):
    """A rank's edges and their points in random order: points between ranks are on several of them."""
    ranks = np.random.default_rng(seed).integers(0, world.size, len(EDGES))
    mine = EDGES[ranks == world.rank]
    points = np.unique(mine)
    isolated = np.setdiff1d(np.arange(N), np.unique(EDGES))
    if world.rank == world.size - 1:
        points = np.concatenate([points, isolated])
    return mine, np.random.default_rng(seed + world.rank).permutation(points)


def values(points, width=None):
    numbers = np.asarray(points, dtype="float64")
    return numbers if width is None else numbers[:, None] * 10 + np.arange(width)


def test_sum_assembles_a_mesh(world):
    for seed in range(4):
        edges, points = partition(world, seed)
        place = {point: at for at, point in enumerate(points)}
        degree = np.zeros(len(points))
        for i, j in edges:
            degree[place[i]] += 1
            degree[place[j]] += 1
        state = Bundle(world)
        state.add("degree", Layout.indices(world, N, points), degree)
        state.sum()
        assert np.array_equal(degree, np.bincount(EDGES.ravel(), minlength=N)[points])


def test_ghosts_and_their_adjoint(world):
    for seed in range(4):
        points = partition(world, seed)[1]
        owned = points[points % world.size == world.rank] if world.size > 1 else points
        owned = np.concatenate([owned, np.setdiff1d(np.arange(world.rank, N, world.size), owned)])
        ghosts = np.setdiff1d(points, owned)
        layout = Layout.indices(world, (N, 3), np.concatenate([owned, ghosts]), ghosts=len(ghosts))
        field = np.full((len(owned) + len(ghosts), 3), -1.0)
        field[: len(owned)] = values(owned, 3)
        state = Bundle(world)
        state.add("field", layout, field)
        state.exchange()
        assert np.array_equal(field, values(np.concatenate([owned, ghosts]), 3))
        field[:] = 1
        state.accumulate()
        held = world.allreduce(np.bincount(np.concatenate([owned, ghosts]), minlength=N))
        assert np.array_equal(field[: len(owned), 0], held[owned])
        assert not field[len(owned) :].any()


@pytest.mark.parametrize("truth", ["lower", "upper"])
def test_exchange_takes_the_right_copy(world, truth):
    _, points = partition(world, 3)
    field = np.full(len(points), float(world.rank))
    state = Bundle(world)
    state.add("field", Layout.indices(world, N, points, truth=truth), field)
    state.exchange()
    has = np.zeros((world.size, N), dtype=int)
    has[world.rank, points] = 1
    has = world.allreduce(has)
    expected = has.argmax(0) if truth == "lower" else world.size - 1 - has[::-1].argmax(0)
    assert np.array_equal(field, expected[points])


def test_relocation(world):
    for seed in range(4):
        points, others = partition(world, seed)[1], partition(world, seed + 10)[1]
        before, after = Layout.indices(world, (N, 2), points), Layout.indices(world, (N, 2), others, truth="upper")
        rows = Layout.mesh(world, (N, 2))
        assert np.array_equal(before.relocate(values(points, 2), after), values(others, 2))
        block = rows.blocks_of(world.rank)[0]
        own = np.arange(block.first[0], block.first[0] + block.shape[0])
        assert np.array_equal(before.relocate(values(points, 2), rows, buffer_bytes=2000), values(own, 2))
        columns = Layout.mesh(world, (N, 2), axes=[1])
        there = columns.relocate(rows.relocate(values(own, 2), columns), after)
        assert np.array_equal(there, values(others, 2))
        box = Layout.mesh(world, (5, 1), [1])
        part = before.relocate(values(points, 2), box, first=(7, 1))
        if world.rank == 0:
            assert np.array_equal(part, values(np.arange(7, 12), 2)[:, 1:])


def test_several_arrays_and_none(world):
    points = None if world.rank else [np.arange(0, N, 2), [*range(N - 1, 0, -2), 0, 4, 2]]
    layout = Layout.indices(world, N, points, ghosts=0 if world.rank else [0, 3])
    assert [block.shape for block in layout.blocks_of(0)] == [(N // 2,), (N // 2 + 3,)]
    assert "no block" in layout.describe() or world.size == 1


def test_integers_of_any_type(world):
    for points in (
        range(N),
        np.arange(N, dtype="uint8"),
        torch.arange(N, dtype=torch.int16),
        np.arange(2 * N)[::2] // 2,
    ):
        assert Layout.indices(world, N, points).blocks_of(0)[0].shape == (N,)
    assert Layout.indices(world, 0, []).blocks_of(0)[0].shape == (0,)


def test_a_rank_without_points_of_its_own(world):
    """Its part of a whole tensor has no rows, but the extents of the others."""
    layout = Layout.indices(world, (N, 3), range(N))
    field = syncyte.WholeTensor.by_layout(layout, "float32", comm=world)
    assert field.local_array.shape == (N if world.rank == 0 else 0, 3)
    world.barrier()


def test_several_arrays(world):
    even, odd = np.arange(0, N, 2), np.arange(N - 1, 0, -2)
    layout = Layout.indices(world, N, [even, odd] if world.rank == 0 else None)
    whole = layout.relocate(
        [values(even), values(odd)] if world.rank == 0 else None, Layout.mesh(world, (N,), [1]), dtype="float64"
    )
    if world.rank == 0:
        assert np.array_equal(whole, values(np.arange(N)))


def test_checkpoint(world, comm, tmp_path):
    path = comm.bcast(str(tmp_path / "mesh.h5"))
    points, others = partition(world, 1)[1], partition(world, 2)[1]
    state = Bundle(world)
    state.add("field", Layout.indices(world, (N, 3), points), values(points, 3))
    syncyte.checkpoint.save(path, {}, bundle=state, comm=world)
    again = Bundle(world)
    field = np.zeros((len(others), 3))
    again.add("field", Layout.indices(world, (N, 3), others), field)
    syncyte.checkpoint.load(path, bundle=again, comm=world)
    assert np.array_equal(field, values(others, 3))
    assert np.array_equal(syncyte.checkpoint.load(path, comm=world)["field"], values(np.arange(N), 3))


def test_whole_tensor(world):
    points = partition(world, 5)[1]
    layout = Layout.indices(world, (N, 2), points)
    field = syncyte.WholeTensor.by_layout(layout, "float64", slots=2, comm=world, name="field")
    field.publish(values(points, 2), 1)
    taken, step = field.take((3, 1), (20, 1), at_least=1, timeout=30)
    assert step == 1
    assert np.array_equal(np.asarray(taken), values(np.arange(3, 23), 2)[:, 1:])
    world.barrier()


@needs_operators
def test_gradients(world):
    points, others = partition(world, 1)[1], partition(world, 2)[1]
    before, after = Layout.indices(world, N, points), Layout.indices(world, N, others)
    x = torch.from_numpy(values(points)).requires_grad_()
    y = syncyte.torch.layout_relocate(before, x, after)
    y.sum().backward()
    held = world.allreduce(np.bincount(others, minlength=N))
    grad = x.grad.numpy()
    owners = world.allreduce(np.where(np.isin(np.arange(N), points), world.rank, world.size), op="min")
    assert np.array_equal(grad, np.where(owners[points] == world.rank, held[points], 0))


def test_wrong_lists(world):
    everything = list(range(N))
    last = world.size - 1
    with pytest.raises(syncyte.ArgumentError, match="point 7 is in no rank's list, or only as a ghost"):
        Layout.indices(world, N, [*range(7), *range(8, N), 7], ghosts=1)
    with pytest.raises(syncyte.ArgumentError, match=rf"points\[2\] is {N}; expected 0 to {N - 1}"):
        Layout.indices(world, N, [0, 1, N] if world.rank == last else everything)
    with pytest.raises(syncyte.ArgumentError, match=r"ghosts\[0\] is 41; expected 0 to 40"):
        Layout.indices(world, N, everything, ghosts=41 if world.rank == last else 0)
    with pytest.raises(syncyte.ShapeError, match="ghosts has 2 entries; expected 1"):
        Layout.indices(world, N, everything, ghosts=[0, 0])
    with pytest.raises(syncyte.DtypeError, match="points is of float64; expected integers"):
        Layout.indices(world, N, np.arange(N) + 0.5)
    with pytest.raises(syncyte.ArgumentError, match=rf"points\[1\] is {2**70}"):
        Layout.indices(world, N, [0, 2**70] if world.rank == last else everything)
    with pytest.raises(syncyte.ArgumentError, match="points is given; expected none: the array has no points"):
        Layout.indices(world, 0, [0])
    with pytest.raises(syncyte.DtypeError, match="an integer, or one for each array"):
        Layout.indices(world, N, everything, ghosts=1.0)
    with pytest.raises(syncyte.ShapeError, match="one dimension"):
        Layout.indices(world, N, np.zeros((2, N), dtype=int))
    layout = Layout.indices(world, N, everything)
    with pytest.raises(syncyte.ArgumentError, match="blocks of cells"):
        layout.like(ghosts=1)
    if world.size > 1:
        with pytest.raises(syncyte.MismatchError, match="truth is (lower|upper) on rank"):
            Layout.indices(world, N, everything, truth="lower" if world.rank == last else "upper")
        with pytest.raises(syncyte.MismatchError, match="extent of axis 0"):
            Layout.indices(world, N + (world.rank == last), everything)
    state = Bundle(world)
    with pytest.raises(syncyte.ShapeError):
        state.add("field", layout, np.zeros(N + (world.rank == last)))
