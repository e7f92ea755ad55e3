# SPDX-License-Identifier: BSD-3-Clause
"""Models on CUDA devices: a switch of two processes to a resident model, a load whose first layers compute before the
last arrive, and allocations in a slice of a shared cache and beside one. on_device.py says what runs where.
"""

import os
import tempfile
import time
from collections.abc import Callable

import torch

from cache import Model, checked_switch, sizes_of
from models import remove
from on_device import ROUNDS, SMALL, expect_equal, goal, idle, start, waited
from paired import WORLD, Row, measure_time, print_row
from syncyte import SharedCache, SharedModels
from syncyte._torch_operators import serve_from_device_cache
from syncyte.cache import clear

LAYERS, WIDTH, BATCH = (4, 1024, 2) if SMALL else (64, 2048, 2048)  # 64 layers of 16 MiB: 1 GiB
MODEL_BYTES = LAYERS * WIDTH * WIDTH * 4
PARTNERS = 2  # ranks that switch; they share a device


def on_first(work: Callable[[], object]) -> Callable[[], object]:
    return work if WORLD.rank == 0 else idle


def measure_switch() -> None:
    if WORLD.rank == 0:
        cache = SharedCache(MODEL_BYTES, 1 << 20, device="cuda")
        cache.send(timeout=60)
    elif WORLD.rank == 1:
        cache = SharedCache.receive(timeout=60)
    source = torch.ones(MODEL_BYTES, dtype=torch.uint8).pin_memory()
    target = torch.empty(MODEL_BYTES, dtype=torch.uint8, device="cuda")  # outside the cache
    model = Model(cache, sizes_of(160, MODEL_BYTES))
    switch = checked_switch(model)
    row = Row("switch to a resident model of 160 tensors, 1 GiB, on a device", "ms", "copy of it from pinned memory",
              "lower", goal(0.05))  # fmt: skip
    copy = lambda: target.copy_(source, non_blocking=True)  # noqa: E731
    measure_time(row, 1e3, switch, on_first(waited(copy)), rounds=ROUNDS, repeats=2)
    if model.parameters[0].numel() > 0:
        model.drop()


def make_network(device: str) -> torch.nn.Sequential:
    torch.manual_seed(1)
    with torch.device(device):
        return torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)]).requires_grad_(False)


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    waited(work)()
    return time.perf_counter() - begin


def measure_cold_load() -> None:
    """Rank 0 loads a model from host memory, the last rank binds it and computes meanwhile; references there alone."""
    network = make_network("cpu")
    models = SharedModels(device_budget=4 * MODEL_BYTES) if WORLD.rank == 0 else None
    if models is not None:
        models.serve()
    WORLD.Barrier()
    if models is None:
        models = SharedModels.connect(timeout=60)
    private = make_network("cpu").cuda()
    x = torch.ones(BATCH, WIDTH, device="cuda")
    wanted = private(x)
    ours, copies, forwards = [], [], []
    for number in range(ROUNDS + 1):  # the first one warms up
        name = f"cold {number}"
        WORLD.Barrier()
        begin = time.perf_counter()
        if WORLD.rank == 0:
            done = models.load(name, network, device="cuda")
            WORLD.Barrier()
            done.result()
        else:
            bound = make_network("meta")
            WORLD.Barrier()
            models.bind(name, bound)
            found = bound(x)
            torch.cuda.current_stream().synchronize()
            ours.append(time.perf_counter() - begin)
            expect_equal(found, wanted, "cold load on a device")
            del bound
        WORLD.Barrier()
        if WORLD.rank == 0:
            remove(models, name)
        else:
            forwards.append(seconds(lambda: private(x)))
            copies.append(seconds(lambda: [each.cuda() for each in network.parameters()]))
    ours, copies, forwards = WORLD.bcast((ours[1:], copies[1:], forwards[1:]), root=WORLD.size - 1)
    pairs = list(zip(copies, forwards, strict=True))
    for name, what, limit, times in (
        ("the slower part", "the slower of copy and forward", 1.15, [max(each) for each in pairs]),
        ("both parts", "copy, then forward", 0.8, [sum(each) for each in pairs]),
    ):
        row = Row(f"load of 1 GiB to a device and first output, against {name}", "ms", what, "lower", goal(limit))
        print_row(row, [1e3 * each for each in ours], [1e3 * each for each in times],
                  [a / b for a, b in zip(ours, times, strict=True)])  # fmt: skip
    WORLD.Barrier()
    models.free()


def measure_allocations() -> None:
    """A block is made and dropped at once, on the default stream and on one with a slice."""
    count = 100 if SMALL else 10000
    cache = SharedCache(1 << 21, 1 << 21, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        cache.insert(0, 1 << 21)

    def allocate(is_served: bool) -> None:
        serve_from_device_cache(is_served)
        for _ in range(count):
            torch.empty(1000, device="cuda")

    for name, used, limit in (("beside a slice", torch.cuda.default_stream(), 1.05), ("in a slice", stream, 1.5)):
        row = Row(f"tensor made and dropped on a device, {name}", "us", "torch's own allocator", "lower", goal(limit))
        with torch.cuda.stream(used):
            measure_time(row, 1e6 / count, on_first(lambda: allocate(True)), on_first(lambda: allocate(False)), ROUNDS)
    serve_from_device_cache(True)
    with torch.cuda.stream(stream):
        clear()


def main() -> None:
    if not start() or WORLD.size != PARTNERS:
        return
    torch.cuda.set_device(0)
    folder = WORLD.bcast(tempfile.mkdtemp() if WORLD.rank == 0 else None)
    os.environ["SYNCYTE_CACHE_FOLDER"] = folder
    measure_switch()
    measure_cold_load()
    measure_allocations()
    WORLD.Barrier()
    on_first(lambda: os.rmdir(folder))()


if __name__ == "__main__":
    main()
