# SPDX-License-Identifier: BSD-3-Clause
"""Differentiable exchanges and sums of bundles: values, adjoint identity, gradients, errors."""

import contextlib

import pytest
import torch

import syncyte
from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from ranks import several
from syncyte.torch import allreduce, bundle_exchange, bundle_sum

WORLD = syncyte.COMM_WORLD


class Scene:
    """Cells with two ghosts, nodes, and integers of cells, of a line of ranks that is periodic or not."""

    def __init__(self, periodic: bool):
        cells = syncyte.Layout.mesh(WORLD, (3 * WORLD.size, 4), axes=[0], ghosts=[2, 0], periodic=[periodic, False])
        nodes = cells.like(shared=[True, False], ghosts=[1, 1])
        self.bundle = syncyte.Bundle(WORLD)
        self.layouts = {"cells": cells, "nodes": nodes, "marks": cells}
        self.types = {"cells": torch.float64, "nodes": torch.float64, "marks": torch.int32}
        for name, layout in self.layouts.items():
            self.bundle.add(name, layout, torch.zeros(self.shape(name), dtype=self.types[name]))

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.layouts[name].blocks_of(WORLD.rank)[0].shape)

    def tensors(self, seed: int) -> dict[str, torch.Tensor]:
        """Whole numbers: sums of them are equal in any order."""
        generator = torch.Generator().manual_seed(97 * seed + WORLD.rank)
        return {
            name: torch.randint(-9, 9, self.shape(name), generator=generator).to(dtype)
            for name, dtype in self.types.items()
        }

    def in_place(self, operation: str, tensors: dict[str, torch.Tensor], *arguments) -> dict[str, torch.Tensor]:
        results = {name: tensor.detach().clone() for name, tensor in tensors.items()}
        for name, tensor in results.items():
            self.bundle.set_arrays(name, tensor)
        getattr(self.bundle, operation)(*arguments, only=list(results))
        return results


@pytest.fixture(params=[False, True], ids=["open", "periodic"])
def scene(request):
    return Scene(request.param)


@pytest.mark.parametrize("names", [("cells", "nodes", "marks"), ("nodes",), ("marks", "cells")])
def test_values_are_those_of_the_operation_in_place(scene, names):
    given = {name: tensor for name, tensor in scene.tensors(1).items() if name in names}
    before = {name: tensor.clone() for name, tensor in given.items()}
    for results, expected in (
        (bundle_exchange(scene.bundle, given), scene.in_place("exchange", given, 0)),
        (bundle_exchange(scene.bundle, given, depth=1), scene.in_place("exchange", given, 1)),
        (bundle_sum(scene.bundle, given), scene.in_place("sum", given)),
    ):
        assert list(results) == [name for name in scene.bundle.fields if name in names]
        for name in names:
            assert torch.equal(results[name], expected[name]), name
            assert torch.equal(given[name], before[name]), name


@pytest.mark.parametrize("operation", [bundle_exchange, bundle_sum])
def test_adjoint_identity(scene, operation):
    """<H x, y> = <x, H' y> with random whole numbers: equal to the last bit. Integers have no part in it."""
    x, y = scene.tensors(2), scene.tensors(3)
    moved = ("cells", "nodes")
    for name in moved:
        x[name].requires_grad_()
    hx = operation(scene.bundle, x)
    assert not hx["marks"].requires_grad
    hy = torch.autograd.grad([hx[name] for name in moved], [x[name] for name in moved], [y[name] for name in moved])
    left = sum((hx[name].detach() * y[name]).sum() for name in moved)
    right = sum((x[name].detach() * adjoint).sum() for name, adjoint in zip(moved, hy, strict=True))
    left, right = allreduce(torch.stack([left, right]))
    assert left == right
    expected = (
        scene.in_place("accumulate", {name: y[name] for name in moved}, 0) if operation is bundle_exchange else None
    )
    if expected is not None:
        assert all(torch.equal(adjoint, expected[name]) for name, adjoint in zip(moved, hy, strict=True))


@pytest.mark.parametrize("operation", [bundle_exchange, bundle_sum])
def test_gradients(scene, operation):
    def moved(cells, nodes):
        results = operation(scene.bundle, {"nodes": nodes, "cells": cells})
        return results["cells"], results["nodes"]

    x = [torch.randn(scene.shape(name), dtype=torch.float64) for name in ("cells", "nodes")]
    distributed_gradcheck(lambda a, b: sum((each * each).sum() for each in moved(a, b)), x)
    distributed_gradgradcheck(lambda a, b: sum((each**3).sum() for each in moved(a * a, b)), x, tolerance=1e-4)


def test_a_bundle_that_is_freed_before_backward(scene):
    given = scene.tensors(10)
    given["cells"].requires_grad_()
    moved = bundle_exchange(scene.bundle, given)["cells"]
    if WORLD.rank == 0:
        scene.bundle.free()
    moved.sum().backward()
    assert given["cells"].grad is not None


def test_a_field_without_a_gradient_has_part_in_backward(scene):
    """Neighbours need not differentiate the same field; the field's cotangents are zeros where it has none."""
    given = scene.tensors(4)
    own = "cells" if WORLD.rank % 2 == 0 else "nodes"
    given[own].requires_grad_()
    bundle_exchange(scene.bundle, given)[own].sum().backward()
    assert given[own].grad is not None


def test_forward_mode(scene):
    x, tangent = scene.tensors(5), scene.tensors(6)

    def cells_and_nodes(cells, nodes):
        results = bundle_exchange(scene.bundle, {"cells": cells, "nodes": nodes, "marks": x["marks"]})
        return results["cells"], results["nodes"]

    primals, tangents = ((each["cells"], each["nodes"]) for each in (x, tangent))
    _, moved = torch.func.jvp(cells_and_nodes, primals, tangents)
    expected = scene.in_place("exchange", {"cells": tangent["cells"], "nodes": tangent["nodes"]}, 0)
    assert torch.equal(moved[0], expected["cells"])
    assert torch.equal(moved[1], expected["nodes"])


@several
def test_neighbours_that_differ_are_told():
    scene = Scene(periodic=False)
    is_told = WORLD.rank <= 1  # rank 0 and its neighbour
    given = scene.tensors(7)
    if WORLD.rank == 0:
        given["cells"].requires_grad_()
    with pytest.raises(syncyte.MismatchError) if is_told else contextlib.nullcontext():
        bundle_exchange(scene.bundle, given)
    given = scene.tensors(7)
    if WORLD.rank == 0:
        del given["nodes"]
    with pytest.raises(syncyte.MismatchError) if is_told else contextlib.nullcontext():
        bundle_exchange(scene.bundle, given)
    WORLD.barrier()
    bundle_exchange(scene.bundle, scene.tensors(8))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda given: given.update(other=given.pop("cells")), syncyte.ArgumentError),
        (lambda given: given.update(cells=given["cells"][1:]), syncyte.ShapeError),
        (lambda given: given.update(cells=given["cells"].float()), syncyte.DtypeError),
        (lambda given: given.update(cells=None), syncyte.ArgumentError),
        (lambda given: given.update(cells=[given["cells"]] * 2), syncyte.ArgumentError),
        (lambda given: given.update(cells="cells"), syncyte.DtypeError),
        (lambda given: given.update(cells=given["cells"].to_sparse()), syncyte.UnsupportedError),
    ],
    ids=["name", "shape", "type", "none", "two", "no tensor", "sparse"],
)
def test_wrong_tensors_are_an_error_of_all_ranks(scene, change, error):
    given = scene.tensors(9)
    change(given)
    with pytest.raises(error):
        bundle_exchange(scene.bundle, given)
    WORLD.barrier()
    bundle_exchange(scene.bundle, scene.tensors(9))


def test_several_blocks_and_none():
    """The first rank has two blocks, the last one none."""
    count = max(WORLD.size - 1, 1) + 1
    own = [0, 1] if WORLD.rank == 0 else [] if WORLD.rank == WORLD.size - 1 else [WORLD.rank + 1]
    cells = syncyte.Layout.blocks(WORLD, (3 * count,), [((3 * each,), (3,)) for each in own], ghosts=1)
    bundle = syncyte.Bundle(WORLD)
    bundle.add("x", cells, [torch.zeros(5, dtype=torch.float64) for _ in own], dtype="float64")
    given = [torch.full((5,), float(each), dtype=torch.float64, requires_grad=True) for each in own]
    result = bundle_exchange(bundle, {"x": given})["x"]
    for each, block in zip(own, result, strict=True):
        assert block[0] == max(each - 1, 0)
        assert block[-1] == min(each + 1, count - 1)
    if own:
        sum(block.sum() for block in result).backward()
        assert all(block.grad[1] == 1 + (each > 0) for each, block in zip(own, given, strict=True))


@several
def test_need_for_second_gradients_is_a_fact():
    """A cotangent that is constant on one rank, and depends on the result on its neighbour."""
    scene = Scene(periodic=False)
    x = torch.randn(scene.shape("cells"), dtype=torch.float64, requires_grad=True)
    moved = bundle_exchange(scene.bundle, {"cells": x})["cells"]
    loss = moved.sum() if WORLD.rank == 0 else (moved**2).sum()
    with pytest.raises(syncyte.MismatchError) if WORLD.rank <= 1 else contextlib.nullcontext():
        torch.autograd.grad(loss, x, create_graph=True)
    WORLD.barrier()


@several
@pytest.mark.parametrize("wrong", ["no fields", {"unknown": None}], ids=["words", "name"])
def test_a_caught_error_of_one_rank_is_no_later_ones(wrong):
    scene = Scene(periodic=False)
    given = {"cells": scene.tensors(1)["cells"]}
    with pytest.raises(syncyte.Error) if WORLD.rank <= 1 else contextlib.nullcontext():
        bundle_exchange(scene.bundle, wrong if WORLD.rank == 0 else given)
    WORLD.barrier()
    bundle_exchange(scene.bundle, given)


@several
def test_tangents_on_one_rank_are_told():
    scene = Scene(periodic=False)
    x = scene.tensors(1)["cells"]

    def moved(x):
        return bundle_exchange(scene.bundle, {"cells": x})["cells"]

    with pytest.raises(syncyte.MismatchError) if WORLD.rank <= 1 else contextlib.nullcontext():
        torch.func.jvp(moved, (x,), (x,)) if WORLD.rank == 0 else moved(x)
    WORLD.barrier()


def test_what_cannot_be_traced_is_refused(scene):
    given = {"cells": scene.tensors(1)["cells"]}
    with pytest.raises(syncyte.UnsupportedError):
        torch.fx.experimental.proxy_tensor.make_fx(lambda x: bundle_exchange(scene.bundle, {"cells": x})["cells"])(
            given["cells"]
        )
    with pytest.raises(syncyte.UnsupportedError):
        torch.vmap(lambda x: bundle_exchange(scene.bundle, {"cells": x})["cells"])(torch.stack([given["cells"]] * 2))
    WORLD.barrier()
    bundle_exchange(scene.bundle, given)
