# SPDX-License-Identifier: BSD-3-Clause
"""Differentiable relocation: values, adjoint identity, gradients of any order, ranks without a block, errors."""

import itertools

import pytest
import torch
import torch.distributed as dist
from mpi4py import MPI
from torch.autograd import forward_ad
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

import syncyte
from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from ranks import several
from syncyte import checkpoint
from syncyte.torch import allreduce, layout_of, layout_relocate, placements_of

WORLD = syncyte.COMM_WORLD
CELLS = 2 * WORLD.size, 5
SMALL = WORLD.size + 1, 2  # for differences, which take a call for each element


def layouts(cells=CELLS):
    """Some without a block on most ranks; nodes, of which the lower block has the right ones; ghosts; copies."""
    rows = syncyte.Layout.mesh(WORLD, cells, ghosts=[0, 1])
    yield rows
    yield syncyte.Layout.mesh(WORLD, cells, axes=[1], ghosts=1)
    yield syncyte.Layout.mesh(WORLD, cells, axes=[None])
    yield syncyte.Layout.mesh(WORLD, cells, [1])


def nodes():
    rows = syncyte.Layout.mesh(WORLD, CELLS)
    yield rows.like(shared=True, truth="lower", ghosts=1)
    yield syncyte.Layout.mesh(WORLD, CELLS, axes=[1]).like(shared=True, truth="upper")
    yield syncyte.Layout.mesh(WORLD, CELLS, axes=[None], shared=True)


def pairs():
    return [*itertools.product(layouts(), layouts()), *itertools.product(nodes(), nodes())]


def block(layout):
    """The shape of this rank's array, or None."""
    blocks = layout.blocks_of(WORLD.rank)
    return tuple(blocks[0].shape) if blocks else None


def tensor_of(layout, seed):
    """Whole numbers in all places, ghosts too: sums of them are equal in any order. None without a block."""
    shape = block(layout)
    generator = torch.Generator().manual_seed(31 * seed + WORLD.rank)
    return None if shape is None else torch.randint(-9, 9, shape, generator=generator).to(torch.float64)


def of_all(*values):
    return allreduce(torch.tensor([float(each) for each in values], dtype=torch.float64))


def test_values_and_adjoint_identity():
    """<R x, y> = <x, R' y>, also where ranks have no tensor of one of the layouts."""
    for number, (before, after) in enumerate(pairs()):
        x, y = tensor_of(before, number), tensor_of(after, 1000 + number)
        if x is not None:
            x.requires_grad_()
        moved = layout_relocate(before, x, after, dtype=torch.float64)
        out = None if y is None else torch.zeros_like(y)
        before.relocate(None if x is None else x.detach(), after, out, dtype="float64")
        assert y is None or torch.equal(moved.detach(), out)
        assert moved.requires_grad
        moved.backward(torch.zeros_like(moved) if y is None else y)
        left = 0 if y is None else (moved.detach() * y).sum()
        right = 0 if x is None else (x.detach() * x.grad).sum()
        left, right = of_all(left, right)
        assert left == right, (before.describe(), after.describe())
        back = before.relocate_adjoint(y, after, dtype="float64")
        assert x is None or torch.equal(x.grad, torch.as_tensor(back))


def test_a_box_has_gradients():
    rows = next(layouts(SMALL))
    box = syncyte.Layout.mesh(WORLD, (SMALL[0] - 1, 1), ghosts=1)
    x = [torch.randn(block(rows), dtype=torch.float64)]
    distributed_gradcheck(lambda a: layout_relocate(rows, a, box, first=(1, 1)), x)
    y = [torch.randn(block(box), dtype=torch.float64)]
    distributed_gradcheck(lambda a: layout_relocate(box, a, rows, first=(1, 1)), y)


def test_gradients():
    before, middle, after = list(layouts(SMALL))[:3]
    x = [torch.randn(block(before), dtype=torch.complex128)]
    distributed_gradcheck(lambda a: layout_relocate(before, a * a, after), x)
    real = [torch.randn(block(before), dtype=torch.float64)]
    distributed_gradgradcheck(lambda a: (layout_relocate(before, a**2, middle) ** 3).sum(), real, tolerance=1e-4)


def test_forward_mode():
    before, after = list(layouts())[:2]
    x, tangent = tensor_of(before, 1), tensor_of(before, 2)
    _, moved = torch.func.jvp(lambda a: layout_relocate(before, a, after), (x,), (tangent,))
    assert torch.equal(moved, layout_relocate(before, tangent, after))


def test_integers_have_no_gradient():
    before, after = list(layouts())[:2]
    x = tensor_of(before, 3)
    moved = layout_relocate(before, x.to(torch.int32), after)
    assert moved.dtype == torch.int32
    assert not moved.requires_grad
    assert torch.equal(moved.double(), layout_relocate(before, x, after))


def test_views_and_expanded_gradients():
    before, after = list(layouts())[:2]
    x = tensor_of(before, 4)
    turned = x.t().contiguous().t().requires_grad_()
    moved = layout_relocate(before, turned, after)
    assert torch.equal(moved.detach(), layout_relocate(before, x, after))
    moved.sum().backward()  # whose gradient is one number, expanded
    expected = torch.ones_like(x)
    expected[:, [0, -1]] = 0
    assert torch.equal(turned.grad, expected)


def test_several_blocks_of_a_rank():
    boxes = [((row, 0), (1, CELLS[1])) for row in range(CELLS[0]) if row % WORLD.size == WORLD.rank]
    before = syncyte.Layout.blocks(WORLD, CELLS, boxes)
    after = syncyte.Layout.mesh(WORLD, CELLS)
    x = [torch.full((1, CELLS[1]), float(row[0]), requires_grad=True) for row, _ in boxes]
    moved = layout_relocate(before, x, after)
    assert torch.equal(moved[:, 0].detach(), 2.0 * WORLD.rank + torch.arange(2))
    there = layout_relocate(after, moved, before)
    assert isinstance(there, list)
    sum((each * place).sum() for place, each in enumerate(there)).backward()
    assert [each.grad[0, 0] for each in x] == [0, 1]


@pytest.fixture(scope="module")
def group(tmp_path_factory):
    """A process group of torch.distributed over all ranks."""
    file = MPI.COMM_WORLD.bcast(str(tmp_path_factory.mktemp("group") / "store"))
    dist.init_process_group("gloo", store=dist.FileStore(file, WORLD.size), rank=WORLD.rank, world_size=WORLD.size)
    yield
    dist.destroy_process_group()


def meshes_and_placements():
    """Uneven, several axes, one axis cut twice, copies, and a mesh without some of the ranks."""
    flat = init_device_mesh("cpu", (WORLD.size,))
    for placement in (Shard(0), Shard(1), Replicate()):
        yield flat, [placement]
    grid = init_device_mesh("cpu", (WORLD.size, 1) if WORLD.size % 2 else (2, WORLD.size // 2))
    yield from ((grid, list(both)) for both in itertools.product((Shard(0), Shard(1), Replicate()), repeat=2))
    yield DeviceMesh("cpu", [0]), [Shard(0)]


def test_a_dtensor_has_a_layout(group):
    whole = torch.arange(5.0 * 7).reshape(5, 7)
    on_all = syncyte.Layout.mesh(WORLD, (5, 7), axes=[None])
    for mesh, placements in meshes_and_placements():
        tensor = distribute_tensor(whole, mesh, placements)
        layout = layout_of(tensor)
        own = tensor.to_local()
        moved = layout_relocate(layout, own, on_all, dtype=torch.float32)
        assert torch.equal(moved, whole), (mesh, placements)
        back = layout_relocate(on_all, whole, layout)
        assert own.numel() == back.numel() == 0 or torch.equal(back, own), (mesh, placements)


def test_a_layout_has_placements(group):
    whole = torch.arange(5.0 * 7).reshape(5, 7)
    for mesh, placements in meshes_and_placements():
        tensor = distribute_tensor(whole, mesh, placements)
        found = placements_of(layout_of(tensor), mesh)
        if mesh.get_coordinate() is not None:
            made = DTensor.from_local(tensor.to_local(), mesh, found, shape=whole.shape, stride=whole.stride())
            assert torch.equal(made.full_tensor(), whole), (mesh, placements, found)
    flat = init_device_mesh("cpu", (WORLD.size,))
    found = placements_of(syncyte.Layout.mesh(WORLD, (5, 7), axes=[1], ceil=True), flat)
    assert WORLD.size == 1 or found == (Shard(1),)
    lists = syncyte.Layout.indices(WORLD, 2 * WORLD.size, [2 * WORLD.rank, 2 * WORLD.rank + 1])
    with pytest.raises(syncyte.UnsupportedError, match="listed points"):
        placements_of(lists, flat)
    with pytest.raises(syncyte.UnsupportedError, match="no placements"):
        placements_of(syncyte.Layout.mesh(WORLD, (5, 7), ghosts=1), flat)
    with pytest.raises(syncyte.DtypeError, match="DeviceMesh"):
        placements_of(syncyte.Layout.mesh(WORLD, (5, 7)), [2])


def test_a_dtensor_without_a_cut_is_refused(group):
    mesh = init_device_mesh("cpu", (WORLD.size,))
    with pytest.raises(syncyte.UnsupportedError, match="terms of sums"):
        layout_of(DTensor.from_local(torch.ones(2), mesh, [Partial()]))
    with pytest.raises(syncyte.UnsupportedError, match="no layout"):
        layout_of(distribute_tensor(torch.ones(()), mesh, [Replicate()]))
    with pytest.raises(syncyte.DtypeError, match="DTensor"):
        layout_of(torch.ones(2))
    if WORLD.size > 1:
        with pytest.raises(syncyte.ArgumentError, match="rank 0 of 1; expected torch.distributed"):
            layout_of(distribute_tensor(torch.ones(2), mesh, [Replicate()]), syncyte.COMM_SELF)


@several
def test_ranks_that_record_and_do_not():
    before, after = list(layouts())[:2]
    x = tensor_of(before, 5).requires_grad_(WORLD.rank == 0)
    with pytest.raises(syncyte.MismatchError, match="needs-gradient is 1 on rank 0 and 0 on rank 1"):
        layout_relocate(before, x, after)
    moved = layout_relocate(before, x, after, mixed_grad=True)
    assert moved.requires_grad
    moved.sum().backward()
    assert (x.grad is None) == (WORLD.rank != 0)


@several
def test_a_wrong_call_leaves_later_ones_alone():
    rows, columns = list(layouts())[:2]
    x, y = tensor_of(rows, 9), tensor_of(columns, 9)
    with pytest.raises(syncyte.Error):
        layout_relocate(*((columns, y, rows) if WORLD.rank == 0 else (rows, x, columns)))
    with pytest.raises(syncyte.MismatchError, match="mixed_grad"):
        layout_relocate(rows, x, columns, mixed_grad=WORLD.rank == 0)
    for before in (rows, next(layouts())):  # another object with the same cut
        moved = layout_relocate(before if WORLD.rank == 0 else rows, x.clone().requires_grad_(), columns)
        moved.sum().backward()


@several
def test_a_rank_without_a_tensor_that_records_nothing():
    first, rows = list(layouts())[-1], next(layouts())
    x = tensor_of(first, 10)
    if x is not None:
        x.requires_grad_()
    with torch.set_grad_enabled(WORLD.rank != 1), pytest.raises(syncyte.MismatchError, match="needs-gradient"):
        layout_relocate(first, x, rows, dtype=torch.float64)
    with forward_ad.dual_level(), pytest.raises(syncyte.UnsupportedError, match="rank 1 has none"):
        dual = None if x is None else forward_ad.make_dual(x, x)
        layout_relocate(first, dual, rows, dtype=torch.float64)


def test_layouts_that_are_freed_before_backward():
    rows, columns = list(layouts())[:2]
    x = tensor_of(rows, 11).requires_grad_()
    moved = layout_relocate(rows, x, columns)
    if WORLD.rank == 0:
        rows.free()
        columns.free()
    moved.sum().backward()
    assert x.grad is not None


def test_vmap_over_backward_is_refused():
    rows, columns = list(layouts())[:2]
    x = tensor_of(rows, 12)
    with pytest.raises(syncyte.UnsupportedError, match="vmap"):
        torch.func.jacrev(lambda a: layout_relocate(rows, a, columns))(x)
    WORLD.barrier()


@several
def test_second_derivatives_need_blocks_on_all_ranks():
    rows, *_, first = layouts()
    x = tensor_of(rows, 6).requires_grad_()
    collected = layout_relocate(rows, x, first)
    with pytest.raises(syncyte.UnsupportedError, match="rank 1 has none"):
        (collected**2).sum().backward(create_graph=True)
    WORLD.barrier()


@several
def test_backward_in_another_order_is_an_error():
    before, after = list(layouts())[:2]
    moved = [layout_relocate(before, tensor_of(before, 7).requires_grad_(), after) for _ in range(2)]
    with pytest.raises(syncyte.MismatchError, match="number of the forward"):
        moved[WORLD.rank % 2].sum().backward()
    WORLD.barrier()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda x: x[1:], syncyte.ShapeError),
        (lambda x: None, syncyte.ArgumentError),
        (lambda x: [x, x], syncyte.ArgumentError),
        (lambda x: x.numpy(), syncyte.DtypeError),
        (lambda x: x.to_sparse(), syncyte.UnsupportedError),
    ],
    ids=["shape", "none", "two", "no tensor", "sparse"],
)
def test_wrong_tensors_are_an_error_of_all_ranks(change, error):
    before, after = list(layouts())[:2]
    x = tensor_of(before, 8)
    with pytest.raises(error):
        layout_relocate(before, change(x) if WORLD.rank == WORLD.size - 1 else x, after)
    WORLD.barrier()
    layout_relocate(before, x, after)


def test_dtensors_are_saved_and_loaded_in_place(group, tmp_path):
    """Each cut into others, beside other arrays; the file has the whole."""
    path = MPI.COMM_WORLD.bcast(str(tmp_path / "dtensors.h5"))
    whole = torch.arange(5.0 * 7).reshape(5, 7)
    flat = init_device_mesh("cpu", (WORLD.size,))
    step = distribute_tensor(torch.tensor(3.0), flat, [Replicate()])
    for number, (mesh, placements) in enumerate(meshes_and_placements()):
        state = {"x": distribute_tensor(whole, mesh, placements).requires_grad_(), "step": step, "y": torch.ones(2)}
        checkpoint.save(path, state)
        found = checkpoint.load(path)
        assert torch.equal(found["x"], whole), (mesh, placements)
        assert found["step"] == 3
        others = list(meshes_and_placements())
        for other, into in (others[(number + further) % len(others)] for further in (1, 4)):
            empty = distribute_tensor(torch.zeros(5, 7), other, into)
            checkpoint.load(path, {"x": empty})
            expected = distribute_tensor(whole, other, into)
            assert torch.equal(empty.to_local(), expected.to_local()), (placements, into)


def test_dtensors_of_odd_kinds(group, tmp_path):
    """A number that rank 0 has no part of, one tensor under two keys, other strides, a result that is on its way."""
    path = MPI.COMM_WORLD.bcast(str(tmp_path / "dtensors.h5"))
    mesh = init_device_mesh("cpu", (WORLD.size,))
    last = DeviceMesh("cpu", [WORLD.size - 1])
    number = DTensor.from_local(torch.tensor(float(5 + WORLD.rank)), last, [Replicate()])
    x = distribute_tensor(torch.arange(6.0 * WORLD.size).reshape(3, 2 * WORLD.size), mesh, [Shard(1)])
    turned, coming = x.t(), x.redistribute(mesh, [Replicate()], async_op=True)
    checkpoint.save(path, {"number": number, "x": x, "again": x, "turned": turned, "coming": coming})
    whole, found = x.full_tensor(), checkpoint.load(path)
    assert found["number"] == 5 + WORLD.size - 1
    assert torch.equal(found["x"], whole)
    assert torch.equal(found["again"], whole)
    assert torch.equal(found["coming"], whole)
    assert torch.equal(found["turned"], whole.t())
    into = distribute_tensor(torch.zeros(3, 2 * WORLD.size), mesh, [Shard(1)])
    checkpoint.load(path, {"x": into, "again": into})
    assert torch.equal(into.full_tensor(), whole)
    into.zero_()
    checkpoint.load(path, {"turned": into.t()})
    assert torch.equal(into.full_tensor(), whole)


def test_fsdp_with_tied_weights(group, tmp_path):
    path = MPI.COMM_WORLD.bcast(str(tmp_path / "tied.h5"))
    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Embedding(6, 4), torch.nn.Linear(4, 6, bias=False))
    model[1].weight = model[0].weight
    fully_shard(model, mesh=init_device_mesh("cpu", (WORLD.size,)))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.arange(3)).sum().backward()
    optimizer.step()
    state = {
        **model.state_dict(),
        **{f"adam.{name}": value for name, value in optimizer.state_dict()["state"][0].items()},
    }
    checkpoint.save(path, state)
    expected = {key: value.full_tensor() if isinstance(value, DTensor) else value for key, value in state.items()}
    expected = {key: value.clone() for key, value in expected.items()}
    with torch.no_grad():
        for value in state.values():
            value.zero_()
    checkpoint.load(path, state)
    for key, value in state.items():
        assert torch.equal(value.full_tensor() if isinstance(value, DTensor) else value, expected[key]), key


def test_dtensors_elsewhere_are_refused(group, tmp_path):
    mesh = init_device_mesh("cpu", (WORLD.size,))
    path = MPI.COMM_WORLD.bcast(str(tmp_path / "dtensors.h5"))
    with pytest.raises(syncyte.UnsupportedError, match=r"mapping\['x'\] has placements"):
        checkpoint.save(path, {"x": DTensor.from_local(torch.ones(2), mesh, [Partial()])})
    with pytest.raises(syncyte.DtypeError, match=r"a DTensor; expected a plain tensor, such as its to_local\(\)"):
        WORLD.allreduce(distribute_tensor(torch.ones(2), mesh, [Replicate()]))
    if WORLD.size > 1:
        backwards = DeviceMesh("cpu", list(range(WORLD.size))[::-1])
        with pytest.raises(syncyte.UnsupportedError, match="expected ranks that ascend"):
            checkpoint.save(path, {"x": DTensor.from_local(torch.ones(2), backwards, [Shard(0)])})
        with pytest.raises(syncyte.ArgumentError, match="torch.distributed's rank"):
            checkpoint.save(path, {"x": distribute_tensor(torch.ones(2), mesh, [Replicate()])}, syncyte.COMM_SELF)
