# SPDX-License-Identifier: BSD-3-Clause
"""The loss, and the surrogate against persistence on the held-out runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch

from .dataset import Moments, Reduce

Pair = tuple[int, int]  # held-out run and number of the first snapshot
Batches = Iterator[tuple[torch.Tensor, torch.Tensor]]


def squared_error(prediction: torch.Tensor, target: torch.Tensor, wet: torch.Tensor) -> torch.Tensor:
    """Sum of squares over samples, channels and cells that are wet at rest."""
    return ((prediction - target).square() * wet).sum()


def mean_squared_error(prediction: torch.Tensor, target: torch.Tensor, wet: torch.Tensor) -> torch.Tensor:
    """The loss: mean square over samples, channels and cells that are wet at rest."""
    return squared_error(prediction, target, wet) / (target.shape[0] * target.shape[1] * wet.sum())


def held_out_pairs(runs: int, snapshots: int, lag: int, stride: int = 1) -> list[Pair]:
    """Pairs of snapshots `lag` apart in all runs: every stride-th of them."""
    return [(run, first) for run in range(runs) for first in range(snapshots - lag)][::stride]


@dataclasses.dataclass(frozen=True)
class Scores:
    """Losses over held-out pairs, normalised as in training."""

    loss: float  # loss of the surrogate
    persistence: float  # loss of the prediction that nothing changes
    variance: float  # variance of the targets, mean over channels


def evaluate(
    model: Callable[[torch.Tensor], torch.Tensor],
    batches: Iterable[tuple[torch.Tensor, torch.Tensor]],
    wet: torch.Tensor,
    reduce: Reduce,
) -> Scores:
    """Scores over the batches (before, after) of all learners. Collective over the learners; sums in float64."""
    wet_cells = int(wet.sum())
    sums = np.zeros(2)
    targets = Moments(wet_cells)
    with torch.no_grad():
        for before, after in batches:
            sums[0] += squared_error(model(before).double(), after.double(), wet).item()
            sums[1] += squared_error(before.double(), after.double(), wet).item()
            targets.add(after)
    variance = float(targets.variance(reduce).mean())
    numbers = reduce(np.array([targets.sums[0].sum()]))[0]
    loss, persistence = (reduce(sums) / numbers).tolist()
    return Scores(loss, persistence, variance)
