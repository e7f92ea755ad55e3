# SPDX-License-Identifier: BSD-3-Clause
"""Whole tensors on CUDA devices against torch's operations on a tensor of one device.

Where both sides compute the same, that is checked. on_device.py says what runs where.
"""

from collections.abc import Callable

import torch

import syncyte
from on_device import ROUNDS, SMALL, expect_equal, goal, idle, start, waited
from paired import WORLD, Row, measure_rate, measure_time

TABLE_BYTES = (1 << 20) if SMALL else (4 << 30)
PICKED = 512 if SMALL else 1 << 20  # rows


def measure(row: Row, amount: float, ours: Callable[[], object], reference: Callable[[], object], rank: int) -> None:
    """One rank works on both sides; the others wait."""
    mine = WORLD.rank == rank
    measure_rate(row, amount, waited(ours) if mine else idle, waited(reference) if mine else idle, rounds=ROUNDS)


def values_of(rows: torch.Tensor, columns: int) -> torch.Tensor:
    """The table's rows, which every rank knows."""
    return ((rows.int()[:, None] + torch.arange(columns, dtype=torch.int32, device="cuda")) % 1000).float()


def measure_gathers(row_bytes: int) -> None:
    columns = row_bytes // 4
    rows = TABLE_BYTES // row_bytes
    # All rows are rank 0's, so that the last rank reads another process's memory.
    local_rows = rows if WORLD.rank == 0 else 0
    whole = syncyte.WholeTensor((rows, columns), "float32", device="cuda", local_rows=local_rows)
    plain = values_of(torch.arange(local_rows, device="cuda"), columns)
    if WORLD.rank == 0:
        whole.local.copy_(plain)
    whole.sync()
    index = torch.randint(0, rows, (PICKED,), device="cuda")
    out, other = (torch.empty(PICKED, columns, device="cuda") for _ in range(2))
    gather = lambda: whole.gather(index, out)  # noqa: E731
    gigabytes = PICKED * row_bytes / 1e9
    if row_bytes <= 256:
        select = lambda: torch.index_select(plain, 0, index, out=other)  # noqa: E731
        row = Row(f"gather of {row_bytes}-byte rows on a device", "GB/s", "torch.index_select", "higher", goal(1.0))
        measure(row, gigabytes, gather, select, 0)
        if WORLD.rank == 0:
            expect_equal(out, other, row.name)
        half = torch.empty(PICKED, columns, dtype=torch.float16, device="cuda")
        convert = lambda: syncyte.gather_rows(whole.node, index, dtype="float16", out=half)  # noqa: E731
        row = Row("gather of rows on a device, to float16", "GB/s", "index_select, then half()", "higher", goal(1.5))
        measure(row, gigabytes, convert, lambda: torch.index_select(plain, 0, index).half(), 0)
        if WORLD.rank == 0:
            expect_equal(half, plain[index].half(), row.name)
        measure_of_others(gather, gigabytes)
        if WORLD.rank == WORLD.size - 1:
            expect_equal(out, values_of(index, columns), "gather of another process's rows")
        measure_sums(whole, plain, index, other)
        measure_updates(whole, plain, index, other)
    else:
        source, target = out, other
        row = Row(f"gather of {row_bytes}-byte rows on a device", "GB/s", "copy on the device", "higher", goal(0.8))
        measure(row, gigabytes, gather, lambda: target.copy_(source), 0)
        if WORLD.rank == 0:
            expect_equal(out, values_of(index, columns), row.name)
            expect_equal(target, out, row.reference_name)


def measure_of_others(gather: Callable[[], object], gigabytes: float) -> None:
    """The last rank's gather against the owner's: they take turns, as all ranks do in a round."""
    if WORLD.size == 1:
        return
    last = WORLD.size - 1
    row = Row("gather of another process's rows on a device", "GB/s", "the owner's gather", "higher", goal(0.95))
    measure_rate(row, gigabytes, waited(gather) if WORLD.rank == last else idle,
                 waited(gather) if WORLD.rank == 0 else idle, rounds=ROUNDS)  # fmt: skip


def measure_sums(whole: syncyte.WholeTensor, plain: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> None:
    row = Row("scatter_add of 256-byte rows on a device", "GB/s", "torch.index_add_", "higher", goal(0.9))
    source.fill_(1.0)
    measure(row, source.nbytes / 1e9, lambda: whole.scatter_add_(index, source),
            lambda: plain.index_add_(0, index, source), 0)  # fmt: skip
    whole.sync()
    if WORLD.rank == 0:
        expect_equal(whole.local, plain, row.name)


def measure_updates(whole: syncyte.WholeTensor, plain: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> None:
    """SGD, which sorts its rows first, so that one that repeats is updated once. All numbers are exact."""
    whole.set_optimizer("sgd", lr=0.5)
    row = Row("SGD of 256-byte rows on a device", "GB/s", "torch.index_add_", "higher", goal(0.5))
    measure(row, source.nbytes / 1e9, lambda: whole.apply_gradients(index, source),
            lambda: plain.index_add_(0, index, source, alpha=-0.5), 0)  # fmt: skip
    whole.sync()
    if WORLD.rank == 0:
        expect_equal(whole.local, plain, row.name)


def measure_creation() -> None:
    size = TABLE_BYTES // 4

    def create() -> None:
        syncyte.WholeTensor((size,), "uint8", device="cuda")
        syncyte.COMM_WORLD.collect()

    def allocate() -> None:
        torch.empty(size, dtype=torch.uint8, device="cuda")
        torch.cuda.empty_cache()

    row = Row("create and free a tensor on devices", "ms", "cudaMalloc and cudaFree on each", "lower", goal(3.0))
    measure_time(row, 1e3, create, allocate, rounds=ROUNDS)


if start():
    measure_gathers(256)
    measure_gathers(2048)
    measure_creation()
