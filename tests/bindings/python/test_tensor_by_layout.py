# SPDX-License-Identifier: BSD-3-Clause
"""Whole tensors that are cut by layouts: views, indexing, opening by name."""

import numpy as np
import pytest
import torch

import syncyte
from syncyte import Layout, WholeTensor

NY, NX = 4, 12


def numbers(shape=(NY, NX)):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


@pytest.fixture(name="columns")
def layout_of_columns(world):
    return Layout.mesh(world, (NY, NX), axes=[1], ghosts=2)


@pytest.fixture(name="field")
def field_of_numbers(world, columns):
    field = WholeTensor.by_layout(columns, np.float64, name="field")
    (block,) = columns.blocks_of(world.rank)
    first = block.first[1]
    field.local_array[:] = numbers()[:, first : first + field.local_array.shape[1]]
    field.sync()
    return field


def test_a_rank_has_its_block_without_ghosts(world, columns, field):
    (block,) = columns.blocks_of(world.rank)
    assert field.shape == (NY, NX)
    assert field.local.shape == (NY, block.shape[1] - 4)
    assert field.local.dtype == torch.float64
    assert field.layout.shape == (NY, NX)
    assert field.layout.blocks_of(world.rank) == [block]
    assert WholeTensor((3,)).layout is None
    assert str((NY, NX)) in repr(field)


def test_elements_of_all_ranks(world, field):
    assert np.array_equal(field[:], numbers())
    assert np.array_equal(np.asarray(field), numbers())
    assert np.array_equal(field[1:3, 2::3], numbers()[1:3, 2::3])
    assert np.array_equal(field[[3, 0, 3]], numbers()[[3, 0, 3]])
    rows = field.gather(torch.tensor([2, 1]))
    assert torch.equal(rows, torch.as_tensor(numbers()[[2, 1]]))
    field.sync()
    if world.rank == world.size - 1:
        field[1, 3:9] = 7
        field[[2]] = np.full((1, NX), 5.0)
    field.sync()
    expected = numbers()
    expected[1, 3:9] = 7
    expected[2] = 5
    assert np.array_equal(field[:], expected)
    field.sync()
    field.accumulate_box((0, 0), np.ones((NY, NX)), 2.0)
    field.sync()
    assert np.array_equal(field[:], expected + 2 * world.size)
    field.sync()


def test_shared_points_are_stored_once(world):
    nodes = Layout.mesh(world, (2 * world.size,), shared=True)
    field = WholeTensor.by_layout(nodes, np.int64)
    assert field.shape == (2 * world.size + 1,)
    assert sum(world.allgather(np.array([field.local_array.size]))) == 2 * world.size + 1
    for point in range(2 * world.size + 1):
        field.fetch_add(point, point)
    field.sync()
    assert np.array_equal(field[:], world.size * np.arange(2 * world.size + 1))
    field.sync()


def test_other_ranks_open_it_by_name(world):
    solvers = world.split(0 if world.rank < max(1, world.size - 1) else None)
    if solvers is not None:
        layout = Layout.blocks(solvers, (solvers.size, 6), [((solvers.rank, 0), (1, 6))])
        field = WholeTensor.by_layout(layout, torch.float32, comm=world, name="pressure")
        field.local[:] = solvers.rank + 1
    else:
        field = WholeTensor.open("pressure", comm=world)
    field.sync()
    assert field.torch_dtype == torch.float32
    expected = torch.arange(1.0, max(1, world.size - 1) + 1)[:, None].expand(-1, 6)
    assert torch.equal(torch.as_tensor(field[:]), expected)
    assert "pressure" in repr(field)
    assert field.local.shape == ((1, 6) if solvers is not None else (0, 0))
    field.sync()


@pytest.mark.parametrize("kind", [np.float32, torch.float32])
def test_versions_are_published_and_taken(world, columns, kind):
    live = WholeTensor.by_layout(columns, kind, slots=2, name="live")
    (block,) = columns.blocks_of(world.rank)
    assert live.shape == (2, NY, NX)
    array = np.full(block.shape, -1, np.float32)
    for step in (3, 5):
        array[2:-2, 2:-2] = step
        live.publish(array if kind is np.float32 else torch.as_tensor(array), step)
        found, of = live.take(at_least=step, timeout=20)
        assert of == step
        assert isinstance(found, np.ndarray) == (kind is np.float32)
        assert np.array_equal(np.asarray(found), np.full((NY, NX), step))
    out = np.zeros((2, 6), np.float32)[:, ::2]
    found, of = live.take((1, 4), out=out)
    assert found is out
    assert of == 5
    assert np.array_equal(out, np.full((2, 3), 5))
    assert live.take((3, 2), (1, 4))[0].shape == (1, 4)
    live.sync()


def test_wrong_versions(world, columns, field):
    live = WholeTensor.by_layout(columns, np.float32, slots=1)
    (block,) = columns.blocks_of(world.rank)
    with pytest.raises(syncyte.WaitTimeoutError, match="there is none yet"):
        live.take(timeout=0.01)
    live.publish(np.zeros(block.shape, np.float32), 1)
    with pytest.raises(syncyte.errors.ArgumentError, match="step is 1"):
        live.publish(np.zeros(block.shape, np.float32), 1)
    with pytest.raises(syncyte.errors.ShapeError, match="with ghosts"):
        live.publish(np.zeros((NY, 1), np.float32), 2)
    with pytest.raises(syncyte.errors.DtypeError):
        live.publish(np.zeros(block.shape), 2)
    with pytest.raises(syncyte.errors.ArgumentError, match="1, one for each block"):
        live.publish(None, 2)
    with pytest.raises(syncyte.errors.OutOfRangeError):
        live.take((0, NX), (1, 1))
    with pytest.raises(syncyte.errors.UnsupportedError, match="slots"):
        field.publish(np.zeros(block.shape), 1)
    with pytest.raises(syncyte.errors.Error):
        field.take(timeout=0)
    with pytest.raises(syncyte.errors.ArgumentError, match="slots"):
        WholeTensor.by_layout(columns, slots=-1)
    live.sync()


def test_another_name_is_an_error_of_all(world, columns):
    if world.size == 1:
        pytest.skip("one rank agrees with itself")
    with pytest.raises(syncyte.errors.MismatchError, match=r'"wind".*"rain"|"rain".*"wind"'):
        if world.rank == 0:
            WholeTensor.open("wind", comm=world)
        else:
            WholeTensor.by_layout(columns, name="rain")


def test_what_nobody_creates_cannot_be_opened(world):
    with pytest.raises(syncyte.errors.ArgumentError, match="layout is null on all ranks"):
        WholeTensor.open("nothing", comm=world)
    with pytest.raises(syncyte.errors.ArgumentError, match="name is empty"):
        WholeTensor.open("", comm=world)


def test_wrong_arguments_are_errors_of_all(world, columns):
    def is_last():
        return world.rank == world.size - 1

    with pytest.raises(syncyte.errors.DtypeError):
        WholeTensor.by_layout(columns, "float31" if is_last() else "float32", comm=world)
    freed = columns.like()
    if is_last():
        freed.free()
    with pytest.raises(syncyte.errors.HandleError, match="freed"):
        WholeTensor.by_layout(freed, comm=world)
    with pytest.raises(syncyte.errors.Error, match="layout"):
        WholeTensor.by_layout(5 if is_last() else columns, comm=world)
    with pytest.raises(syncyte.errors.Error, match="5" if is_last() or world.size == 1 else "name"):
        WholeTensor.open(5 if is_last() else "x", comm=world)


def test_what_needs_whole_rows_is_refused(field):
    for call in (
        lambda: field.rows(),
        lambda: field.owner(0),
        lambda: field.node,
        lambda: field.scatter_add_([0], np.ones((1, NX))),
        lambda: field.lock(0).__enter__(),
        lambda: field.requires_grad_(),
        lambda: field.gather([0], collective=True),
    ):
        with pytest.raises(syncyte.errors.UnsupportedError):
            call()
    field.sync()


def test_a_block_is_not_saved_as_the_whole(world, field, tmp_path):
    if world.size == 1:
        pytest.skip("the block of one rank is the whole")
    checkpoint = pytest.importorskip("syncyte.checkpoint")
    with pytest.raises(syncyte.errors.ArgumentError, match="a part of a larger tensor"):
        checkpoint.save(str(tmp_path / "block.h5"), {"field": field.local}, comm=world)


def test_checkpoints_of_a_tensor_by_a_layout(world, comm, columns, field, tmp_path):
    checkpoint = pytest.importorskip("syncyte.checkpoint")
    path = comm.bcast(str(tmp_path / "t.h5"))
    checkpoint.save(path, {"field": field, "rows": np.zeros(2)}, comm=world)
    rows = WholeTensor((NY, NX), np.float64)
    checkpoint.load(path, {"field": rows}, comm=world)
    assert np.array_equal(rows[:], numbers())
    field.sync()
    field.local_array[:] = 0
    field.sync()
    checkpoint.load(path, {"field": field}, comm=world)
    field.sync()
    assert np.array_equal(field[:], numbers())
    field.relocate(Layout.mesh(world, (NY, NX), axes=[1], block=1))
    if world.size > 1:
        with pytest.raises(syncyte.UnsupportedError, match="several boxes"):
            checkpoint.save(path, {"field": field}, comm=world)
        reverse = world.split(0, -world.rank)
        for made in (WholeTensor((8,), comm=reverse), WholeTensor.by_layout(Layout.mesh(reverse, (8,)))):
            with pytest.raises(syncyte.ArgumentError, match="a whole tensor of"):
                checkpoint.save(path, {"field": made}, comm=world)
    slots = WholeTensor.by_layout(columns, slots=2)
    with pytest.raises(syncyte.UnsupportedError, match="with slots"):
        checkpoint.save(path, {"field": slots}, comm=world)


def test_one_rank_exports_rows_alone():
    field = WholeTensor.by_layout(Layout.indices(syncyte.COMM_SELF, (4,), [3, 1, 0, 2]), "float64")
    with pytest.raises(syncyte.UnsupportedError, match="another order"):
        np.from_dlpack(field)


def test_relocation_names_itself_and_wants_the_layout_of_all_its_ranks(world, columns):
    table = WholeTensor((NY, NX), torch.float64)
    with pytest.raises(syncyte.ArgumentError, match="tensor_relocate failed"):
        table.relocate(local_rows=NY + 1)
    if world.size > 1:
        with pytest.raises(syncyte.ArgumentError, match="layout is missing on rank 0"):
            table.relocate(None if world.rank == 0 else columns)


def test_relocation_in_place(world, columns):
    table = WholeTensor((NY, NX), torch.float64, name="table")
    table[:] = numbers()
    assert table.relocate(columns) is table
    assert np.array_equal(table[:], numbers())
    assert table.layout.blocks_of(world.rank) == columns.blocks_of(world.rank)
    (block,) = columns.blocks_of(world.rank)
    assert table.local.shape == (NY, block.shape[1] - 4)
    rows = NY if world.rank == world.size - 1 else 0
    table.relocate(local_rows=rows)
    assert table.layout is None
    assert table.local.shape == (rows, NX)
    assert len(table.rows()) == rows
    if rows:
        assert np.array_equal(table.local.numpy(), numbers())
    table.sync()


@pytest.mark.parametrize("holds", ["local", "node_array", "operation"])
def test_relocation_of_a_tensor_in_use(world, columns, holds):
    table = WholeTensor((NY, NX), torch.float64)
    table[:] = numbers()
    table.sync()
    used = None
    if world.rank == 0:
        used = table.iget_box((0, 0), (NY, NX)) if holds == "operation" else getattr(table, holds)
    if world.size == 1 and holds == "operation":
        used.wait()
        return  # a rank's own elements are copied at once, and the request does not keep the tensor
    with pytest.raises(syncyte.BusyError, match="in use"):
        table.relocate(columns)
    assert np.array_equal(table[:], numbers())
    if holds == "operation" and used is not None:
        used.wait()
    del used
    table.relocate(columns)
    assert np.array_equal(table[:], numbers())
    table.sync()


def test_relocation_of_a_tensor_with_gradients(columns):
    table = WholeTensor((NY, NX), torch.float64)
    table.requires_grad_()
    with pytest.raises(syncyte.UnsupportedError, match="requires_grad_"):
        table.relocate(columns)
    table.requires_grad_(False)
    table.relocate(columns)
    table.relocate()
    table.requires_grad_()
    table.gather(torch.arange(NY)).sum().backward()
    table.sync_grad()
    assert torch.equal(table.local.grad, torch.full_like(table.local, table.comm.size))


def test_a_refused_relocation_leaves_the_views(world, columns):
    table = WholeTensor((NY, NX), torch.float64)
    parameter = table.local
    with pytest.raises(syncyte.BusyError):
        table.relocate(columns)
    assert table.local is parameter
    other = WholeTensor((NY, NX), torch.float64)
    held = other.local_array if world.rank == 0 else None
    address = other.local.data_ptr()
    with pytest.raises(syncyte.BusyError):
        other.relocate(columns)
    assert other.local.data_ptr() == address
    del held
    other.relocate(columns)


def test_a_relocated_wrapped_array_is_a_part_no_longer(world):
    if world.size == 1:
        return
    mine = np.full(2, 1.0)
    table = WholeTensor.wrap(mine)
    assert table.local_array is mine
    table.relocate(local_rows=2 * world.size if world.rank == 0 else 0)
    assert syncyte._parts.Parts({"a": mine}).of_array(mine, mine.ctypes.data, mine.nbytes) is None


def test_relocation_with_a_dropped_request_and_a_lock(world):
    table = WholeTensor((NY, NX), torch.float64, row_locks=True)
    table.iget_box((0, 0), (NY, NX))
    table.sync()
    table.relocate(local_rows=NY if world.rank == 0 else 0)
    if world.rank == world.size - 1:
        with table.lock(1):
            with pytest.raises(syncyte.BusyError, match="row 1 is locked"):
                table.relocate()
    else:
        with pytest.raises(syncyte.BusyError, match="row 1 is locked"):
            table.relocate()
    table.relocate()


def test_a_relocated_tensor_keeps_the_axes_names(world):
    table = WholeTensor((NY, NX), torch.float64)
    table.relocate(Layout.mesh(world, (NY, NX), axes=[1]).name_axes("y", "x"))
    assert table.layout.axis_names == ("y", "x")


def test_relocation_releases_a_wrapped_array(world):
    mine = np.full((2, 3), float(world.rank))
    table = WholeTensor.wrap(mine)
    table.relocate(local_rows=2 * world.size if world.rank == 0 else 0)
    table.local[:] += 1
    table.sync()
    assert np.array_equal(mine, np.full((2, 3), float(world.rank)))
    assert np.array_equal(table[:], np.repeat(np.arange(1.0, world.size + 1), 2)[:, None] * np.ones(3))
    table.sync()


def test_errors_of_relocation(world, columns):
    table = WholeTensor((NY, NX + 1), torch.float64)
    with pytest.raises(syncyte.ShapeError, match=r"expected one of shape \[4, 13\]"):
        table.relocate(columns)
    with pytest.raises(syncyte.DtypeError if world.rank == 0 else syncyte.Error, match="layout"):
        table.relocate("rows" if world.rank == 0 else None)
    with pytest.raises(syncyte.ShapeError, match="local_rows is -2"):
        table.relocate(local_rows=-2)
    with pytest.raises(syncyte.ArgumentError, match="sum of local_rows"):
        table.relocate(local_rows=NY + 1)
