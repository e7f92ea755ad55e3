# SPDX-License-Identifier: BSD-3-Clause
"""A learner that answers the solver's questions as a test wants it: python forecast_partner.py MODE

prompt: at once; late: never in time; moody: every other answer is late; ended: one answer, then the program ends.
Answers are the question itself: persistence.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import example_path  # noqa: F401

# isort: split

from learner.forecasts import Forecasts
from learner.ring import NUMBER, RUN, Counter, Ring

import syncyte

LATE = 0.7  # seconds; run_forecasts.py lets the solver wait 0.3


class Answers:
    def __init__(self, mode: str) -> None:
        self.mode, self.count = mode, 0

    def __call__(self, state: np.ndarray) -> np.ndarray:
        self.count += 1
        if self.mode == "ended" and self.count == 2:
            raise StopIteration
        if self.mode == "late" or (self.mode == "moody" and self.count % 2):
            time.sleep(LATE)
        return state


def is_computed_alone(ring: Ring) -> np.ndarray:
    """For each snapshot that the solver has computed with forecasts: whether it equals the one without, bit for bit."""
    count = ring.read(Counter.PUBLISHED)
    headers = np.asarray(ring.training.headers.gather(np.arange(count)))
    alone = (headers[:, RUN] - 1) * ring.layout.snapshots + headers[:, NUMBER]
    together = ring.gather(ring.training, np.arange(count))
    return (together == ring.gather(ring.held_out, alone)).all(axis=(1, 2, 3))


def main() -> None:
    mode = sys.argv[1]
    world = syncyte.COMM_WORLD
    world.split_program("learner")
    ring = Ring(world)
    forecasts = Forecasts(world, ring, is_answering=True)
    try:
        forecasts.serve(Answers(mode))
    except StopIteration:
        ring.finish()
        return
    asked, used = ring.read(Counter.ASKED), ring.read(Counter.USED)
    equal = is_computed_alone(ring)
    print(f"{mode}: {used} of {asked} used, {equal.sum()} of {len(equal)} snapshots as without", flush=True)
    assert asked > 2
    if mode == "prompt":
        assert used == asked
        assert 0 < equal.sum() < len(equal)
    if mode == "late":
        assert used == 0
        assert equal.all()
    if mode == "moody":
        assert 0 < used < asked
    ring.finish()


if __name__ == "__main__":
    main()
