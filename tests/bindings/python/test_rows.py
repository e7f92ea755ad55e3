# SPDX-License-Identifier: BSD-3-Clause
"""gather_rows() on numpy arrays. The compat module's tests cover torch tensors."""

import numpy as np
import pytest

import syncyte


def test_any_strides_index_shapes_and_conversion(world):
    table = np.arange(60, dtype=np.float64).reshape(10, 6)
    index = np.array([[9, 0], [3, 3]], np.int32)
    for part in (table, table[::-1], table[:, 1::2], table.T[:, :4].T, table[:, 0], table.reshape(10, 2, 3)):
        index_inside = index % len(part)
        assert np.array_equal(syncyte.gather_rows(part, index_inside), part[index_inside])
        found = syncyte.gather_rows(part, index_inside, dtype="float16")
        assert found.dtype == np.float16
        assert np.array_equal(found, part[index_inside].astype(np.float16))


def test_out_is_filled_and_returned(world):
    table = np.arange(8, dtype=np.int64).reshape(4, 2)
    out = np.zeros((3, 2), np.int64)
    assert syncyte.gather_rows(table, [3, 0, 3], out=out) is out
    assert out.tolist() == [[6, 7], [0, 1], [6, 7]]


def test_wrong_use(world):
    table = np.zeros((4, 2), np.float32)
    with pytest.raises(IndexError, match="index 4 at position 1 is out of range; expected 0 to 3"):
        syncyte.gather_rows(table, [0, 4])
    with pytest.raises(TypeError, match="int32"):
        syncyte.gather_rows(table, [0], dtype="int32")
    with pytest.raises(ValueError, match="table is of 0 dimensions; expected 1 or more"):
        syncyte.gather_rows(np.float32(1), [0])
    for shape in [(2, 2), (2,), (1, 1, 2)]:
        with pytest.raises(ValueError, match=r"out is of shape .*; expected shape \(1, 2\)"):
            syncyte.gather_rows(table, [0], out=np.zeros(shape, np.float32))
    with pytest.raises(TypeError, match="out is of float32; expected float64"):
        syncyte.gather_rows(table, [0], dtype="float64", out=np.zeros((1, 2), np.float32))
    with pytest.raises(ValueError, match="not contiguous"):
        syncyte.gather_rows(table, np.arange(4)[::2])
