# SPDX-License-Identifier: BSD-3-Clause
"""Models by name: a binding, a model in a new process, and a load whose first layers compute before the last arrive."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch

from paired import WORLD, Row, measure_time, print_row
from syncyte import SharedModels

LAYERS, WIDTH, BATCH = 64, 2048, 32  # 64 layers of 16 MiB: 1 GiB
MODEL_BYTES = LAYERS * WIDTH * WIDTH * 4


def make_network(device: str | None = None) -> torch.nn.Sequential:
    with torch.device(device or "cpu"):
        return torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)]).requires_grad_(False)


def measure_bind(models: SharedModels, network: torch.nn.Module) -> None:
    source, target = np.ones(MODEL_BYTES, np.uint8), np.ones(MODEL_BYTES, np.uint8)
    row = Row(f"bind a published model of {2 * LAYERS} tensors, 1 GiB", "ms", "memcpy of its bytes", "lower", 0.02)
    bind, copy = lambda: models.bind("net", network), lambda: np.copyto(target, source)
    measure_time(row, 1e3, lambda: on_first(bind), lambda: on_first(copy), repeats=2)


def on_first(work: Callable[[], object]) -> None:
    if WORLD.rank == 0:
        work()


NEW_PROCESS = """
import sys, time, torch
from syncyte import SharedModels
with torch.device("meta"):
    network = torch.nn.Sequential(*[torch.nn.Linear({width}, {width}) for _ in range({layers})]).requires_grad_(False)
x = torch.ones(1, {width})
torch.nn.Linear(8, 8)(torch.ones(1, 8))
begin = time.perf_counter()
if sys.argv[1] == "bind":
    SharedModels.connect(timeout=60).bind("net", network)
else:
    network.to_empty(device="cpu")
    network.load_state_dict(torch.load(sys.argv[1], mmap=True))
bound = time.perf_counter()
network(x)
print(bound - begin, time.perf_counter() - begin)
"""


def seconds_in_new_process(argument: str) -> list[float]:
    program = NEW_PROCESS.format(width=WIDTH, layers=LAYERS)
    done = subprocess.run([sys.executable, "-c", program, argument], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return [float(word) for word in done.stdout.split()]


def measure_new_process(path: str) -> None:
    if WORLD.rank == 0:
        ours, reference = [], []
        for _ in range(5):
            ours.append(seconds_in_new_process("bind"))
            reference.append(seconds_in_new_process(path))
        for which, name in enumerate(("the model", "the model and its first output")):
            row = Row(f"{name} in a new process, 1 GiB", "1/s", "torch.load(mmap=True), load_state_dict", "higher",
                      3.0 if which == 0 else None)  # fmt: skip
            mine, theirs = [1 / each[which] for each in ours], [1 / each[which] for each in reference]
            print_row(row, mine, theirs, [a / b for a, b in zip(mine, theirs, strict=True)])
    WORLD.Barrier()


def outputs(network: torch.nn.Sequential, x: torch.Tensor) -> Iterator[float]:
    """Times after each layer."""
    for layer in network:
        x = layer(x)
        yield time.perf_counter()


def measure_cold_load(models: SharedModels, network: torch.nn.Sequential) -> None:
    """Rank 0 loads, rank 1 binds and computes meanwhile; the reference copies, then computes, on rank 1 alone."""
    x = torch.ones(BATCH, WIDTH)
    source, target = np.ones(MODEL_BYTES, np.uint8), np.ones(MODEL_BYTES, np.uint8)
    first, last, copies, both = [], [], [], []
    for round_ in range(7):
        WORLD.Barrier()
        begin = time.perf_counter()
        if WORLD.rank == 0:
            done = models.load(f"cold {round_}", network)
            WORLD.Barrier()
            done.result()
        else:
            bound = make_network("meta")
            WORLD.Barrier()
            models.bind(f"cold {round_}", bound)
            times = list(outputs(bound, x))
            first.append(times[0] - begin)
            last.append(times[-1] - begin)
            del bound
        WORLD.Barrier()
        begin = time.perf_counter()
        if WORLD.rank == 1:
            np.copyto(target, source)
            copies.append(time.perf_counter() - begin)
            both.append(list(outputs(network, x))[-1] - begin)
        WORLD.Barrier()
        on_first(lambda: remove(models, f"cold {round_}"))
    first, last, copies, both = WORLD.bcast((first, last, copies, both), root=1)
    for name, mine, theirs, what, goal in (
        ("last output", last, both, "memcpy of its bytes, then the computation", 1.3),
        ("first output", first, copies, "memcpy of its bytes", 0.3),
    ):
        row = Row(f"cold load of 1 GiB, {name}", "ms", what, "lower", goal)
        print_row(row, [1e3 * each for each in mine[1:]], [1e3 * each for each in theirs[1:]],
                  [a / b for a, b in zip(mine[1:], theirs[1:], strict=True)])  # fmt: skip


def remove(models: SharedModels, name: str) -> None:
    while models.describe() and any(each.name == name and each.holders for each in models.describe()):
        time.sleep(0.001)
    models.remove(name)


def main() -> None:
    torch.set_num_threads(1)
    folder = WORLD.bcast(tempfile.mkdtemp() if WORLD.rank == 0 else None)
    os.environ["SYNCYTE_CACHE_FOLDER"] = folder
    network = make_network()
    if WORLD.rank == 0:
        models = SharedModels(6 << 30)
        models.serve()
        models.publish("net", network)
    WORLD.Barrier()
    if WORLD.rank != 0:
        models = SharedModels.connect(timeout=60)
    measure_bind(models, make_network("meta"))
    path = os.path.join(folder, "net.pt")
    on_first(lambda: torch.save(network.state_dict(), path))
    measure_new_process(path)
    measure_cold_load(models, network)
    WORLD.Barrier()
    models.free()
    on_first(lambda: os.remove(path))
    on_first(lambda: os.rmdir(folder))


if __name__ == "__main__":
    main()
