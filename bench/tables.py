# SPDX-License-Identifier: BSD-3-Clause
"""Rows against torch on local memory: gather and scatter-add of whole tensors, gather of any array."""

import itertools
from collections.abc import Iterator

import torch

import syncyte
from paired import WORLD, Row, measure_rate

ROWS, FLOATS, BATCH, STEPS = 1 << 20, 64, 100_000, 10
TABLE_FLOATS = ROWS * FLOATS  # 256 MiB

# name, floats in a row, rows of a batch, goal
GATHERS = [("64-byte", 16, BATCH, 0.9), ("256-byte", FLOATS, BATCH, 1.2), ("4-KiB", 1024, BATCH // 10, 0.9)]


def filled_tables(floats: int, **options: bool) -> tuple[syncyte.WholeTensor, torch.Tensor]:
    """A whole tensor, and a local one of the same size."""
    rows = TABLE_FLOATS // floats
    whole = syncyte.WholeTensor((rows, floats), torch.float32, **options)
    local = torch.zeros(rows, floats)
    whole.local.copy_(torch.arange(whole.local.numel()).view(-1, floats))
    local[: len(whole.local)] = whole.local
    whole.sync()
    return whole, local


def random_rows(rows: int, batch: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed * WORLD.size + WORLD.rank)
    return torch.randint(rows, (batch,), generator=generator)


def random_batches(rows: int, batch: int) -> Iterator[torch.Tensor]:
    """Other rows for each step, as in training, which no cache holds."""
    return itertools.cycle([random_rows(rows, batch, step) for step in range(STEPS)])


def measure_gather(name: str, floats: int, batch: int, goal: float) -> None:
    whole, local = filled_tables(floats)
    index, out = random_batches(len(local), batch), torch.empty(batch, floats)
    measure_rate(
        Row(f"gather of {name} rows", "Mrow/s", "torch.index_select(out=) on local memory", "higher", goal),
        batch * 1e-6,
        lambda: whole.gather(next(index), out=out),
        lambda: torch.index_select(local, 0, next(index), out=out),
        repeats=STEPS,
    )


def measure_add() -> None:
    whole, local = filled_tables(FLOATS)
    index, source = random_batches(ROWS, BATCH), torch.ones(BATCH, FLOATS)
    measure_rate(
        Row("scatter-add of 256-byte rows", "Mrow/s", "torch.index_add_ on local memory", "higher", 2.5),
        BATCH * 1e-6,
        lambda: whole.scatter_add_(next(index), source),
        lambda: local.index_add_(0, next(index), source),
        repeats=STEPS,
    )


def measure_deterministic_add() -> None:
    (exact, _), (whole, _) = filled_tables(FLOATS, deterministic=True), filled_tables(FLOATS)
    index, source = random_batches(ROWS, BATCH), torch.ones(BATCH, FLOATS)

    def step(table: syncyte.WholeTensor) -> None:
        table.scatter_add_(next(index), source)
        table.sync()

    measure_rate(
        Row("deterministic add of 256-byte rows, sync", "Mrow/s", "scatter-add, sync", "higher", None),
        BATCH * 1e-6,
        lambda: step(exact),
        lambda: step(whole),
        repeats=STEPS,
    )


def measure_array() -> None:
    local, index, out = torch.zeros(ROWS, FLOATS), random_rows(ROWS, BATCH), torch.empty(BATCH, FLOATS)
    half, selected = torch.empty(BATCH, FLOATS, dtype=torch.float16), torch.empty(BATCH, FLOATS)
    for batch, goals in ((BATCH, (0.9, 1.5)), (BATCH // 10, (None, None))):
        some, into, halves, floats = index[:batch], out[:batch], half[:batch], selected[:batch]
        rows = f"{batch:,} of 1M rows of an array"
        measure_rate(
            Row(rows, "Mrow/s", "torch.index_select(out=)", "higher", goals[0]),
            batch * 1e-6,
            lambda: syncyte.gather_rows(local, some, out=into),
            lambda: torch.index_select(local, 0, some, out=into),
        )
        measure_rate(
            Row(f"{rows}, float32 to float16", "Mrow/s", "index_select(out=), then copy_", "higher", goals[1]),
            batch * 1e-6,
            lambda: syncyte.gather_rows(local, some, out=halves),
            lambda: halves.copy_(torch.index_select(local, 0, some, out=floats)),
        )


def main() -> None:
    torch.set_num_threads(1)
    for gather in GATHERS:
        measure_gather(*gather)
    measure_add()
    measure_deterministic_add()
    measure_array()


if __name__ == "__main__":
    main()
