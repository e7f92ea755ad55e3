"""Rows against torch on local memory: gather and scatter-add of whole tensors, gather of any array."""

import torch

import syncyte
from paired import WORLD, Row, measure_rate

ROWS, FLOATS, BATCH = 1 << 20, 64, 100_000
TABLE_FLOATS = ROWS * FLOATS  # 256 MiB

# name, floats in a row, rows of a batch, goal
GATHERS = [("64-byte", 16, BATCH, 0.9), ("256-byte", FLOATS, BATCH, 1.2), ("4-KiB", 1024, BATCH // 10, 0.9)]


def filled_tables(floats: int) -> tuple[syncyte.WholeTensor, torch.Tensor]:
    """A whole tensor, and a local one of the same size."""
    rows = TABLE_FLOATS // floats
    whole = syncyte.WholeTensor((rows, floats), torch.float32)
    local = torch.zeros(rows, floats)
    whole.local.copy_(torch.arange(whole.local.numel()).view(-1, floats))
    local[: len(whole.local)] = whole.local
    whole.sync()
    return whole, local


def random_rows(rows: int, batch: int) -> torch.Tensor:
    return torch.randint(rows, (batch,), generator=torch.Generator().manual_seed(WORLD.rank))


def measure_gather(name: str, floats: int, batch: int, goal: float) -> None:
    whole, local = filled_tables(floats)
    index, out = random_rows(len(local), batch), torch.empty(batch, floats)
    measure_rate(Row(f"gather of {name} rows", "Mrow/s", "torch.index_select(out=) on local memory", "higher", goal),
                 batch * 1e-6, lambda: whole.gather(index, out=out),
                 lambda: torch.index_select(local, 0, index, out=out))


def measure_add() -> None:
    whole, local = filled_tables(FLOATS)
    index, source = random_rows(ROWS, BATCH), torch.ones(BATCH, FLOATS)
    measure_rate(Row("scatter-add of 256-byte rows", "Mrow/s", "torch.index_add_ on local memory", "higher", 2.5),
                 BATCH * 1e-6, lambda: whole.scatter_add_(index, source), lambda: local.index_add_(0, index, source))


def measure_array() -> None:
    local, index, out = torch.zeros(ROWS, FLOATS), random_rows(ROWS, BATCH), torch.empty(BATCH, FLOATS)
    half, selected = torch.empty(BATCH, FLOATS, dtype=torch.float16), torch.empty(BATCH, FLOATS)
    for batch, goals in ((BATCH, (0.9, 1.5)), (BATCH // 10, (None, None))):
        some, into, halves, floats = index[:batch], out[:batch], half[:batch], selected[:batch]
        rows = f"{batch:,} of 1M rows of an array"
        measure_rate(Row(rows, "Mrow/s", "torch.index_select(out=)", "higher", goals[0]), batch * 1e-6,
                     lambda: syncyte.gather_rows(local, some, out=into),
                     lambda: torch.index_select(local, 0, some, out=into))
        measure_rate(Row(f"{rows}, float32 to float16", "Mrow/s", "index_select(out=), then copy_", "higher", goals[1]),
                     batch * 1e-6, lambda: syncyte.gather_rows(local, some, out=halves),
                     lambda: halves.copy_(torch.index_select(local, 0, some, out=floats)))


def main() -> None:
    torch.set_num_threads(1)
    for gather in GATHERS:
        measure_gather(*gather)
    measure_add()
    measure_array()


if __name__ == "__main__":
    main()
