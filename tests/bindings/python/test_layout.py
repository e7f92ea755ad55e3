# SPDX-License-Identifier: BSD-3-Clause
"""Layouts and relocation, against the whole array."""

import itertools

import numpy as np
import pytest
import torch

import syncyte
from syncyte import Layout

NY, NX = 8, 11


def whole(shape):
    return np.arange(np.prod(shape), dtype="float64").reshape(shape)


def filled(layout, rank, ghosts=0):
    """The arrays of a rank's blocks with the whole array's values, and -1 in ghosts."""
    values = whole(layout.shape)
    arrays = []
    for first, shape in layout.blocks_of(rank):
        array = np.full(shape, -1.0)
        inner = [extent - 2 * ghosts for extent in shape]
        box = tuple(slice(low, low + extent) for low, extent in zip(first, inner, strict=True))
        array[tuple(slice(ghosts, ghosts + extent) for extent in inner)] = values[box]
        arrays.append(array)
    return arrays


def equal(results, expected):
    results = [] if results is None else [results] if not isinstance(results, list) else results
    return len(results) == len(expected) and all(map(np.array_equal, results, expected))


def layouts(world):
    yield Layout.mesh(world, (NY, NX))
    yield Layout.mesh(world, (NY, NX), axes=[1])
    yield Layout.mesh(world, (NY, NX), axes=[1], ceil=True)
    yield Layout.mesh(world, (NY, NX), axes=[None])
    yield Layout.mesh(world, (NY, NX), [1])
    yield Layout.mesh(world, (NY, NX), lengths=[[NY - (world.size - 1), *[1] * (world.size - 1)]])
    boxes = [((y, 0), (1, NX)) for y in range(NY) if y % world.size == world.rank]
    yield Layout.blocks(world, (NY, NX), boxes)


def test_from_each_layout_to_each(world):
    for before, after in itertools.product(layouts(world), layouts(world)):
        result = before.relocate(filled(before, world.rank), after, dtype="float64")
        assert equal(result, filled(after, world.rank)), (before.describe(), after.describe())


def test_the_grid_of_a_cartesian_communicator(world):
    cart = world.cartesian((0, 0), periods=(False, True))
    cells = (4 * cart.dims[0], 3 * cart.dims[1])
    layout = Layout.mesh(cart, cells, shared=True)
    first = [extent * at for extent, at in zip((4, 3), cart.coords, strict=True)]
    assert layout.blocks_of(cart.rank) == [(tuple(first), (5, 4))]
    assert layout.shape == (cells[0] + 1, cells[1])
    assert Layout.mesh(cart, cells, shared=True, periodic=False).shape == (cells[0] + 1, cells[1] + 1)
    assert Layout.mesh(cart, cells, mesh=(1, cart.size), shared=True).shape == (cells[0] + 1, cells[1] + 1)


def test_who_has_the_points_of_a_box(world):
    nodes = Layout.mesh(world, (2 * world.size, 4), ghosts=(1, 0), shared=[True, False], truth="lower")
    assert [nodes.pieces((i, 3))[0].rank for i in range(2 * world.size + 1)] == [
        max(i - 1, 0) // 2 for i in range(2 * world.size + 1)
    ]
    for rank, block, first, shape, place in nodes.pieces((0, 1), (2 * world.size + 1, 2)):
        start = 0 if rank == 0 else 2 * rank + 1
        assert (block, first, shape) == (0, (start, 1), (3 if rank == 0 else 2, 2))
        assert place == (start - nodes.blocks_of(rank)[0].first[0] + 1, 1)
    assert nodes.pieces((0, 0), (0, 4)) == []
    with pytest.raises(syncyte.OutOfRangeError, match=r"first\[1\] is 4"):
        nodes.pieces((0, 4))
    with pytest.raises(syncyte.Error, match="axis"):
        nodes.pieces((0,))


def test_axes_count_from_the_end_too(world):
    cells = (4, 3 * world.size)
    assert Layout.mesh(world, cells, axes=[-1]).blocks_of(0) == Layout.mesh(world, cells, axes=[1]).blocks_of(0)
    with pytest.raises(syncyte.ArgumentError, match=r"axes\[0\] is 2"):
        Layout.mesh(world, cells, axes=[2])
    with pytest.raises(syncyte.ArgumentError, match="a box of boxes"):
        Layout.blocks(world, cells, [(0, 4)])
    with pytest.raises(syncyte.ArgumentError, match="a box of boxes"):
        Layout.blocks(world, cells, [((0,), (4,))])
    with pytest.raises(syncyte.ArgumentError, match="lengths"):
        Layout.mesh(world, cells, lengths=[4] * world.size)
    with pytest.raises(syncyte.ArgumentError, match="boxes is None"):
        Layout.blocks(world, cells, None)
    lengths = [3] * world.size
    given = Layout.mesh(world, (3 * world.size, 2), lengths=(each for each in [lengths]))
    assert given.blocks_of(world.rank) == [((3 * world.rank, 0), (3, 2))]
    boxes = [(iter((3 * world.rank, 0)), iter((3, 2)))]
    assert Layout.blocks(world, (3 * world.size, 2), boxes).blocks_of(world.rank) == given.blocks_of(world.rank)


def test_the_text_says_what_arrays_hold(world):
    nodes = Layout.mesh(world, (2 * world.size, 4), ghosts=[(1, 0), 2], shared=[True, False], truth="lower",
                        periodic=[False, True])  # fmt: skip
    first = nodes.describe().splitlines()[0]
    assert (
        "nodes or faces, shared along 0 (truth lower); periodic along 1; ghosts [1, 2] before, [0, 2] behind" in first
    )
    if world.size > 1:
        assert "dealt out in blocks along 0" in Layout.mesh(world, (4 * world.size, 2), block=2).describe()
        with pytest.raises(syncyte.MismatchError, match="ghosts before axis 1"):
            Layout.mesh(world, (2 * world.size, 4), ghosts=[1, int(world.rank == 0)])


def test_names_of_axes(world):
    cells = Layout.mesh(world, (8, 4))
    assert cells.axis_names == cells.axis_units == ()
    assert cells.name_axes("y", "x", units=("m", "m")) is cells
    assert (cells.axis_names, cells.axis_units) == (("y", "x"), ("m", "m"))
    assert "axes y, x, in m, m" in cells.describe()
    assert cells.like(ghosts=1).axis_names == ("y", "x")
    with pytest.raises(syncyte.ArgumentError, match="2 names with commas between"):
        Layout.mesh(world, (8, 4)).name_axes("y")
    with pytest.raises(syncyte.ArgumentError, match="already"):
        cells.name_axes("a", "b")
    with pytest.raises(syncyte.ArgumentError, match="a str without commas"):
        cells.name_axes("a,b", "c")


def test_weights(world):
    weights = list(range(1, world.size + 1))
    made = Layout.mesh(world, (60, 2), lengths=[weights], weighted=True)
    borders = [60 * sum(weights[:rank]) // sum(weights) for rank in range(world.size + 1)]
    assert [made.blocks_of(rank)[0].first[0] for rank in range(world.size)] == borders[:-1]
    with pytest.raises(syncyte.ArgumentError, match="lengths is null; expected weights"):
        Layout.mesh(world, (60,), weighted=True)
    with pytest.raises(syncyte.ArgumentError, match="sum of the weights is 0"):
        Layout.mesh(world, (60,), lengths=[[0] * world.size], weighted=True)


def test_adjoint(world):
    """<R x, y> = <x, R' y>, with whole numbers."""
    for before, after in itertools.product(layouts(world), layouts(world)):
        x = filled(before, world.rank)
        y = [(array % 7) - world.rank for array in filled(after, world.rank)]
        there = before.relocate(x, after, dtype="float64")
        there = [] if there is None else there if isinstance(there, list) else [there]
        back = [np.empty_like(array) for array in x]
        before.relocate_adjoint(y, after, back, dtype="float64", buffer_bytes=1000)
        both = [sum((a * b).sum() for a, b in zip(*each, strict=True)) for each in ((there, y), (x, back))]
        left, right = world.allreduce(np.array(both, dtype=np.float64))
        assert left == right, (before.describe(), after.describe())


def test_a_box_of_an_array(world):
    """A box is collected, and put back, slab by slab; what is beside it stays."""
    whole_array = whole((NY, NX))
    for layout in layouts(world):
        source = filled(layout, world.rank)
        target = [np.full(array.shape, -1.0) for array in source]
        for first, count in (((0, 0), (3, NX)), ((3, 2), (NY - 3, 1)), ((NY - 1, NX - 2), (1, 2))):
            box = Layout.mesh(world, count)
            part = layout.relocate(source, box, first=first, dtype="float64")
            (block,) = box.blocks_of(world.rank)
            slices = [slice(at + low, at + low + n) for at, low, n in zip(first, block.first, block.shape, strict=True)]
            assert np.array_equal(part, whole_array[tuple(slices)])
            box.relocate(part, layout, target, first=first)
        expected = np.full((NY, NX), -1.0)
        for first, count in (((0, 0), (3, NX)), ((3, 2), (NY - 3, 1)), ((NY - 1, NX - 2), (1, 2))):
            box = tuple(slice(at, at + n) for at, n in zip(first, count, strict=True))
            expected[box] = whole_array[box]
        on_all = layout.relocate(target, Layout.mesh(world, (NY, NX), axes=[None]), dtype="float64")
        assert np.array_equal(on_all, expected)


@pytest.mark.parametrize("elements", [1, 5, NX, 2 * NX + 3, 1 << 20])
def test_slabs(world, elements):
    for layout in layouts(world):
        root = world.size - 1
        collected = np.zeros((NY, NX))
        for first, slab in layout.slabs(filled(layout, world.rank), root=root, nbytes=8 * elements, dtype="float64"):
            assert (slab is None) == (world.rank != root)
            if slab is not None:
                assert slab.size <= elements
                box = tuple(slice(low, low + count) for low, count in zip(first, slab.shape, strict=True))
                assert not collected[box].any()
                collected[box] = slab
        assert world.rank != root or np.array_equal(collected, whole((NY, NX)))


def test_wrong_slabs(world):
    rows = Layout.mesh(world, (NY, NX))
    own = filled(rows, world.rank)
    for wrong in ({"root": world.size}, {"root": -1}, {"nbytes": "x"}, {"nbytes": 0}):
        with pytest.raises(syncyte.Error):
            next(rows.slabs(own, **wrong))
    with pytest.raises(syncyte.Error):
        next(rows.slabs(None))
    empty = Layout.mesh(world, (0, 3))
    assert list(empty.slabs(np.zeros(empty.blocks_of(world.rank)[0].shape))) == []


def test_what_is_no_box_is_refused(world):
    rows, box = Layout.mesh(world, (NY, NX)), Layout.mesh(world, (2, 3))
    (own,) = filled(rows, world.rank)
    for first, argument in (((NY - 1, 0), "first"), ((-1, 0), "first"), ((0,), "first"), ("x", "first")):
        with pytest.raises(syncyte.Error, match=argument):
            rows.relocate(own, box, first=first)
    with pytest.raises(syncyte.ShapeError, match="extents of the second layout"):
        rows.relocate(own, box)
    with pytest.raises(syncyte.ShapeError, match="a box of"):
        rows.relocate(own, Layout.mesh(world, (NY - 1, NX + 1)), first=(0, 0))
    if world.size > 1:
        with pytest.raises(syncyte.MismatchError, match="first"):
            rows.relocate(own, box, first=(int(world.rank == 0), 0))
    assert rows.relocate(own, box, first=(0, 0)) is not None


def test_nodes_with_ghosts(world):
    rows = Layout.mesh(world, (NY, NX)).like(shared=True, ghosts=2)
    columns = Layout.mesh(world, (NY, NX), axes=[1], shared=True, ghosts=2)
    assert rows.shape == columns.shape == (NY + 1, NX + 1)
    out = [np.full(block.shape, -1.0) for block in columns.blocks_of(world.rank)]
    result = rows.relocate(filled(rows, world.rank, 2), columns, out)
    assert result is out[0]
    assert equal(result, filled(columns, world.rank, 2))


def test_the_right_copy_of_a_shared_point(world):
    for truth in ("lower", "upper"):
        parts = Layout.mesh(world, (2 * world.size,), shared=True, truth=truth)
        on_all = Layout.mesh(world, (2 * world.size,), axes=[None], shared=True)
        own = np.full(parts.blocks_of(world.rank)[0].shape, world.rank)
        points = parts.relocate(own, on_all)
        borders = points[2:-1:2]
        assert list(borders) == list(range(world.size - 1) if truth == "lower" else range(1, world.size))


def test_a_periodic_axis_has_as_many_borders_as_cells(world):
    ring = Layout.mesh(world, (2 * world.size,), shared=True, periodic=True)
    assert ring.shape == (2 * world.size,)
    own = np.array([2 * world.rank, 2 * world.rank + 1, -1])  # the last one is the next rank's first
    result = ring.relocate(own, Layout.mesh(world, (2 * world.size,), axes=[None]))
    assert list(result) == list(range(2 * world.size))


def test_torch_tensors_and_collecting_on_one_rank(world):
    rows = Layout.mesh(world, (NY, NX))
    first = Layout.mesh(world, (NY, NX), [1])
    (own,) = filled(rows, world.rank)
    result = rows.relocate(torch.from_numpy(own), first)
    if world.rank == 0:
        assert isinstance(result, torch.Tensor)
        assert np.array_equal(result.numpy(), whole((NY, NX)))
    else:
        assert result is None


def test_description(world):
    rows = Layout.mesh(world, (2 * world.size, 3), ghosts=[(1, 2), 0])
    assert rows.blocks_of(world.size - 1) == [((2 * world.size - 2, 0), (5, 3))]
    assert rows.describe().splitlines()[1] == "rank 0: from [0, 0], array of shape [5, 3]"
    first = Layout.mesh(world, (4,), [1])
    assert first.describe().splitlines()[2:] == [f"rank {rank}: no block" for rank in range(1, world.size)]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda world: Layout.mesh(world, (4, 4), [world.size + 1]), "product of mesh is"),
        (lambda world: Layout.mesh(world, (4, 4), axes=[2]), r"axes\[0\] is 2"),
        (lambda world: Layout.mesh(world, (4, 4), truth="both"), "truth is 'both'"),
        (lambda world: Layout.mesh(world, (4, 4), ghosts=-1), r"ghosts_low\[0\] is -1"),
        (lambda world: Layout.mesh(world, (4, 4), shared=[True]), "length of shared is 1"),
        (lambda world: Layout.mesh(world, (4, 4), block=2, shared=True), "dealt out in blocks"),
        (
            lambda world: Layout.mesh(world, (4, 4), [1], lengths=[[2**63 - 1]]),
            "length of a part is 9223372036854775807",
        ),
        (lambda world: Layout.mesh(world, (4, 4), [1], lengths=[[3]]), "sum of lengths is 3; expected 4"),
        (lambda world: Layout.mesh(world, (2**63 - 1,), ceil=True), r"cells\[0\] is 9223372036854775807"),
        (lambda world: Layout.blocks(world, (4,), []), "the blocks have 0 of 4 cells"),
        (lambda world: Layout.blocks(world, (4,), [((0,), (4,)), ((3,), (1,))]), "overlap"),
        (lambda world: Layout.blocks(world, (4,), [((1,), (4,))]), "has 4 cells from 1 on along axis 0, which has 4"),
    ],
)
def test_wrong_layouts(world, make, text):
    with pytest.raises(syncyte.Error, match=text):
        make(world)


def test_creation_agrees_without_checks(world):
    unchecked = world.dup(check="off")
    for wrong in ({"axes": [2]}, {"truth": "both"}):
        with pytest.raises(syncyte.ArgumentError):
            Layout.mesh(unchecked, (4, 4), **(wrong if unchecked.rank == 0 else {}))
    rows = Layout.mesh(unchecked, (unchecked.size,))
    if unchecked.size == 1 or unchecked.rank == 0:  # this rank alone, as in any collective without checks
        with pytest.raises(syncyte.ArgumentError, match="arrays is 0 arrays"):
            rows.relocate(None, rows)
    assert rows.relocate(np.full(1, unchecked.rank), rows) == [unchecked.rank]


def test_arrays_that_share_memory_are_refused(world):
    boxes = [((2 * world.rank + half,), (1,)) for half in (0, 1)]
    halves = Layout.blocks(world, (2 * world.size,), boxes)
    memory = np.zeros(3)
    with pytest.raises(syncyte.ArgumentError, match="separate memory"):
        halves.relocate([np.zeros(1), np.zeros(1)], halves, [memory[:1], memory[:1]])
    with pytest.raises(syncyte.ArgumentError, match="separate memory"):
        halves.relocate([memory[:1], memory[1:2]], halves, [memory[2:], memory[1:2]])
    assert halves.relocate([np.ones(1), np.zeros(1)], halves, buffer_bytes=1 << 50)[0] == [1]


def test_wrong_arrays(world):
    rows = Layout.mesh(world, (2 * world.size, 3))
    own = np.zeros((2, 3))
    with pytest.raises(syncyte.ArgumentError, match="arrays is 0 arrays; expected 1"):
        rows.relocate(None, rows)
    with pytest.raises(syncyte.ShapeError, match=r"arrays\[0\] has shape \[3, 3\]; expected \[2, 3\]"):
        rows.relocate(np.zeros((3, 3)), rows)
    with pytest.raises(syncyte.ShapeError, match="with the points that neighbours store too"):
        rows.like(shared=True).relocate(own, rows.like(shared=True))
    with pytest.raises(syncyte.ShapeError, match="extents of the second layout"):
        rows.relocate(own, rows.like(shared=True))
    if world.size > 1:
        with pytest.raises(syncyte.MismatchError, match="dtype"):
            rows.relocate(own.astype("float32") if world.rank == 0 else own, rows)
    assert np.array_equal(rows.relocate(own + world.rank, rows), own + world.rank)
