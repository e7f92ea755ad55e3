# SPDX-License-Identifier: BSD-3-Clause
"""Paired measurements in Python, by the protocol of paired.hpp."""

from __future__ import annotations

import dataclasses
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from mpi4py import MPI

WORLD = MPI.COMM_WORLD


@dataclass
class Row:
    """One row of report.json, before it is measured."""

    name: str
    unit: str
    reference_name: str
    better: str  # of the ratio: "higher" or "lower"
    goal: float | None  # of the ratio; None: informative


def seconds_of(work: Callable[[], object], repeats: int) -> float:
    """Seconds of ``repeats`` pieces of collective work: from a barrier to the slowest rank's end."""
    WORLD.Barrier()
    begin = time.perf_counter()
    for _ in range(repeats):
        work()
    return WORLD.allreduce(time.perf_counter() - begin, MPI.MAX)


def _rounds(
    ours: Callable[[], object], reference: Callable[[], object], rounds: int, repeats: int
) -> list[tuple[float, float]]:
    seconds_of(ours, 1)  # warm-up
    seconds_of(reference, 1)
    result = []
    for turn in range(rounds):
        first = seconds_of(ours, repeats) if turn % 2 == 0 else 0.0
        other = seconds_of(reference, repeats)
        mine = first or seconds_of(ours, repeats)
        result.append((mine / repeats, other / repeats))
    return result


def _print_line(row: dict[str, object]) -> None:
    # One write: mpirun may put a tag between two.
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


def print_row(row: Row, ours: list[float], reference: list[float], ratios: list[float]) -> None:
    """Prints a row of measured rounds, on rank 0."""
    if WORLD.rank != 0:
        return
    _print_line(
        {
            "name": row.name,
            "unit": row.unit,
            "ours": statistics.median(ours),
            "reference": statistics.median(reference),
            "reference_name": row.reference_name,
            "ratio": statistics.median(ratios),
            "ratio_min": min(ratios),
            "ratio_max": max(ratios),
            "rounds": len(ratios),
            "better": row.better,
            "goal": row.goal,
        }
    )


def print_not_measured(row: Row, reason: str) -> None:
    """Prints a row that has no figures, on rank 0."""
    if WORLD.rank != 0:
        return
    figures = dict.fromkeys(["ours", "reference", "ratio", "ratio_min", "ratio_max"])
    _print_line({**dataclasses.asdict(row), **figures, "rounds": 0, "not_measured": reason})


def measure_rate(
    row: Row,
    amount: float,
    ours: Callable[[], object],
    reference: Callable[[], object],
    rounds: int = 11,
    repeats: int = 1,
) -> None:
    """Prints a row whose figures are ``amount`` of work per second; the ratio is ours/reference. Collective."""
    pairs = _rounds(ours, reference, rounds, repeats)
    print_row(row, [amount / a for a, _ in pairs], [amount / b for _, b in pairs], [b / a for a, b in pairs])


def measure_time(
    row: Row,
    scale: float,
    ours: Callable[[], object],
    reference: Callable[[], object],
    rounds: int = 11,
    repeats: int = 1,
) -> None:
    """Prints a row whose figures are seconds times ``scale``; the ratio is ours/reference. Collective."""
    pairs = _rounds(ours, reference, rounds, repeats)
    print_row(row, [a * scale for a, _ in pairs], [b * scale for _, b in pairs], [a / b for a, b in pairs])
