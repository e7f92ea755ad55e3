# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of bundles: any layout, saved and loaded on other numbers of ranks, against the whole array."""

import os
from xml.etree import ElementTree

import h5py
import numpy as np
import pytest

import syncyte
from syncyte import Bundle, Layout, checkpoint

NY, NX, NZ = 7, 9, 3


def test_xdmf(world, path):
    """Cells, their nodes, faces on a grid of their own; each item's extents and bytes are those of the dataset."""
    cells = Layout.mesh(world, (NY, NX), ghosts=1)
    state = Bundle(world)
    for name, layout, dtype in (
        ("gas/density", cells, "float64"),
        ("force", cells.like(shared=True), "float32"),
        ("flux", cells.like(shared=[True, False]), "float64"),
        ("line", Layout.mesh(world, (NX,)), "int32"),
    ):
        state.add(name, layout, np.zeros(layout.blocks_of(world.rank)[0].shape, dtype))
    others = {"spectrum": np.zeros(3, complex), "step/of": np.zeros((2, 2, 2, 2))}
    checkpoint.save(path, others, bundle=state, step=7)
    if world.rank > 0:
        return
    root = ElementTree.parse(checkpoint.write_xdmf(path, spacing=(0.5, 2), origin=10)).getroot()
    grids = {}
    with h5py.File(path, "r") as file:
        for grid in root.iter("Grid"):
            for attribute in grid.findall("Attribute"):
                item = attribute.find("DataItem")
                name, key = item.text.split(":")
                assert attribute.get("Name").replace("/", "%2F") == key.strip("/")
                assert name == os.path.basename(path)
                extents = [int(each) for each in item.get("Dimensions").split()]
                assert tuple(extents) == file[key].shape
                assert int(item.get("Precision")) == file[key].dtype.itemsize
                corners = [int(each) for each in grid.find("Topology").get("Dimensions").split()]
                beyond = {"Cell": 1, "Node": 0}[attribute.get("Center")]
                assert [1] * (3 - len(extents)) + [extent + beyond for extent in extents] == corners
                grids[attribute.get("Name")] = grid
    assert set(grids) == {"gas/density", "force", "flux", "line"}
    assert grids["gas/density"] is grids["force"]
    assert [item.text for item in grids["flux"].find("Geometry")] == ["0.0 10.0 10.0", "1.0 0.5 2.0"]
    assert root.find("Domain/Grid/Time").get("Value") == "7"
    with pytest.raises(syncyte.ShapeError):
        checkpoint.write_xdmf(path, spacing=(1,))
    with pytest.raises(syncyte.ArgumentError):
        checkpoint.write_xdmf(path, origin="here")


@pytest.fixture
def path(comm, tmp_path):
    """One path on all ranks."""
    return comm.bcast(str(tmp_path / "state.h5"))


def part(comm, size):
    """A communicator of the first `size` ranks; None on the others."""
    return comm.split(0 if comm.rank < size else None)


def whole(layout):
    shape = layout.shape
    return np.arange(np.prod(shape), dtype="float64").reshape(shape) + 1


def arrays_of(layout, dtype, filled):
    """This rank's arrays: the whole's values in their blocks, -1 in ghosts; or -1 everywhere."""
    result = []
    values = whole(layout).astype(dtype)
    for first, shape in layout.blocks_of(layout.comm.rank):
        array = np.full(shape, -1, dtype)
        for place in np.ndindex(*shape) if filled else ():
            point = tuple(low + at - ghosts for low, at, ghosts in zip(first, place, GHOSTS[layout], strict=True))
            inside = all(
                ghosts <= at < extent - ghosts for at, extent, ghosts in zip(place, shape, GHOSTS[layout], strict=True)
            )
            if inside:
                array[place] = values[tuple(np.mod(point, layout.shape))]
        result.append(array)
    return result


GHOSTS = {}


def with_ghosts(ghosts, layout):
    GHOSTS[layout] = ghosts
    return layout


def layouts(comm, kind):
    """Fields cut in some way over a communicator: cells, nodes with ghosts, and a periodic axis of points."""
    size = comm.size
    if kind == "rows":
        cells = Layout.mesh(comm, (NY, NX, NZ))
    elif kind == "columns":
        cells = Layout.mesh(comm, (NY, NX, NZ), axes=[1])
    elif kind == "one rank":
        cells = Layout.mesh(comm, (NY, NX, NZ), [1])
    elif kind == "copies":
        cells = Layout.mesh(comm, (NY, NX, NZ), axes=[None])
    else:
        own = [((0, x, 0), (NY, 1, NZ)) for x in range(NX) if x % size == comm.rank]
        cells = Layout.blocks(comm, (NY, NX, NZ), own)
    return {
        "cells": with_ghosts((0, 2, 1), cells.like(ghosts=[0, 2, 1])),
        "nodes": with_ghosts((0, 0, 0), cells.like(shared=True, truth="lower")),
        "ring": with_ghosts(
            (1, 1, 1), cells.like(shared=[False, True, False], periodic=[False, True, False], ghosts=1)
        ),
    }


def bundle_of(comm, kind, filled):
    bundle = Bundle(comm)
    for number, (name, layout) in enumerate(layouts(comm, kind).items()):
        dtype = ["float64", "float32", "int32"][number]
        bundle.add(name, layout, arrays_of(layout, dtype, filled), dtype=dtype)
    return bundle


def equal(comm, kind, bundle):
    expected = bundle_of(comm, kind, True)
    return all(np.array_equal(got, wanted) for name in bundle.fields
               for got, wanted in zip(listed(bundle[name]), listed(expected[name]), strict=True))  # fmt: skip


def listed(arrays):
    return [] if arrays is None else arrays if isinstance(arrays, list) else [arrays]


KINDS = ["rows", "columns", "one rank", "copies", "blocks"]


@pytest.mark.parametrize("kind", KINDS)
def test_any_layout_is_loaded_into_any_other(world, path, kind):
    time = np.array(0.25)
    checkpoint.save(path, {"time": time}, bundle=bundle_of(world, kind, True), step=7)
    if world.rank == 0:
        with h5py.File(path) as file:
            for name, layout in layouts(syncyte.COMM_SELF, "rows").items():
                dtype = {"cells": "float64", "nodes": "float32", "ring": "int32"}[name]
                assert np.array_equal(file[name], whole(layout).astype(dtype)), name
            assert file["time"][()] == 0.25
    world.barrier()
    for size in range(1, world.size + 1):
        comm = part(world, size)
        if comm is not None:
            for other in KINDS:
                loaded = bundle_of(comm, other, False)
                time = np.zeros(())
                checkpoint.load(path, {"time": time}, bundle=loaded)
                assert equal(comm, other, loaded), (size, other)
                assert time == 0.25
        world.barrier()
    with checkpoint.open(path) as file:
        assert file.step == 7
        assert set(file) == {"time", "cells", "nodes", "ring"}


def test_attributes_for_other_programs(world, path):
    columns = Layout.mesh(world, (NY, NX), axes=[1]).name_axes("y", "x", units=("m", "km"))
    state = Bundle(world)
    for name, layout in ("columns", columns), ("whole", Layout.mesh(world, (NY,), axes=[None])):
        state.add(name, layout, np.zeros(layout.blocks_of(world.rank)[0].shape))
    listed = [0, *range(1 + 2 * world.rank, 3 + 2 * world.rank)]  # all lists begin at point 0
    state.add("listed", Layout.indices(world, 1 + 2 * world.size, listed), np.zeros(3))
    state.add("on one rank", Layout.blocks(world, (4,), [((0,), (2,)), ((2,), (2,))] if world.rank == 0 else []),
              [np.zeros(2), np.zeros(2)] if world.rank == 0 else None, dtype="float64")  # fmt: skip
    weight = np.ones((3, 2))
    checkpoint.save(path, {"tied": weight, "first": np.ones(2), "weight": weight}, sharded=["first"], bundle=state)
    checkpoint.load(path, bundle=state)
    if world.rank == 0:
        with h5py.File(path) as file:
            of_columns = dict(file["columns"].attrs)
            assert (of_columns["axis_names"], of_columns["axis_units"]) == ("y, x", "m, km")
            assert of_columns.get("parallel_dim") == ("1" if world.size > 1 else None)
            assert "parallel_dim" not in file["whole"].attrs
            assert "parallel_dim" not in file["on one rank"].attrs
            assert file["listed"].attrs.get("parallel_dim") == ("0" if world.size > 1 else None)
            assert file["first"].attrs["parallel_dim"] == "0"
            assert file["weight"].attrs["alias_of"] == "tied"
            assert "alias_of" not in file["tied"].attrs
    world.barrier()


def test_ghosts_are_filled_on_request(world, path):
    bundle = Bundle(world)
    cells = Layout.mesh(world, (2 * world.size,), ghosts=1, periodic=True)
    own = np.arange(2 * world.rank - 1, 2 * world.rank + 3) % (2 * world.size)
    bundle.add("x", cells, own.astype("float64"))
    checkpoint.save(path, {}, bundle=bundle)
    bundle["x"][...] = -1
    checkpoint.load(path, bundle=bundle, exchange=True)
    assert np.array_equal(bundle["x"], own)
    with pytest.raises(syncyte.ArgumentError, match="exchange is True; expected False without a bundle"):
        checkpoint.load(path, {}, exchange=world.rank == 0)
    if world.size > 1:
        with pytest.raises(syncyte.MismatchError, match="exchange"):
            checkpoint.load(path, bundle=bundle, exchange=world.rank == 0)


def test_fields_that_go_through_several_slabs(world, path):
    """16 MiB of each rank at a time: rows of more than this, and some of them after others."""
    for shape, dtype in (((2, 20_000_003), "uint8"), ((5, 1_100_000, 2), "float64")):
        columns = Layout.mesh(world, shape, axes=[1])
        (block,) = columns.blocks_of(world.rank)

        def values(first, count, shape=shape, dtype=dtype):
            """Those of a box of the whole array: its row-major numbers."""
            indices = np.ix_(*(np.arange(low, low + each) for low, each in zip(first, count, strict=True)))
            return np.asarray(np.ravel_multi_index(indices, shape) % 251, dtype)

        bundle = Bundle(world)
        bundle.add("x", columns, values(*block))
        checkpoint.save(path, {}, bundle=bundle)
        rows = Layout.mesh(world, shape, [world.size])
        (part,) = rows.blocks_of(world.rank)
        loaded = checkpoint.load(path, {"x": np.zeros(part.shape, dtype)}, sharded=True)["x"]
        assert np.array_equal(loaded, values(*part))
        bundle["x"][...] = 0
        checkpoint.load(path, bundle=bundle)
        assert np.array_equal(bundle["x"], values(*block))


def test_a_file_of_rows_is_loaded_into_blocks(world, path):
    cells = Layout.mesh(world, (NY, NX))
    (block,) = cells.blocks_of(world.rank)
    rows = np.full(block.shape, float(world.rank))
    checkpoint.save(path, {"x": rows}, sharded=True)
    columns = Layout.mesh(world, (NY, NX), axes=[1])
    bundle = Bundle(world)
    bundle.add("x", columns, np.zeros(columns.blocks_of(world.rank)[0].shape))
    assert checkpoint.load(path, bundle=bundle) == {}
    assert np.array_equal(bundle["x"], columns_of_ranks(world, columns))
    checkpoint.save(path, {}, bundle=bundle)
    assert np.array_equal(checkpoint.load(path, {"x": np.zeros(block.shape)}, sharded=True)["x"], rows)


def columns_of_ranks(world, columns):
    rows = Layout.mesh(world, (NY, NX))
    counts = [rows.blocks_of(rank)[0].shape[0] for rank in range(world.size)]
    width = columns.blocks_of(world.rank)[0].shape[1]
    return np.repeat(np.arange(world.size, dtype=float), counts)[:, None] * np.ones(width)


def test_wrong_calls_are_every_ranks_error(world, path):
    bundle = bundle_of(world, "columns", True)
    with pytest.raises(syncyte.ArgumentError, match="a field of the bundle and among the entries"):
        checkpoint.save(path, {"cells": np.zeros(1)}, bundle=bundle)
    with pytest.raises(syncyte.Error, match=r"syncyte\.Bundle"):
        checkpoint.save(path, {}, bundle="bundle")
    checkpoint.save(path, {}, bundle=bundle)
    before = world.rank == 0 and open(path, "rb").read()
    with pytest.raises(syncyte.Error):
        checkpoint.save(path if world.rank else "/no/such/folder/x.h5", {}, bundle=bundle)
    assert world.rank != 0 or open(path, "rb").read() == before

    other = Bundle(world)
    wider = Layout.mesh(world, (NY, NX + 1, NZ))
    other.add("cells", wider, np.zeros(wider.blocks_of(world.rank)[0].shape))
    with pytest.raises(syncyte.ShapeError, match="cells"):
        checkpoint.load(path, bundle=other)
    longer = Layout.mesh(world, (NY + 1, NX, NZ))
    other = Bundle(world)
    other.add("cells", longer, np.zeros(longer.blocks_of(world.rank)[0].shape))
    with pytest.raises(syncyte.ShapeError, match="rows"):
        checkpoint.load(path, bundle=other)
    other = Bundle(world)
    cells = Layout.mesh(world, (NY, NX, NZ))
    other.add("cells", cells, np.zeros(cells.blocks_of(world.rank)[0].shape, "float32"))
    with pytest.raises(syncyte.DtypeError, match="float32"):
        checkpoint.load(path, bundle=other)
    other = Bundle(world)
    other.add("absent", cells, np.zeros(cells.blocks_of(world.rank)[0].shape, "float32"))
    with pytest.raises(syncyte.NotFoundError, match="absent"):
        checkpoint.load(path, bundle=other)
