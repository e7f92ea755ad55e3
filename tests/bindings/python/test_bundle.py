# SPDX-License-Identifier: BSD-3-Clause
"""Bundles: halos and sums of fields with layouts, against the whole array."""

import gc
import weakref

import numpy as np
import pytest
import torch

import syncyte
from syncyte import Bundle, Layout

NY, NX, GHOSTS = 8, 23, 2


def last(world):
    return world.rank == world.size - 1


def neighbour_of_last(world):
    return world.rank == world.size - 2


def whole(layout, first=0):
    return (first + np.arange(np.prod(layout.shape))).reshape(layout.shape)


def part(layout, rank, first=0, ghosts=GHOSTS):
    """The only array of a rank as it is before an exchange (ghosts are -1), and after it."""
    (block,) = layout.blocks_of(rank)
    after = np.full(block.shape, -1.0)
    for place in np.ndindex(*block.shape):
        point = tuple(low + at - ghosts for low, at in zip(block.first, place, strict=True))
        if all(0 <= index < extent for index, extent in zip(point, layout.shape, strict=True)):
            after[place] = whole(layout, first)[point]
    before = np.full(block.shape, -1.0)
    inner = tuple(slice(ghosts, extent - ghosts) for extent in block.shape)
    before[inner] = after[inner]
    return before, after


@pytest.fixture(name="cells")
def cells_of_columns(world):
    return Layout.mesh(world, (NY, NX), axes=[1], ghosts=GHOSTS)


def test_cells_nodes_and_faces_travel_together(world, cells):
    layouts = {
        "density": cells,
        "velocity": cells.like(shared=True, ghosts=GHOSTS),
        "flux": cells.like(shared=[False, True], ghosts=GHOSTS),
    }
    bundle = Bundle(world)
    expected = {}
    for number, (name, layout) in enumerate(layouts.items()):
        before, expected[name] = part(layout, world.rank, number)
        kind = [np.float64, np.float32, np.int64][number]
        bundle.add(name, layout, torch.as_tensor(before) if number == 0 else before.astype(kind))
    assert bundle.fields == tuple(layouts)
    assert bundle.comm is world
    bundle.exchange(only="velocity")
    assert np.array_equal(bundle["velocity"], expected["velocity"])
    assert np.array_equal(bundle["flux"], part(layouts["flux"], world.rank, 2)[0])
    bundle.exchange(only=["density", "flux"])
    for name, values in expected.items():
        assert np.array_equal(bundle[name], values), name


def test_depth(world, cells):
    before, after = part(cells, world.rank)
    bundle = Bundle(world)
    bundle.add("density", cells, before.copy())
    bundle.exchange(depth=1)
    expected = before.copy()
    expected[:, 1:-1] = after[:, 1:-1]
    assert np.array_equal(bundle["density"], expected)
    bundle.iexchange().wait()
    assert np.array_equal(bundle["density"], after)


def test_forces_at_nodes(world):
    """As LULESH: every rank has n + 1 nodes along an axis, the last one too; forces are summed at shared nodes."""
    n = 4
    dims = [1, world.size] if world.size % 2 else [2, world.size // 2]
    cells = [n * extent for extent in dims]
    nodes = Layout.mesh(world, cells, dims, shared=True)
    force = np.zeros((n + 1, n + 1))
    for i in (0, 1):
        for j in (0, 1):
            force[i : i + n, j : j + n] += 1  # of each cell to its corners
    bundle = Bundle(world)
    bundle.add("force", nodes, force)
    bundle.sum()
    (block,) = nodes.blocks_of(world.rank)
    corners = [np.where(np.isin(first + np.arange(n + 1), (0, extent)), 1, 2)
               for first, extent in zip(block.first, cells, strict=True)]  # fmt: skip
    assert np.array_equal(force, np.outer(*corners))


def test_adjoint(world, cells):
    random = np.random.default_rng(world.rank)
    (block,) = cells.blocks_of(world.rank)
    x, y = random.integers(-9, 9, (2, *block.shape)).astype(float)
    moved, gathered = x.copy(), y.copy()
    bundle = Bundle(world)
    bundle.add("x", cells, moved)
    bundle.exchange()
    bundle.set_arrays("x", gathered)
    bundle.accumulate()
    assert world.allreduce(np.vdot(moved, y)) == world.allreduce(np.vdot(x, gathered))


def test_started_operations_of_several_bundles(world, cells):
    nodes = cells.like(shared=True)
    first, second, third = (Bundle(world) for _ in range(3))
    before, after = part(cells, world.rank)
    first.add("density", cells, before)
    second.add("count", nodes, np.ones(nodes.blocks_of(world.rank)[0].shape))
    third.add("density", cells, np.ones(before.shape))
    requests = [first.iexchange(), second.isum(), third.iaccumulate()]
    with pytest.raises(syncyte.BusyError, match="in flight"):
        first.iexchange()
    syncyte.wait_all(requests)
    assert np.array_equal(first["density"], after)
    expected = np.ones(second["count"].shape)
    expected[:, 0] += world.rank > 0
    expected[:, -1] += not last(world)
    assert np.array_equal(second["count"], expected)
    assert world.allreduce(third["density"].sum()) == world.allreduce(float(before.size))


def test_a_rank_without_a_block(world):
    first = Layout.mesh(world, (NY,), [1], periodic=True, ghosts=1)
    bundle = Bundle(world)
    if world.rank == 0:
        bundle.add("x", first, np.arange(-1.0, NY + 1))
        bundle.exchange()
        assert bundle["x"][[0, -1]].tolist() == [NY - 1, 0]
    else:
        bundle.add("x", first, None, dtype="float64")
        bundle.exchange()
        assert bundle["x"] is None


def test_wrong_fields_are_every_ranks_error(world, cells):
    array = part(cells, world.rank)[0]
    bundle = Bundle(world)
    wrong = [
        (("x", cells, array[1:]), syncyte.ShapeError, "with ghosts"),
        (("x", cells, None), syncyte.ArgumentError, "0 arrays"),
        (("x", "layout", array), TypeError, "layout"),
        ((1, cells, array), syncyte.DtypeError, "name"),
        (("\ud800", cells, array), UnicodeEncodeError, "surrogates|codec"),
        (("a\0b", cells, array), syncyte.ArgumentError, "name"),
        (("x", cells, array.astype("int32")), syncyte.MismatchError, "dtype"),
    ]
    for arguments, error, text in wrong:
        if error is syncyte.MismatchError and world.size == 1:
            continue
        with pytest.raises(error if last(world) or issubclass(error, syncyte.Error) else syncyte.Error, match=text):
            bundle.add(*arguments if last(world) else ("x", cells, array))
    bundle.add("x", cells, array)
    for name, memory, text in [("x", array.copy(), "no field of the bundle"), ("y", array, "separate memory")]:
        with pytest.raises(syncyte.ArgumentError, match=text):
            bundle.add(name, cells, memory)
    read_only = array.copy()
    read_only.flags.writeable = False
    with pytest.raises(syncyte.Error, match="read"):
        bundle.add("y", cells, read_only)
    other = Layout.mesh(world.dup(), (NY, NX), axes=[1], ghosts=GHOSTS)
    with pytest.raises(syncyte.ArgumentError, match="as the bundle"):
        bundle.add("y", other, array.copy())
    with pytest.raises(syncyte.ArgumentError, match="one of x"):
        bundle.set_arrays("y", array)
    assert bundle.fields == ("x",)


@pytest.mark.parametrize("operation", ["exchange", "accumulate", "sum", "iexchange", "iaccumulate", "isum"])
def test_a_wrong_call_is_the_neighbours_error_too(world, cells, operation):
    nodes = cells.like(shared=True, ghosts=GHOSTS)
    before, after = part(nodes, world.rank)
    bundle = Bundle(world)
    bundle.add("x", nodes, before)

    def call(**arguments):
        request = getattr(bundle, operation)(**arguments)
        if request is not None:
            request.wait()

    wrong = [({"only": ["y"]}, "names of fields: x")]
    if not operation.endswith("sum"):
        wrong += [({"depth": GHOSTS + 1}, f"expected 0 to {GHOSTS}"), ({"depth": 0.5}, "depth")]
    for arguments, text in wrong:
        if last(world):
            with pytest.raises((syncyte.Error, TypeError), match=text):
                call(**arguments)
        elif neighbour_of_last(world):
            with pytest.raises(syncyte.Error, match="a neighbour, has failed"):
                call()
        else:
            call()
        world.barrier()
    bundle.set_arrays("x", part(nodes, world.rank)[0])
    bundle.exchange()
    assert np.array_equal(bundle["x"], after)


def test_neighbours_with_different_masks_are_told(world, cells):
    bundle = Bundle(world)
    for name in ("x", "y"):
        bundle.add(name, cells, part(cells, world.rank)[0])
    if world.size == 1:
        return
    if last(world) or neighbour_of_last(world):
        with pytest.raises(syncyte.MismatchError, match='field "x" takes part on rank'):
            bundle.exchange(only="x" if last(world) else "y")
    else:
        bundle.exchange(only="y")


def test_its_arrays_live_as_long_as_it_does(world, cells):
    array = part(cells, world.rank)[0]
    kept = weakref.ref(array)
    bundle = Bundle(world)
    bundle.add("x", cells, array)
    del array
    gc.collect()
    assert kept() is not None
    assert "x" in repr(bundle)
    bundle.free()
    with pytest.raises(syncyte.HandleError):
        bundle.exchange()
    del bundle
    gc.collect()
    assert kept() is None


def test_copies_of_a_block_stay_equal(world):
    """A mesh whose first dimension cuts nothing: its ranks have copies; ghosts of a block count once."""
    if world.size < 4:
        return
    layout = Layout.mesh(world, (4,), (2, 2), (None, 0), ghosts=1)
    bundle = Bundle(world)
    (block,) = layout.blocks_of(world.rank) or [None]
    bundle.add("x", layout, None if block is None else np.ones(block.shape), dtype="float64")
    bundle.accumulate()
    if block is not None:
        assert bundle["x"].tolist() == ([1, 1, 2, 0] if block.first == (0,) else [0, 2, 1, 1])


def test_an_array_that_has_moved_is_refused(world, cells):
    tensor = torch.as_tensor(part(cells, world.rank)[0])
    bundle = Bundle(world)
    bundle.add("x", cells, tensor)
    tensor.data = tensor.data.clone()
    with pytest.raises(syncyte.ArgumentError, match="moved"):
        bundle.exchange()
    world.barrier()
    bundle.set_arrays("x", tensor)
    bundle.exchange()
    assert np.array_equal(bundle["x"], part(cells, world.rank)[1])


def test_a_dropped_request_is_finished_by_the_next_call(world, cells):
    before, after = part(cells, world.rank)
    bundle = Bundle(world)
    bundle.add("x", cells, before)
    for call in (bundle.exchange, lambda: bundle.iexchange().wait(), lambda: bundle.set_arrays("x", before)):
        with pytest.warns(ResourceWarning, match="dropped"):
            bundle.iexchange()
            gc.collect()
        call()
    assert np.array_equal(before, after)


def test_only_may_be_any_iterable(world, cells):
    tensor = torch.as_tensor(part(cells, world.rank)[0])
    bundle = Bundle(world)
    bundle.add("x", cells, tensor)
    version = tensor._version
    bundle.exchange(only=(name for name in ["x"]))
    assert tensor._version > version
    assert np.array_equal(tensor, part(cells, world.rank)[1])


def test_nodes_of_a_ring(world):
    cells = Layout.mesh(world, (4 * world.size,), periodic=True)
    nodes = cells.like(shared=np.array([True]))
    assert nodes.shape == cells.shape
    bundle = Bundle(world)
    bundle.add("x", nodes, np.ones(5))
    bundle.sum()
    assert bundle["x"].tolist() == [2, 1, 1, 1, 2]
    assert Layout.mesh(world, (0, 3), shared=True).shape == (0, 4)
    for wrong in ({"ghosts": 1.5}, {"ghosts": [1, 2]}):
        with pytest.raises(syncyte.Error, match="ghosts"):
            Layout.mesh(world, (4,), **wrong)
    with pytest.raises(syncyte.ShapeError, match="number of axes"):
        Layout.mesh(world, (1,) * 9)
