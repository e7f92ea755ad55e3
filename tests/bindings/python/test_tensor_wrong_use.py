# SPDX-License-Identifier: BSD-3-Clause
"""Wrong use of whole tensors: an exception on all ranks of a collective call, on the caller of a local one."""

import copy
import pickle

import numpy as np
import pytest
import torch

import syncyte
from operators import needs_operators


def last(world):
    return world.rank == world.size - 1


def test_creation_with_wrong_arguments(world):
    for shape, dtype, error in [
        ((3, -1), "float32", syncyte.ShapeError),
        ((3,) * 9, "float32", syncyte.ShapeError),
        ((), "float32", syncyte.ShapeError),
        ((2**40, 2**40), "int8", syncyte.ShapeError),
        ((2**70,), "int8", syncyte.ShapeError),
        ((3.5,), "int8", TypeError),
        ((3,), "float31", TypeError),
        ((2**50,), "int8", MemoryError),
    ]:
        with pytest.raises(error) as caught:
            syncyte.WholeTensor(shape, dtype)
        assert isinstance(caught.value, syncyte.Error)
        with pytest.raises((error, syncyte.MismatchError)):
            syncyte.WholeTensor(*((shape, dtype) if last(world) else ((3,), dtype)))


def test_creation_where_ranks_disagree(world):
    with pytest.raises(ValueError, match="add up|local_rows"):
        syncyte.WholeTensor((10,), local_rows=10 // world.size + 1)
    with pytest.raises(ValueError):
        syncyte.WholeTensor((10,), local_rows=-2 if last(world) else 10)
    if world.size > 1:
        for arguments in (((3,), "int8"), ((4,), "int16")):
            with pytest.raises(syncyte.MismatchError):
                syncyte.WholeTensor(*(arguments if last(world) else ((4,), "int8")))
    tensor = syncyte.WholeTensor((4,))
    tensor.sync()


def test_wrap_with_wrong_arrays(world):
    good = np.ones((2, 3))
    for wrong, error in [
        (good.T, syncyte.ShapeError),
        (np.float64(1), syncyte.Error),
        (np.ones(()), syncyte.ShapeError),
        ([1, 2], TypeError),
    ]:
        with pytest.raises(error):
            syncyte.WholeTensor.wrap(wrong if last(world) else good)
    if world.size > 1:
        with pytest.raises(syncyte.MismatchError):
            syncyte.WholeTensor.wrap(np.ones((2, 4)) if last(world) else good)


def test_indices_out_of_range(world):
    tensor = syncyte.WholeTensor((6, 2), "float64")
    ones = np.ones((3, 2))
    for row in (6, -1, 2**40):
        index = np.array([0, row, 1])
        for call in (
            lambda: tensor.gather(index),
            lambda: tensor.scatter_(index, ones),
            lambda: tensor.scatter_add_(index, ones),
            lambda: tensor.owner(index),
        ):
            with pytest.raises(IndexError, match=rf"{row}\b.*position 1|position 1.*{row}\b"):
                call()
    out = np.full((2, 2), 7.0)
    with pytest.raises(IndexError):
        tensor.gather([0, 6], out=out)
    assert (out == 7).all()
    with pytest.raises(IndexError, match="index 9"):
        tensor[9]
    with pytest.raises(IndexError):
        tensor[0, 2]
    tensor.sync()
    assert not tensor.local.any()


def test_wrong_rows(world):
    tensor = syncyte.WholeTensor((6, 2), "float64")
    index = np.array([0, 1])
    for source, error in [
        (np.ones((2, 3)), syncyte.ShapeError),
        (np.ones((3, 2)), syncyte.ShapeError),
        (np.ones(4), syncyte.ShapeError),
        (np.ones((2, 2), np.float32), syncyte.DtypeError),
        (np.ones((4, 2))[::2], syncyte.ShapeError),
        (torch.ones(2, 2, dtype=torch.float64).T, syncyte.ShapeError),
        ("ab", syncyte.DtypeError),
    ]:
        for call in (tensor.scatter_, tensor.scatter_add_, tensor.gather):
            with pytest.raises(error):
                call(index, source)
    for wrong in (np.array([0.0, 1]), np.array([0, 1], np.int16), torch.tensor([True, False]), None):
        with pytest.raises(TypeError):
            tensor.gather(wrong)


def test_wrong_boxes(world):
    tensor = syncyte.WholeTensor((6, 2), "float64")
    for lower, extent, error in [
        ((5, 0), (2, 2), IndexError),
        ((-1, 0), (1, 1), IndexError),
        ((0,), (1,), syncyte.ShapeError),
        ((0, 0), (-1, 1), syncyte.ShapeError),
        ((0, 2**63), (1, 1), IndexError),
        ((0.5, 0), (1, 1), TypeError),
    ]:
        with pytest.raises(error):
            tensor.get_box(lower, extent)
    with pytest.raises(syncyte.DtypeError):
        tensor.put_box((0, 0), np.ones((1, 1), np.int32))
    with pytest.raises(ValueError):
        tensor.get_box((0, 0))
    with pytest.raises(syncyte.ShapeError, match="broadcast"):
        tensor[1:3] = np.ones((3, 2))
    with pytest.raises(TypeError):
        tensor[0] = object()


def test_wrong_counters(world):
    numbers = syncyte.WholeTensor((6, 2), "int64")
    for element, error in [
        (12, IndexError),
        (-1, IndexError),
        ((0, 2), IndexError),
        ((0,), ValueError),
        ("a", TypeError),
    ]:
        with pytest.raises(error):
            numbers.fetch_add(element)
    for call in (
        lambda: numbers.store(0, 2**63),
        lambda: numbers.wait(0, ">", 1),
        lambda: numbers.wait(0, "==", 1, timeout=-1),
        lambda: numbers.wait(0, "==", 1, timeout=float("nan")),
    ):
        with pytest.raises(ValueError):
            call()
    for timeout in ("x", "1", b"1", [1.0], object()):
        with pytest.raises(syncyte.DtypeError, match="timeout is .*; expected a number"):
            numbers.wait(0, "==", 0, timeout=timeout)
    assert numbers.wait(0, "==", 0, timeout=np.float32(0.5)) == 0
    with pytest.raises(TypeError):
        syncyte.WholeTensor((6,), "float32").load(0)


def test_freed_tensor(world):
    tensor = syncyte.WholeTensor((6,), "int64")
    view = tensor.local_array
    tensor.free()
    tensor.free()
    assert "freed" in repr(tensor)
    for call in (tensor.sync, lambda: tensor[0], lambda: tensor.load(0), lambda: tensor.local):
        with pytest.raises(syncyte.HandleError, match="freed"):
            call()
    view[:] = 3
    world.collect()
    assert (view == 3).all()


@needs_operators
def test_gradients_need_asking(world):
    tensor = syncyte.WholeTensor((6,), "float32")
    with pytest.raises(syncyte.UnsupportedError, match="requires_grad_"):
        tensor.sync_grad()


def test_objects_made_in_another_order_are_not_each_others(world):
    odd = world.rank == world.size - 1
    makers = (
        lambda name, label: syncyte.WholeTensor((4, 3), "float64", name=name, label=label),
        lambda name, label: syncyte.WholeTensor.zeros((4, 3), name=name, label=label),
        lambda name, label: syncyte.WholeTensor.wrap(np.zeros((2, 3)), name=name, label=label),
        lambda name, label: syncyte.Window(8, name=name, label=label),
        lambda name, label: syncyte.Store(10, 3, name=name, label=label),
    )
    different = [("temperature", "source"), ("temperature", None), ("", "source")] if world.size > 1 else []
    for make in makers:
        for usual, other in different:
            with pytest.raises(syncyte.MismatchError, match="the ranks of world disagree: name of") as caught:
                make(other if odd else usual, None)
            for name in (usual, other):
                assert (f'"{name}" on rank' if name else "none on rank") in str(caught.value)
        made = make("temperature", f"of rank {world.rank}")
        assert f"of rank {world.rank}" in repr(made)
        assert "temperature" not in repr(made)
        make(None if odd else "", None)
        with pytest.raises(syncyte.ArgumentError, match="label is"):
            make("temperature", "zero\0byte")


def test_a_wait_in_vain_names_tensor_and_element(world):
    named = syncyte.WholeTensor((2, 3), "int64", name="flags")
    wrapped = syncyte.WholeTensor.wrap(np.zeros(2, np.int64), name="own")
    plain = syncyte.WholeTensor((2, 3), "int64")
    texts = ("tensor 'flags'", "tensor 'own'", r"the tensor of shape \(2, 3\)")
    for tensor, text in zip((named, wrapped, plain), texts, strict=True):
        element = tensor.rows().start * (3 if tensor.ndim == 2 else 1)
        element = element if tensor.rows() else 0
        with pytest.raises(syncyte.WaitTimeoutError, match=f"^wait: element {element} of {text} is 0; it was not >= 1"):
            tensor.wait(element, ">=", 1, timeout=0.01)
    assert "'flags'" in repr(named)
    assert "None" not in repr(plain)
    world.barrier()


def test_copies_and_pickles_are_refused_by_name(world):
    tensor, window = syncyte.WholeTensor((2, 3)), syncyte.Window(8)
    for thing, kind in ((tensor, "WholeTensor"), (window, "Window")):
        for copier in (copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=f"a {kind} spans ranks and cannot be copied"):
                copier(thing)
        with pytest.raises(TypeError, match=f"a {kind} .* cannot be pickled; save"):
            pickle.dumps(thing)
    module = torch.nn.Linear(2, 2)
    module.table = tensor
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.deepcopy(module)


@pytest.mark.parametrize("index", [1.7, [0.5], [True], True])
def test_owner_wants_integers(world, index):
    tensor = syncyte.WholeTensor((world.size,), np.float64)
    with pytest.raises(syncyte.DtypeError, match="expected integers"):
        tensor.owner(index)


def test_nothing_cannot_be_assigned(world):
    tensor = syncyte.WholeTensor((world.size,), np.float64)
    with pytest.raises(syncyte.DtypeError, match="values is None"):
        tensor[0] = None


def test_operands_in_the_rows_of_the_call(world):
    tensor = syncyte.WholeTensor((4 * world.size, 2), torch.float64)
    first = 4 * world.rank
    counters = syncyte.WholeTensor((1,), "int64")
    tensor.set_optimizer("sgd", lr=1.0)
    shifted, reverse = first + torch.tensor([1, 2, 3]), first + torch.tensor([3, 2, 1, 0])
    local, array = tensor.local, tensor.local_array
    for call in (
        lambda: tensor.scatter_(shifted, local[:3]),
        lambda: tensor.iscatter_(reverse, local),
        lambda: tensor.scatter_add_(shifted, local[:3]),
        lambda: tensor.iscatter_add_(shifted, local[:3]),
        lambda: tensor.gather(reverse, out=local),
        lambda: tensor.igather(reverse, out=local),
        lambda: tensor.put_signal_(reverse, local, counters, 0),
        lambda: tensor.apply_gradients(shifted, local[:3]),
        lambda: tensor.put_box((first, 0), array[::-1]),
        lambda: tensor.iput_box((first, 0), array[::-1]),
        lambda: tensor.get_box((first, 0), out=array[::-1]),
        lambda: tensor.accumulate_box((first + 1, 0), array[:3]),
        lambda: tensor.__setitem__(reverse, local),
        lambda: tensor.__setitem__(slice(first + 1, first + 4), array[:3]),
        lambda: tensor.__setitem__(slice(first, first + 4), array[::-1]),
    ):
        local[:] = torch.arange(4.0)[:, None]
        with pytest.raises(syncyte.ArgumentError, match=r"row\[\d+\] is in the same memory.*clone\(\)"):
            call()
        assert local[:, 0].tolist() == [0, 1, 2, 3]
    with pytest.raises(syncyte.ArgumentError, match="a value does not fit int64"):
        counters[0] = 2**70
    tensor[reverse] = local.clone()
    assert local[:, 0].tolist() == [3, 2, 1, 0]
    tensor.scatter_(first + torch.tensor([1, 3]), local[::2].clone())
    tensor.scatter_(first + torch.tensor([0, 1]), local[:2])
    tensor.scatter_add_(first + torch.tensor([2]), local[2:3])
    assert local[:, 0].tolist() == [3, 3, 2, 1]
    tensor.sync()
