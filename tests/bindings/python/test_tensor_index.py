# SPDX-License-Identifier: BSD-3-Clause
"""t[key] on all ranks, against numpy and torch on an array that all ranks have (the oracle)."""

import itertools

import numpy as np
import pytest
import torch

import syncyte

SHAPE = (9, 4, 3)
WHOLE = np.arange(108, dtype=np.float32).reshape(SHAPE)
PARTS = [0, -1, slice(None), slice(2, 8), slice(-3, None), slice(1, 9, 3), slice(5, 2), None, Ellipsis]
ARRAYS = [np.array([8, 0, -1]), np.array([[1], [2]]), np.array([], np.int64), WHOLE[:, 0, 0] > 40, WHOLE % 5 == 0]


@pytest.fixture(scope="module")
def tensors(world):
    """Tensors with the oracle's values: in equal parts, and with no rows on rank 0 if there are several ranks."""
    last = world.rank == world.size - 1
    made = []
    for rows in (None, SHAPE[0] if last else 0):
        tensor = syncyte.WholeTensor(SHAPE, np.float32, local_rows=rows)
        tensor.local_array[:] = WHOLE[tensor.rows().start : tensor.rows().stop]
        tensor.sync()
        made.append(tensor)
    return made


def same(result, expected):
    assert type(result) is type(expected) or np.isscalar(result)
    assert tuple(result.shape) == tuple(expected.shape)
    np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))


def test_basic_keys(tensors):
    for tensor in tensors:
        for count in (1, 2, 3):
            for key in itertools.product(PARTS, repeat=count):
                if key.count(Ellipsis) < 2 and len([part for part in key if part is not None]) <= 3:
                    same(tensor[key], WHOLE[key])


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_arrays_and_masks(tensors, array):
    for tensor in tensors:
        same(tensor[array], WHOLE[array])
        same(tensor[torch.from_numpy(array)], torch.from_numpy(WHOLE)[torch.from_numpy(array)])


def test_mixed_keys(tensors):
    for tensor in tensors:
        for key in ((np.array([8, 0]), slice(1, 3)), (np.array([8, 0]), np.array([1, -1])), (np.array([1, 1]), 2, 0)):
            same(tensor[key], WHOLE[key])
        same(tensor[torch.tensor([8, 0]), ..., -1], torch.from_numpy(WHOLE)[torch.tensor([8, 0]), ..., -1])


def test_columns_and_negative_steps(tensors):
    keys = (
        slice(None, None, -1),
        (slice(8, 1, -3), slice(None, None, -2)),
        (slice(None), [3, 0]),
        (slice(None, None, -2), np.array([3, 0]), slice(None, None, -1)),
        (slice(2, 8), WHOLE[0, :, 0] > 3),
        (7, [3, 0]),
        (slice(None), slice(None), np.array([2, 0])),
    )
    for tensor in tensors:
        for key in keys:
            same(tensor[key], WHOLE[key])
        assert torch.from_numpy(tensor[::-1, :, ::-1]).shape == SHAPE
        columns = torch.tensor([3, 0])
        same(tensor[1:7:2, columns], torch.from_numpy(WHOLE)[1:7:2, columns])
        same(tensor[::-1, columns], torch.from_numpy(WHOLE[::-1].copy())[:, columns])


def test_writes_in_reverse(world):
    tensor = syncyte.WholeTensor((6, 2), np.float32)
    if world.rank == 0:
        tensor[::-2] = np.arange(6, dtype=np.float32).reshape(3, 2)
    tensor.sync()
    expected = np.zeros((6, 2), np.float32)
    expected[::-2] = np.arange(6).reshape(3, 2)
    same(tensor[:], expected)
    assert tensor.numel() == 12
    assert tensor.nbytes == 48
    assert syncyte.WholeTensor((2**40, 0), "int8").nbytes == 0
    world.barrier()


def test_a_result_is_a_copy(world, tensors):
    part = tensors[0][1:3]
    part[:] = -1
    world.barrier()
    same(tensors[0][1:3], WHOLE[1:3])


def test_bfloat16_is_assigned_as_bits_by_numpy_and_as_numbers_otherwise():
    half = syncyte.WholeTensor((3, 2), "bfloat16", comm=syncyte.COMM_SELF)
    half.local_array[:] = 0x4040  # 3.0
    half.local_array[1] = 0x3F80  # 1.0
    half[0] = half[1]
    half[[2]] = half.local_array[:1]
    half[2, 1] = half.local_array[0, 1]
    half[1] = half.local_array[1].astype(">u2")
    with pytest.raises(syncyte.ArgumentError, match="same memory"):
        half[:] = half.local_array[::-1]
    single = syncyte.WholeTensor((3, 2), "float32", comm=syncyte.COMM_SELF)
    single[:] = half
    assert single.local_array[:, 0].tolist() == [1, 1, 1]
    half[:] = np.arange(6.0).reshape(3, 2)[::-1].astype(">f8")
    single[:] = half
    assert single.local_array.tolist() == [[4, 5], [2, 3], [0, 1]]
    numbers = torch.tensor([1 + 2j, 3 - 1j])
    whole = syncyte.WholeTensor((1, 2), "complex64", comm=syncyte.COMM_SELF)
    whole[0] = numbers.conj()
    assert whole.local_array.tolist() == [[1 - 2j, 3 + 1j]]
    with pytest.raises(syncyte.DtypeError, match="layout torch.sparse_coo"):
        whole[0] = numbers.to_sparse()
