# SPDX-License-Identifier: BSD-3-Clause
"""States as the network sees them: surface elevation and momenta over the cells that are wet at rest, normalised."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import torch

Reduce = Callable[[np.ndarray], np.ndarray]  # sums a float64 array over all learners


def deviations(states: np.ndarray, rest_depth: np.ndarray) -> torch.Tensor:
    """Converts depth and momenta (count, 3, ny, nx) to elevation and momenta in place; cells that are dry at rest
    become zero."""
    states[:, 0] -= rest_depth
    states *= rest_depth > 0
    return torch.from_numpy(states)


class Moments:
    """Counts, sums and sums of squares by channel over wet cells, in float64."""

    def __init__(self, wet_cells: int) -> None:
        self.wet_cells = wet_cells
        self.sums = np.zeros((3, 3))  # [count, sum, sum of squares], channel

    def add(self, values: torch.Tensor) -> None:
        """Adds values (count, 3, ny, nx), zero in dry cells."""
        values = values.double()
        self.sums[0] += values.shape[0] * self.wet_cells
        self.sums[1] += values.sum(dim=(0, 2, 3)).numpy()
        self.sums[2] += values.square().sum(dim=(0, 2, 3)).numpy()

    def variance(self, reduce: Reduce) -> np.ndarray:
        """Variance by channel of the values of all learners. Collective over the learners."""
        count, total, squares = reduce(self.sums.copy())
        return squares / count - (total / count) ** 2


@dataclasses.dataclass(frozen=True)
class Normalisation:
    """Standard deviations of elevation (m) and momenta (m^2/s) over the training samples."""

    deviation: torch.Tensor  # (3,)

    @classmethod
    def of(cls, moments: Moments, reduce: Reduce) -> Normalisation:
        """From moments of training samples. Collective over the learners."""
        deviation = np.sqrt(moments.variance(reduce))
        if not (deviation > 0).all():
            raise ValueError(f"training samples do not vary: standard deviations {deviation.tolist()}")
        return cls(torch.from_numpy(deviation.astype(np.float32)))

    def apply(self, values: torch.Tensor) -> torch.Tensor:
        return values / self.deviation.view(1, 3, 1, 1)

    def undo(self, values: torch.Tensor) -> torch.Tensor:
        return values * self.deviation.view(1, 3, 1, 1)
