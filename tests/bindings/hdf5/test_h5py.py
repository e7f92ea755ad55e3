# SPDX-License-Identifier: BSD-3-Clause
"""Other programs read our files: h5py, and h5dump if it is installed."""

import os
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from checkpoint_calls import DTYPES, Checkpoints, values


@pytest.fixture(scope="module")
def checkpoints():
    return Checkpoints()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in bytes(data):
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def as_bfloat16(numbers):
    return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_every_dtype(comm, checkpoints, dtype):
    path = f"dtype-{dtype}.h5"
    expected = values("float32" if dtype == "bfloat16" else dtype, 60).reshape(12, 5)
    data = as_bfloat16(expected) if dtype == "bfloat16" else expected
    begin, end = 12 * comm.rank // comm.size, 12 * (comm.rank + 1) // comm.size
    mine = np.ascontiguousarray(data[begin:end])
    entries = [
        checkpoints.entry("whole", data, dtype=dtype),
        checkpoints.entry("parts", mine, sharded=True, dtype=dtype),
    ]
    checkpoints.save(path, entries)
    with h5py.File(path) as file:
        for key in ("whole", "parts"):
            read = file[key][...]
            assert read.dtype == expected.dtype
            assert np.array_equal(read, expected)
            assert file[key].attrs["torch_dtype"] == dtype
    comm.barrier()


def test_schema(comm, checkpoints):
    big = np.arange(3000, dtype=np.int32).reshape(1000, 3)
    begin = 1000 * comm.rank // (comm.size + 1)
    end = 1000 if comm.rank == comm.size - 1 else 1000 * (comm.rank + 1) // (comm.size + 1)
    scalar = np.array(2.5)
    empty = np.zeros((0, 4), dtype=np.float32)
    entries = [
        checkpoints.entry("a/b%", np.ascontiguousarray(big[begin:end]), sharded=True),
        checkpoints.entry("scalar", scalar),
        checkpoints.entry("empty", empty),
    ]
    checkpoints.save("schema.h5", entries, step=7, block_bytes=4096)
    with h5py.File("schema.h5") as file:
        assert sorted(file) == ["a%2Fb%25", "empty", "scalar"]
        assert dict(file.attrs) == {
            "format_version": 2,
            "step": 7,
            "writer_world": comm.size,
            "complete": 1,
            "checksum_algorithm": "crc32c",
            "creator": file.attrs["creator"],
        }
        assert file.attrs["creator"].startswith("syncyte ")
        attributes = dict(file["a%2Fb%25"].attrs)
        assert attributes["layout"] == "sharded"
        assert attributes["global_shape"].tolist() == [1000, 3]
        lengths = comm.allgather(end - begin)
        assert attributes["shard_lengths"].tolist() == lengths
        assert attributes["shard_offsets"].tolist() == np.cumsum([0, *lengths[:-1]]).tolist()
        assert attributes["crc32c_block_bytes"] == 4096
        raw = big.tobytes()
        assert attributes["crc32c"].tolist() == [crc32c(raw[at : at + 4096]) for at in range(0, len(raw), 4096)]
        assert file["a%2Fb%25"].chunks is None
        assert file["scalar"][()] == 2.5
        assert file["scalar"].shape == ()
        assert file["scalar"].attrs["layout"] == "replicated"
        assert file["scalar"].attrs["crc32c"].tolist() == [crc32c(scalar.tobytes())]
        assert file["empty"].shape == (0, 4)
        assert file["empty"].attrs["crc32c"].size == 0
    comm.barrier()


def test_large_data_is_aligned(comm, checkpoints):
    checkpoints.save("aligned.h5", [checkpoints.entry("x", np.ones((300, 100, 8)))])
    with h5py.File("aligned.h5") as file:
        assert file["x"].id.get_offset() % 4096 == 0
        assert (file["x"][...] == 1).all()
    comm.barrier()


def test_equal_saves_give_equal_files(comm, checkpoints):
    data = np.arange(1000.0)
    for name in ("one.h5", "two.h5"):
        checkpoints.save(name, [checkpoints.entry("x", data)], step=3)
    with open("one.h5", "rb") as one, open("two.h5", "rb") as two:
        assert one.read() == two.read()
    comm.barrier()


def test_a_change_by_h5py_is_seen(comm, checkpoints):
    data = np.arange(10.0)
    checkpoints.save("changed.h5", [checkpoints.entry("x", data)])
    comm.barrier()
    if comm.rank == 0:
        with h5py.File("changed.h5", "r+") as file:
            file.attrs["note"] = "was here"
    comm.barrier()
    with pytest.raises(RuntimeError, match="changed.h5"):
        checkpoints.load("changed.h5", [checkpoints.entry("x", data)])


@pytest.mark.skipif(shutil.which("h5dump") is None, reason="h5dump is not installed")
def test_h5dump(comm, checkpoints):
    checkpoints.save("dumped.h5", [checkpoints.entry("x", np.array([41, 42], dtype=np.int64))])
    if comm.rank == 0:
        text = subprocess.run(["h5dump", "dumped.h5"], capture_output=True, text=True, check=True).stdout
        assert "41, 42" in text
        assert "torch_dtype" in text
    comm.barrier()
