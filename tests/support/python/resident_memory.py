# SPDX-License-Identifier: BSD-3-Clause
"""Current resident memory of this process. The high-water mark would hide growth below an earlier peak."""

import gc
import resource
from collections.abc import Callable


def resident_bytes() -> int:
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as status:
        return int(status.read().split()[1]) * resource.getpagesize()


def smallest_growth(step: Callable[[], object], steps: int, rounds: int = 3) -> int:
    """Bytes by which a round of steps adds to the memory, in the round that adds least.

    Caches, and other threads on a busy machine, add in some rounds; a leak in every round.
    """
    growth = []
    for _ in range(rounds):
        before = resident_bytes()
        for _ in range(steps):
            step()
        growth.append(resident_bytes() - before)
    return min(growth)
