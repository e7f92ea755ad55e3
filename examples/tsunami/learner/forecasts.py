# SPDX-License-Identifier: BSD-3-Clause
"""The learners' side of solver/forecast.f90: answers the solver's questions, and measures what it made of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

import syncyte

from .ring import NUMBER, RUN, VARIABLES, Counter, Ring

LAST_QUESTION = 1 << 62  # the same as in solver/forecast.f90


class Forecasts:
    """The solver's state and its forecast. The constructor is collective over world."""

    def __init__(self, world: syncyte.Comm, ring: Ring, is_answering: bool) -> None:
        self.question = syncyte.WholeTensor.open("state", comm=world)
        if is_answering:  # this learner has the whole answer; the solver's ranks take their strips
            whole = syncyte.Layout.mesh(syncyte.COMM_SELF, (VARIABLES, ring.layout.ny, ring.layout.nx))
            self.answer = syncyte.WholeTensor.by_layout(whole, np.float32, slots=2, comm=world, name="forecast")
        else:
            self.answer = syncyte.WholeTensor.open("forecast", comm=world)

    def serve(self, forecast: Callable[[np.ndarray], np.ndarray]) -> int:
        """Answers with forecast(depth and momenta, (3, ny, nx)) until the solver asks no more; returns how often."""
        count = number = 0
        while True:
            state, number = self.question.take(at_least=number + 1)
            if number == LAST_QUESTION:
                return count
            self.answer.publish(forecast(np.array(state)), number)
            count += 1


@dataclasses.dataclass
class Comparison:
    """Runs that the solver has computed alone and, again, with forecasts."""

    minutes: np.ndarray  # of snapshots that all runs have
    error: np.ndarray  # root of (squared difference over squared deviation from rest), at each
    alone: np.ndarray  # surface elevation at the end of the run with the largest waves, (ny, nx)
    together: np.ndarray

    @property
    def last_error(self) -> float:
        return float(self.error[-1])


def compare(ring: Ring, deviation: np.ndarray) -> Comparison:
    """Compares the ring's snapshots with the held-out ones; momenta are divided by their standard deviations."""
    layout, count = ring.layout, ring.read(Counter.PUBLISHED)
    if count > layout.slots:
        raise ValueError(f"the ring has {layout.slots} slots, and the runs to compare {count} snapshots")
    headers = np.asarray(ring.training.headers.gather(np.arange(count)))
    run, number = headers[:, RUN] - 1, headers[:, NUMBER]
    scale = (ring.rest_depth > 0) / deviation[:, None, None]
    squares = np.zeros((layout.snapshots, 2))  # of differences, of deviations from rest
    found = np.zeros(layout.snapshots, int)
    largest, ends = -1.0, (np.zeros(0), np.zeros(0))
    for publication in range(count):
        with_forecasts = ring.gather(ring.training, np.array([publication]))[0]
        alone = ring.gather(ring.held_out, np.array([run[publication] * layout.snapshots + number[publication]]))[0]
        wave = alone.copy()
        wave[0] -= ring.rest_depth
        energy = float(np.square(wave * scale).sum())
        squares[number[publication]] += np.square((with_forecasts - alone) * scale).sum(), energy
        found[number[publication]] += 1
        if number[publication] == layout.snapshots - 1 and energy > largest:
            largest, ends = energy, (alone[0] - ring.rest_depth, with_forecasts[0] - ring.rest_depth)
    common = found == found.max()
    minutes = np.flatnonzero(common) * layout.interval_milliseconds / 60000
    return Comparison(minutes, np.sqrt(squares[common, 0] / np.maximum(squares[common, 1], 1e-30)), *ends)
