# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints against raw file operations on the same bytes: save against write + fsync, load against a cached read."""

import os
import tempfile

import numpy as np

from paired import WORLD, Row, measure_rate
from syncyte import checkpoint

BYTES = 256 << 20  # of each rank


def raw_write(path: str, data: np.ndarray) -> None:
    """Each rank writes its part of one new file and syncs it. Rank 0 then renames it to `path`, as a save does."""
    temporary = path + ".new"
    descriptor = os.open(temporary, os.O_CREAT | os.O_WRONLY, 0o644)
    view, offset = memoryview(data).cast("B"), WORLD.rank * data.nbytes
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
    os.fsync(descriptor)
    os.close(descriptor)
    WORLD.Barrier()
    if WORLD.rank == 0:
        os.rename(temporary, path)
    WORLD.Barrier()


def raw_read(path: str, data: np.ndarray) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    view, offset = memoryview(data).cast("B"), WORLD.rank * data.nbytes
    while view:
        count = os.preadv(descriptor, [view], offset)
        view, offset = view[count:], offset + count
    os.close(descriptor)


def main() -> None:
    data = np.random.default_rng(WORLD.rank).standard_normal(BYTES // 4, dtype=np.float32).reshape(-1, 1024)
    loaded = np.empty_like(data)
    folder = WORLD.bcast(tempfile.mkdtemp(dir=os.environ.get("SYNCYTE_BENCH_FOLDER")) if WORLD.rank == 0 else None)
    ours, raw = os.path.join(folder, "ours.h5"), os.path.join(folder, "raw.bin")
    gigabytes = BYTES * WORLD.size * 1e-9
    try:
        measure_rate(
            Row("save of 512 MiB", "GB/s", "raw write + fsync of the same bytes", "higher", 0.9),
            gigabytes,
            lambda: checkpoint.save(ours, {"data": data}, sharded=True),
            lambda: raw_write(raw, data),
        )
        measure_rate(
            Row("load of 512 MiB", "GB/s", "raw cached read of the same bytes", "higher", 0.5),
            gigabytes,
            lambda: checkpoint.load(ours, {"data": loaded}, sharded=True),
            lambda: raw_read(raw, loaded),
        )
        assert np.array_equal(loaded, data), "what was loaded is not what was saved"
    finally:
        WORLD.Barrier()
        if WORLD.rank == 0:
            for path in (ours, raw):
                if os.path.exists(path):
                    os.unlink(path)
            os.rmdir(folder)


if __name__ == "__main__":
    main()
