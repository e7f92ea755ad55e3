# SPDX-License-Identifier: BSD-3-Clause
"""The shared cache: a switch of two processes to a resident model against a copy of the model's bytes, and allocations
in a slice against those of torch's own allocator."""

import os
import tempfile
from collections.abc import Callable

import numpy as np
import torch

from paired import WORLD, Row, measure_rate, measure_time
from syncyte import SharedCache
from syncyte.cache import clear

BYTES = 256 << 20
SMALL = [4, 64, 256, 1000, 2048, 64, 16384, 256]  # elements of parameters, repeated


def sizes_of(count: int, total: int = BYTES) -> list[int]:
    """Element counts of parameters that take `total` bytes together. Large and small ones alternate, as in networks."""
    large = [0] * (count // 2)
    small = (SMALL * count)[: count - len(large)]
    rest = total // 4 - sum(-(-each // 128) * 128 for each in small)
    each = rest // len(large) // 128 * 128
    large = [each] * (len(large) - 1) + [rest - each * (len(large) - 1)]
    return [size for pair in zip(large, small, strict=True) for size in pair]


class Model:
    """Parameters without own memory; a switch binds them to a slice."""

    def __init__(self, cache: SharedCache, sizes: list[int]) -> None:
        self.cache, self.sizes, self.device = cache, sizes, cache.device
        self.nothing = torch.empty(0, device=self.device)
        self.parameters = [torch.nn.Parameter(self.nothing, requires_grad=False) for _ in self.sizes]

    def bind(self) -> None:
        self.cache.insert(0, self.cache.parameter_bytes)
        for parameter, size in zip(self.parameters, self.sizes, strict=True):
            parameter.data = torch.empty(size, device=self.device)

    def drop(self) -> None:
        for parameter in self.parameters:
            parameter.data = self.nothing
        clear()


def switching(model: Model) -> Callable[[], None]:
    """One switch: the process that has the model drops it, clears and sends a message; the other one binds the model
    and answers."""
    owner = 0

    def switch() -> None:
        nonlocal owner
        word = np.zeros(1, np.int32)
        if WORLD.rank == owner:
            model.drop()
            WORLD.Send(word, 1 - owner)
            WORLD.Recv(word, 1 - owner)
        elif WORLD.rank == 1 - owner:
            WORLD.Recv(word, owner)
            model.bind()
            WORLD.Send(word, owner)
        owner = 1 - owner

    return switch


def checked_switch(model: Model) -> Callable[[], None]:
    """The switch, once the other rank has found the values that rank 0 has written."""
    if WORLD.rank == 0:
        model.bind()
        for number, parameter in enumerate(model.parameters):
            parameter.fill_(number)
    switch = switching(model)
    switch()
    if WORLD.rank == 1:
        assert all(parameter[0].item() == number for number, parameter in enumerate(model.parameters)), "another model"
    switch()
    return switch


def measure_switch(cache: SharedCache, count: int, goal: float | None) -> None:
    source, target = np.ones(BYTES, np.uint8), np.ones(BYTES, np.uint8)

    def copy() -> None:
        if WORLD.rank == 0:
            np.copyto(target, source)

    model = Model(cache, sizes_of(count))
    switch = checked_switch(model)
    row = Row(f"switch to a resident model of {count} tensors, 256 MiB", "ms", "memcpy of its bytes", "lower", goal)
    measure_time(row, 1e3, switch, copy, repeats=2)
    if model.parameters[0].numel() > 0:
        model.drop()


def measure_allocations(cache: SharedCache, name: str, sizes: list[int]) -> None:
    """Rate of allocations; the memory itself is not touched."""

    def allocate() -> None:
        tensors = [torch.empty(size) for size in sizes]
        del tensors

    def allocate_inside() -> None:
        cache.insert(WORLD.rank * BYTES, BYTES)
        for _ in range(100):
            allocate()
        clear()

    def allocate_outside() -> None:
        for _ in range(100):
            allocate()

    measure_rate(
        Row(f"{name} made and dropped in a slice", "1/s", "torch's own allocator", "higher", 0.833),
        100.0 * len(sizes),
        allocate_inside,
        allocate_outside,
    )


def main() -> None:
    torch.set_num_threads(1)
    folder = WORLD.bcast(tempfile.mkdtemp() if WORLD.rank == 0 else None)
    os.environ["SYNCYTE_CACHE_FOLDER"] = folder
    if WORLD.rank == 0:
        cache = SharedCache(2 * BYTES, 1 << 20)
        for _ in range(WORLD.size - 1):
            cache.send(timeout=60)
    else:
        cache = SharedCache.receive(timeout=60)
    cache.touch()
    measure_switch(cache, 160, 0.1)
    measure_switch(cache, 932, None)
    measure_allocations(cache, "160 tensors of 256 MiB", sizes_of(160))
    measure_allocations(cache, "160 tensors of 4 KB", [1000] * 160)
    WORLD.Barrier()
    if WORLD.rank == 0:
        os.rmdir(folder)


if __name__ == "__main__":
    main()
