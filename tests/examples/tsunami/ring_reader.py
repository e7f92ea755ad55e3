# SPDX-License-Identifier: BSD-3-Clause
"""Reads the patterns that ring_writer.f90 writes; no torn, mixed or unpublished snapshot may ever be used."""

from __future__ import annotations

import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import example_path  # noqa: F401

# isort: split
from learner.ring import Counter, Ring

import syncyte

STEP_DONE, READER_DONE = 10, 11
RUN = 6  # snapshots of a run
SLOTS = 2 * RUN
LAG = 2
SECONDS = 2.0


def pattern_of(snapshot: np.ndarray) -> int | None:
    """The publication whose pattern fills a snapshot, or None if it is torn."""
    publication = int(snapshot[0, 0, 0])
    scale = np.array([1, -1, 2], np.float32).reshape(3, 1, 1)
    return publication if (snapshot == publication * scale).all() else None


def await_step(ring: Ring, step: int) -> None:
    ring.counters.wait(STEP_DONE, ">=", step)


def tell(ring: Ring, step: int) -> None:
    ring.counters.store(READER_DONE, step)


def check_sizes(ring: Ring) -> None:
    assert (ring.layout.slots, ring.layout.snapshots, ring.layout.nx, ring.layout.ny) == (SLOTS, RUN, 256, 256)
    assert ring.rest_depth.shape == (256, 256)
    assert (ring.rest_depth == 1).all()


def check_complete_pairs(ring: Ring) -> None:
    """Thirteen snapshots are published; the last one has overwritten publication 0."""
    await_step(ring, 1)
    assert ring.read(Counter.PUBLISHED) == SLOTS + 1
    first = np.array([0, 1, 2, 3, 4, 5, 6, 7, 10])
    used, before, after = ring.try_pairs(first, LAG)
    # Publication 0 is overwritten; pairs from 4, 5 and 10 would cross from one run into the next.
    assert used.tolist() == [False, True, True, True, False, False, True, True, False]
    assert [pattern_of(x) for x in before[used]] == first[used].tolist()
    assert [pattern_of(x) for x in after[used]] == (first[used] + LAG).tolist()
    assert ring.read(Counter.READS) == 2 * used.sum()
    tell(ring, 1)


def check_open_slot(ring: Ring, writers: int) -> None:
    """Publication 14 is being written into the slot of 2."""
    await_step(ring, 2)
    torn = ring.gather(ring.training, np.array([2]))[0]
    assert pattern_of(torn) is (None if writers > 1 else 14), "the pattern shows a torn snapshot"
    used, _, _ = ring.try_pairs(np.array([2, 3, 12, 14]), LAG)
    assert used.tolist() == [False, True, False, False], (
        "neither as the first nor as the second, nor before it is published"
    )
    tell(ring, 2)


def check_overwriting_while_reading(ring: Ring) -> None:
    """The slots are complete before and after the gather, but hold other publications."""
    gather = ring.gather

    def late_gather(store, publications):
        tell(ring, 3)
        await_step(ring, 3)
        return gather(store, publications)

    ring.gather = late_gather
    used, before, _ = ring.try_pairs(np.array([6, 7]), LAG)
    ring.gather = gather
    assert not used.any()
    assert all(pattern_of(x) not in (6, 7) for x in before)


def check_at_full_speed(ring: Ring) -> None:
    """The writer overwrites without waiting. Torn snapshots must occur, and must be rejected."""
    random = np.random.default_rng(5)
    seen_torn = batches = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        before, after = ring.sample(2, LAG, random)
        for start, last in zip(before, after, strict=True):
            publication = pattern_of(start)
            assert publication is not None, "a torn or mixed pair was used"
            assert pattern_of(last) == publication + LAG, "a torn or mixed pair was used"
            assert publication % RUN + LAG < RUN, "a pair crosses runs"
        newest = ring.read(Counter.PUBLISHED)
        seen_torn += pattern_of(ring.gather(ring.training, np.array([newest]))[0]) is None
        batches += 1
    print(
        f"ring_reader: {batches} batches, {ring.statistics.rejected} pairs rejected; without the check, {seen_torn} "
        f"of {batches} snapshots were torn",
        flush=True,
    )
    assert batches > 10
    assert seen_torn > 0, "the writer was never caught while it wrote: the test has tested nothing"


def main() -> None:
    world = syncyte.COMM_WORLD
    readers = world.split_program("ring_reader")
    ring = Ring(world)
    check_sizes(ring)
    check_complete_pairs(ring)
    check_open_slot(ring, world.size - readers.size)
    check_overwriting_while_reading(ring)
    check_at_full_speed(ring)
    ring.stop()
    ring.finish()


if __name__ == "__main__":
    main()
