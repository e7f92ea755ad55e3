# SPDX-License-Identifier: BSD-3-Clause
"""A reader that was written from docs/checkpoints.md alone reads files of both formats."""

import gzip
import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from checkpoint_calls import DTYPES, Checkpoints, values
from plain_reader import read


@pytest.fixture(scope="module")
def checkpoints():
    return Checkpoints()


def test_a_file_of_format_1(comm):
    """Saved by version 0.1.0 on 3 ranks."""
    if comm.rank == 0:
        packed = os.path.join(os.path.dirname(__file__), "format1.h5.gz")
        with gzip.open(packed) as old, open("format1.h5", "wb") as file:
            file.write(old.read())
        step, ranks, attributes, arrays = read("format1.h5")
        assert (step, ranks, attributes) == (-7, 3, {})
        assert list(arrays) == ["a/b", "flags", "rows", "scalar"]
        rows = [np.arange(2 * (rank + 1) * 3, dtype="f4").reshape(-1, 3) + 100 * rank for rank in range(3)]
        assert np.array_equal(arrays["rows"], np.concatenate(rows))
        assert arrays["scalar"] == 0.25
        assert np.array_equal(arrays["flags"], [True, False, True])
        assert np.array_equal(arrays["a/b"], np.arange(4, dtype="c8"))
    comm.barrier()


def test_a_file_of_format_2(comm, checkpoints):
    expected = {f"key/{name}": values(name, 3000).reshape(1000, 3) for name in DTYPES if name != "bfloat16"}
    expected |= {"%": np.array(2.5), ".": np.zeros((0, 4), "f4"), "é": np.arange(5)}
    floats = values("float32", 7)
    half = (floats.view("u4") >> 16).astype("u2")
    rows = np.arange(2000.0).reshape(500, 4)
    begin, end = 500 * comm.rank // (comm.size + 1), 500 * (comm.rank + 1) // (comm.size + 1)
    mine = np.ascontiguousarray(rows[begin : end if comm.rank < comm.size - 1 else 500])
    entries = [checkpoints.entry(key, array) for key, array in expected.items()]
    entries += [checkpoints.entry("half", half, dtype="bfloat16"), checkpoints.entry("rows", mine, sharded=True)]
    checkpoints.save("format2.h5", entries, step=-5, block_bytes=4096, attributes=b'{"time": 0.5}')
    if comm.rank == 0:
        step, ranks, attributes, arrays = read("format2.h5")
        assert (step, ranks, attributes) == (-5, comm.size, {"attributes": '{"time": 0.5}'})
        expected |= {"half": floats, "rows": rows}
        assert sorted(arrays) == sorted(expected)
        for key, array in expected.items():
            assert arrays[key].dtype == array.dtype
            assert np.array_equal(arrays[key], array)
    comm.barrier()
