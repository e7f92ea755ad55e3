# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of an array that is cut along its columns: against raw file operations on the same bytes, and against
torch.distributed.checkpoint (DCP) with the same cut.

checkpoint_columns.py --write RANK RANKS PORT FOLDER is one of the processes that write DCP's checkpoint.
"""

import datetime
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard

SHAPE = 16384, 8192  # of float64: 1 GiB
WRITERS = 4
DCP = "torch.distributed.checkpoint"


def start_group(rank: int, size: int, port: int) -> None:
    store = dist.TCPStore("localhost", port, size, rank == 0, datetime.timedelta(seconds=60))
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)


def as_dtensor(local: torch.Tensor) -> DTensor:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    return DTensor.from_local(local, mesh, [Shard(1)], shape=torch.Size(SHAPE), stride=(SHAPE[1], 1))


def columns(rank: int, size: int) -> np.ndarray:
    """A rank's columns; a number tells its place."""
    width = SHAPE[1] // size
    return np.add.outer(SHAPE[1] * np.arange(SHAPE[0], dtype=float), np.arange(rank * width, (rank + 1) * width))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return int(found.getsockname()[1])


def write(rank: int, size: int, port: int, folder: str) -> None:
    start_group(rank, size, port)
    dcp.save({"x": as_dtensor(torch.from_numpy(columns(rank, size)))}, checkpoint_id=folder)
    dist.destroy_process_group()


def written_by_others(folder: str) -> str:
    """DCP's checkpoint, written by WRITERS processes."""
    port = str(free_port())
    command = [sys.executable, __file__, "--write"]
    writers = [
        subprocess.Popen([*command, str(rank), str(WRITERS), port, os.path.join(folder, "dcp")])
        for rank in range(WRITERS)
    ]
    assert [each.wait() for each in writers] == [0] * WRITERS
    return os.path.join(folder, "dcp")


def peak_mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    from checkpoint import raw_read, raw_write
    from paired import WORLD, Row, measure_rate, print_row
    from syncyte import COMM_WORLD, Bundle, Layout, checkpoint

    rank, size = WORLD.rank, WORLD.size
    folder = WORLD.bcast(tempfile.mkdtemp(dir=os.environ.get("SYNCYTE_BENCH_FOLDER")) if rank == 0 else None)
    ours, raw, again = (os.path.join(folder, name) for name in ("ours.h5", "raw.bin", "dcp-again"))
    data = columns(rank, size)
    fields = Bundle(COMM_WORLD)
    fields.add("x", Layout.mesh(COMM_WORLD, SHAPE, axes=[1]), data)
    gigabytes = data.nbytes * size * 1e-9
    try:
        checkpoint.save(ours, {"x": np.zeros(1)})  # which loads libraries
        before = peak_mebibytes()
        checkpoint.save(ours, {}, bundle=fields)
        extra = WORLD.allreduce(peak_mebibytes() - before) / size
        print_row(
            Row("save of 1 GiB of columns: a rank's extra memory", "MiB", "16 MiB and messages of 8", "lower", 1.05),
            [extra], [24.0], [extra / 24],
        )  # fmt: skip
        measure_rate(
            Row("save of 1 GiB of columns", "GB/s", "raw write + fsync of the same bytes", "higher", 0.7),
            gigabytes,
            lambda: checkpoint.save(ours, {}, bundle=fields),
            lambda: raw_write(raw, data),
            rounds=5,
        )
        loaded = np.empty_like(data)
        fields.set_arrays("x", loaded)
        measure_rate(
            Row("load of 1 GiB of columns", "GB/s", "raw cached read of the same bytes", "higher", 0.25),
            gigabytes,
            lambda: checkpoint.load(ours, bundle=fields),
            lambda: raw_read(raw, loaded),
            rounds=5,
        )
        if rank == 0:
            os.unlink(raw)
        start_group(rank, size, WORLD.bcast(free_port() if rank == 0 else None))
        theirs = torch.from_numpy(data)
        fields.set_arrays("x", data)

        def save_theirs() -> None:
            if rank == 0:
                shutil.rmtree(again, ignore_errors=True)
            WORLD.Barrier()
            dcp.save({"x": as_dtensor(theirs)}, checkpoint_id=again)

        measure_rate(
            Row("save of 1 GiB of columns", "GB/s", DCP, "higher", 1.0),
            gigabytes,
            lambda: checkpoint.save(ours, {}, bundle=fields),
            save_theirs,
            rounds=3,
        )
        into = torch.empty_like(theirs)
        fields.set_arrays("x", loaded)
        measure_rate(
            Row("load of 1 GiB of columns", "GB/s", DCP, "higher", 1.0),
            gigabytes,
            lambda: checkpoint.load(ours, bundle=fields),
            lambda: dcp.load({"x": as_dtensor(into)}, checkpoint_id=again),
            rounds=3,
        )
        WORLD.Barrier()
        if rank == 0:
            shutil.rmtree(again)
        other = WORLD.bcast(written_by_others(folder) if rank == 0 else None)
        measure_rate(
            Row(f"load of 1 GiB of columns, {WRITERS} ranks to {size}", "GB/s", DCP, "higher", 2.0),
            gigabytes,
            lambda: checkpoint.load(ours, bundle=fields),
            lambda: dcp.load({"x": as_dtensor(into)}, checkpoint_id=other),
            rounds=3,
        )
        assert np.array_equal(loaded, data), "what was loaded is not what was saved"
        assert torch.equal(into, theirs), "DCP's is not what was saved"
        dist.destroy_process_group()
    finally:
        WORLD.Barrier()
        if rank == 0:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
    else:
        main()
