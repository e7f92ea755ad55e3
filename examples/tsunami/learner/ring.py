# SPDX-License-Identifier: BSD-3-Clause
"""The learners' side of the solver's ring: reads only complete snapshots, and never a torn or mixed pair.

The sequence in a slot's header says which publication the slot holds (solver/store.f90). A pair is used only if both
headers named the wanted publications before and after the gather of both snapshots, and if the headers' runs, numbers
and times belong to a pair. A learner that waits sleeps on a counter.
"""

from __future__ import annotations

import dataclasses
import enum

import numpy as np

import syncyte

LAYOUT_VERSION = 2
VARIABLES = 3
HEADER_LENGTH = 8
SEQUENCE, RUN, NUMBER, MILLISECONDS = range(4)  # of a header


class Counter(enum.IntEnum):
    """Elements of the counters' tensor; the same as in solver/ring.f90, from 0."""

    PUBLISHED = 0
    READS = 1
    HELD_PUBLISHED = 2
    STOP = 3
    FINISHED = 4
    BYTES_PUT = 5
    OVERWRITTEN = 6
    ASKED = 12
    USED = 13
    MILLISECONDS_ALONE = 14
    MILLISECONDS_TOGETHER = 15
    COUNT = 16


@dataclasses.dataclass(frozen=True)
class Layout:
    """Sizes that the solver announces."""

    version: int
    nx: int
    ny: int
    slots: int
    held_slots: int
    snapshots: int  # of one run
    interval_milliseconds: int
    solver_ranks: int
    forecast_lag: int  # snapshots that a forecast skips; 0: the solver asks for none


class Store:
    """Snapshots and their headers. The constructor is collective; reads are local."""

    def __init__(self, world: syncyte.Comm, layout: Layout, slots: int, name: str) -> None:
        shape = (slots, VARIABLES, layout.ny, layout.nx)
        self.slots = slots
        self.snapshots = syncyte.WholeTensor(shape, np.float32, comm=world, local_rows=0, name=name)
        self.headers = syncyte.WholeTensor(
            (slots, HEADER_LENGTH), np.int64, comm=world, local_rows=0, name=f"{name} headers"
        )

    def sequence(self, publication: int) -> int:
        """Returns the header's sequence; acquire: later gathers are at least as new."""
        return self.headers.load(publication % self.slots * HEADER_LENGTH)

    def sequence_after(self, publication: int) -> int:
        """Returns the header's sequence; earlier gathers are not newer: an atomic add of 0 is also a release."""
        return self.headers.fetch_add(publication % self.slots * HEADER_LENGTH, 0)


@dataclasses.dataclass
class Statistics:
    """Counters of this rank's reads."""

    pairs: int = 0
    rejected: int = 0  # pairs that were overwritten during the gather, or not of one run
    bytes_gathered: int = 0


class Ring:
    """All that the solver shares. The constructor is collective over world, whose rank 0 must be the solver."""

    def __init__(self, world: syncyte.Comm) -> None:
        sizes = np.zeros(9, np.int64)
        world.bcast(sizes, 0)
        self.layout = Layout(*sizes.tolist())
        if self.layout.version != LAYOUT_VERSION:
            raise RuntimeError(f"the solver's ring has layout {self.layout.version}; expected {LAYOUT_VERSION}")
        self.counters = syncyte.WholeTensor((Counter.COUNT,), np.int64, comm=world, local_rows=0, name="counters")
        rest_depth = syncyte.WholeTensor(
            (self.layout.ny, self.layout.nx), np.float32, comm=world, local_rows=0, name="depth at rest"
        )
        rest_depth.sync()
        self.rest_depth = np.asarray(rest_depth.gather(np.arange(self.layout.ny)))
        self.held_out = Store(world, self.layout, self.layout.held_slots, "held-out")
        self.training = Store(world, self.layout, self.layout.slots, "ring")
        self.statistics = Statistics()

    def wait(self, counter: Counter, value: int, timeout: float | None = None) -> int:
        """Sleeps until a counter has at least this value, and returns its value."""
        return self.counters.wait(int(counter), ">=", value, timeout=timeout)

    def read(self, counter: Counter) -> int:
        return self.counters.load(int(counter))

    def stop(self) -> None:
        """Sets the flag that stops the solver, and wakes the solver. One learner calls it."""
        self.counters.store(int(Counter.STOP), 1)
        self.counters.fetch_add(int(Counter.READS), 1 << 60)

    def finish(self) -> None:
        """Counts this learner as ended; the solver ends after all learners have."""
        self.counters.fetch_add(int(Counter.FINISHED), 1)

    def lag(self, lead_time: float) -> int:
        """Number of snapshots in a lead time of simulated seconds."""
        lag, rest = divmod(round(lead_time * 1000), self.layout.interval_milliseconds)
        if rest or not 1 <= lag < self.layout.snapshots:
            raise ValueError(
                f"lead time is {lead_time:g} s; expected a multiple of the snapshots' interval, "
                f"{self.layout.interval_milliseconds / 1000:g} s, below a run's length"
            )
        return lag

    def held_out_pairs(self, pairs: list[tuple[int, int]], lag: int) -> tuple[np.ndarray, np.ndarray]:
        """Snapshots (count, 3, ny, nx) before and after, of (held-out run, first snapshot). They never change."""
        first = np.array([run * self.layout.snapshots + number for run, number in pairs], np.int64)
        return self.gather(self.held_out, first), self.gather(self.held_out, first + lag)

    def gather(self, store: Store, publications: np.ndarray) -> np.ndarray:
        rows = np.asarray(store.snapshots.gather(publications % store.slots))
        self.statistics.bytes_gathered += rows.nbytes
        return rows

    def sample(self, count: int, lag: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Random pairs (count, 3, ny, nx) of the training runs, lag snapshots apart; waits for the first run."""
        before, after = [], []
        while count:
            first = self.candidates(count, lag, random)
            used, start, end = self.try_pairs(first, lag)
            before.append(start[used])
            after.append(end[used])
            count -= int(used.sum())
        return np.concatenate(before), np.concatenate(after)

    def candidates(self, count: int, lag: int, random: np.random.Generator) -> np.ndarray:
        """Publications that begin a pair and should still be in the ring."""
        snapshots = self.layout.snapshots
        newest = self.wait(Counter.PUBLISHED, snapshots)
        oldest = max(0, newest + 1 - self.training.slots)  # the solver may overwrite the one before
        first = random.integers(oldest, newest - lag, size=8 * count)
        return first[first % snapshots < snapshots - lag][:count]

    def try_pairs(self, first: np.ndarray, lag: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gathers pairs. Returns which of them are valid, and the snapshots."""
        store, both = self.training, np.concatenate([first, first + lag])
        fresh = np.array([store.sequence(p) == 2 * p + 2 for p in both.tolist()], bool)
        rows = self.gather(store, both)
        headers = np.asarray(store.headers.gather(both % store.slots))
        fresh &= np.array([store.sequence_after(p) == 2 * p + 2 for p in both.tolist()], bool)
        start, end = headers[: len(first)], headers[len(first) :]
        used = fresh[: len(first)] & fresh[len(first) :] & self.is_pair(start, end, lag)
        self.statistics.pairs += int(used.sum())
        self.statistics.rejected += int((~used).sum())
        self.counters.fetch_add(int(Counter.READS), 2 * int(used.sum()))
        return used, rows[: len(first)], rows[len(first) :]

    def is_pair(self, start: np.ndarray, end: np.ndarray, lag: int) -> np.ndarray:
        """Whether the headers are of one run, lag snapshots apart."""
        apart = end[:, NUMBER] - start[:, NUMBER] == lag
        later = end[:, MILLISECONDS] - start[:, MILLISECONDS] == lag * self.layout.interval_milliseconds
        return (start[:, RUN] == end[:, RUN]) & apart & later
