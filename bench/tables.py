"""Rows of 256 bytes against torch on local memory: gather and scatter-add of whole tensors, gather of any array."""

import torch

import syncyte
from paired import WORLD, Row, measure_rate

ROWS, FLOATS, BATCH = 1 << 20, 64, 100_000


def main() -> None:
    torch.set_num_threads(1)
    whole = syncyte.WholeTensor((ROWS, FLOATS), torch.float32)
    local = torch.zeros(ROWS, FLOATS)
    index = torch.randint(ROWS, (BATCH,), generator=torch.Generator().manual_seed(WORLD.rank))
    whole.local.copy_(torch.arange(whole.local.numel()).view(-1, FLOATS))
    local[: len(whole.local)] = whole.local
    whole.sync()
    out = torch.empty(BATCH, FLOATS)
    measure_rate(Row("gather of 256-byte rows", "Mrow/s", "torch.index_select(out=) on local memory", "higher", 0.9),
                 BATCH * 1e-6, lambda: whole.gather(index, out=out),
                 lambda: torch.index_select(local, 0, index, out=out))
    source = torch.ones(BATCH, FLOATS)
    measure_rate(Row("scatter-add of 256-byte rows", "Mrow/s", "torch.index_add_ on local memory", "higher", 0.5),
                 BATCH * 1e-6, lambda: whole.scatter_add_(index, source), lambda: local.index_add_(0, index, source))
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


if __name__ == "__main__":
    main()
