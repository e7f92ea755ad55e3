# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed on Syncyte against gloo, mpi4py, and the sum of its parts; each rank has one thread.

The parts of a small all_reduce are Syncyte's own and torch's Python and dispatcher, which torch's backend "fake"
measures: it communicates nothing."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from mpi4py import MPI
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed import fake_pg  # noqa: F401  (registers the backend "fake")

import syncyte
import syncyte.distributed
from data_parallel import network
from paired import WORLD, Row, measure_rate, measure_time, print_row, seconds_of
from syncyte.distributed import StorageWriter

ROUNDS = 11


def bench_all_reduce(size: int, repeats: int, goals: dict[str, float], groups: dict[str, dist.ProcessGroup]) -> None:
    """Rows of a blocking all_reduce of float32; the values are zeros, so that they stay finite."""
    bytes_, mine = 4 * size, torch.zeros(size)
    array = np.zeros(size, np.float32)

    def parts() -> None:
        syncyte.COMM_WORLD.allreduce(array, out=array)
        dist.all_reduce(mine, group=groups["fake"])

    references: dict[str, Callable[[], object]] = {
        "Comm.allreduce, and all_reduce of the backend fake": parts,
        "gloo": lambda: dist.all_reduce(mine, group=groups["gloo"]),
        "mpi4py": lambda: MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, array),
    }
    for name, goal in goals.items():
        row = Row(f"torch.distributed.all_reduce of {bytes_} B", "us", name, "lower", goal)
        measure_time(row, 1e6, lambda: dist.all_reduce(mine), references[name], ROUNDS, repeats)


def above_compute(
    row: Row, alone: Callable[[], object], ours: Callable[[], object], theirs: Callable[[], object]
) -> None:
    """A row of the times that two ways of training add to the computation of a step."""
    times: dict[Callable[[], object], list[float]] = {ours: [], theirs: []}
    for step in (alone, ours, theirs):
        step()
    for turn in range(ROUNDS):
        compute = seconds_of(alone, 3) / 3
        for step in (ours, theirs) if turn % 2 == 0 else (theirs, ours):
            times[step].append(seconds_of(step, 3) / 3 - compute)
    ratios = [mine / other for mine, other in zip(times[ours], times[theirs], strict=True)]
    print_row(row, [1e3 * each for each in times[ours]], [1e3 * each for each in times[theirs]], ratios)


def stepper(model: torch.nn.Module, x: torch.Tensor) -> Callable[[], object]:
    def step() -> None:
        model.zero_grad(set_to_none=False)
        (model(x) ** 2).mean().backward()

    return step


def bench_ddp(groups: dict[str, dist.ProcessGroup]) -> None:
    x = torch.randn(16, 1024, generator=torch.Generator().manual_seed(WORLD.rank))
    models = {name: DistributedDataParallel(network(), process_group=groups[name], gradient_as_bucket_view=True)
              for name in ("syncyte", "gloo")}  # fmt: skip
    row = Row("DistributedDataParallel's step above compute alone, backend syncyte", "ms", "gloo", "lower", 0.3)
    above_compute(row, stepper(network(), x), stepper(models["syncyte"], x), stepper(models["gloo"], x))


def transformer() -> torch.nn.Module:
    """12 million parameters, in blocks as those of GPT."""
    torch.manual_seed(2)
    blocks = (torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True) for _ in range(4))
    return torch.nn.Sequential(*blocks)


def sharded(group: dist.ProcessGroup) -> torch.nn.Module:
    mesh = DeviceMesh.from_group(group, "cpu")
    model = transformer()
    for block in model:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def bench_fsdp2(groups: dict[str, dist.ProcessGroup]) -> None:
    x = torch.randn(2, 32, 512, generator=torch.Generator().manual_seed(WORLD.rank))
    ours, theirs = stepper(sharded(groups["syncyte"]), x), stepper(sharded(groups["gloo"]), x)
    row = Row("FSDP2's step of a transformer of 12 million parameters, backend syncyte", "ms", "gloo", "lower", 0.6)
    measure_time(row, 1e3, ours, theirs, ROUNDS, 2)


@contextlib.contextmanager
def common_folder() -> Iterator[str]:
    folder = WORLD.bcast(tempfile.mkdtemp(dir=os.environ.get("SYNCYTE_BENCH_FOLDER")) if WORLD.rank == 0 else None)
    yield folder
    WORLD.Barrier()
    if WORLD.rank == 0:
        shutil.rmtree(folder)


def bench_save(groups: dict[str, dist.ProcessGroup]) -> None:
    """A row of saves of a sharded model with its optimizer, by torch.distributed.checkpoint."""
    model = sharded(groups["syncyte"])
    optimizer = torch.optim.AdamW(model.parameters())
    stepper(model, torch.randn(2, 32, 512))()
    optimizer.step()
    weights, moments = get_state_dict(model, optimizer)
    state = {"model": weights, "optimizer": moments}
    gigabytes = 3 * 4e-9 * sum(each.numel() for each in transformer().parameters())
    row = Row("save of FSDP2's model and optimizer by torch.distributed.checkpoint, StorageWriter", "GB/s",
              "torch's files", "higher", 1.0)  # fmt: skip
    with common_folder() as folder:
        writer = StorageWriter(f"{folder}/ours.h5")
        measure_rate(
            row, gigabytes, lambda: dcp.save(state, storage_writer=writer),
            lambda: dcp.save(state, checkpoint_id=f"{folder}/torch"), ROUNDS,
        )  # fmt: skip


def main() -> None:
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("syncyte", init_method="syncyte://")
    names = {"gloo": "gloo", "fake": "fake"}
    groups = {"syncyte": dist.group.WORLD} | {name: dist.new_group(backend=name) for name in names}
    parts, gloo, mpi4py = "Comm.allreduce, and all_reduce of the backend fake", "gloo", "mpi4py"
    bench_all_reduce(2, 2000, {parts: 1.2, gloo: 0.3}, groups)
    bench_all_reduce(2048, 1000, {parts: 1.2, gloo: 0.3}, groups)
    bench_all_reduce(1 << 18, 50, {gloo: 0.6, mpi4py: 1.0}, groups)
    bench_all_reduce(1 << 23, 3, {gloo: 0.6, mpi4py: 0.6}, groups)
    bench_ddp(groups)
    bench_fsdp2(groups)
    bench_save(groups)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
