# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training: every learner draws its own samples; backward leaves the learners' mean gradients."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable

import torch
from torch import nn

from .evaluation import mean_squared_error

Sampler = Callable[[int], tuple[torch.Tensor, torch.Tensor]]  # maps a number of pairs to (before, after), normalised
AllReduce = Callable[[torch.Tensor], torch.Tensor]  # sum over all learners

WARM_UP_STEPS = 20
LARGEST_GRADIENT = 1.0


@dataclasses.dataclass(frozen=True)
class Plan:
    """Options of training."""

    seconds: float  # used if steps is 0
    steps: int
    batch: int  # samples of one learner in one step
    learning_rate: float


@dataclasses.dataclass
class Progress:
    """Results of one step, equal on all learners."""

    step: int
    part: float  # of the plan, 0 to 1
    loss: float  # mean over the learners' samples


class Trainer:
    """AdamW with a cosine schedule. All methods are collective over the learners.

    With several learners the caller has put a syncyte.torch.DataParallel on the model, so gradients are means after
    backward."""

    def __init__(
        self, model: nn.Module, wet: torch.Tensor, plan: Plan, rank: int, ranks: int, allreduce: AllReduce
    ) -> None:
        self.model, self.wet, self.plan = model, wet, plan
        self.rank, self.ranks, self.allreduce = rank, ranks, allreduce
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=plan.learning_rate, weight_decay=1e-4)
        self.begin = time.monotonic()
        self.progress = Progress(0, 0.0, math.nan)

    def done(self) -> bool:
        return self.progress.part >= 1

    def step(self, sample: Sampler) -> Progress:
        """Draws a batch, and updates the parameters, equally on all learners."""
        before, after = sample(self.plan.batch)
        self.optimizer.zero_grad(set_to_none=False)  # they stay in DataParallel's buckets
        loss = mean_squared_error(self.model(before), after, self.wet)
        loss.backward()
        self.share_progress(loss.detach())
        self.set_learning_rate()
        nn.utils.clip_grad_norm_(self.parameters, LARGEST_GRADIENT)
        self.optimizer.step()
        return self.progress

    def share_progress(self, loss: torch.Tensor) -> None:
        """Computes the mean loss, and takes rank 0's clock on all learners."""
        clock = torch.tensor([self.elapsed_part() if self.rank == 0 else 0.0])
        total, part = self.allreduce(torch.cat([loss.reshape(1), clock])).tolist()
        self.progress = Progress(self.progress.step + 1, min(part, 1.0), total / self.ranks)

    def elapsed_part(self) -> float:
        if self.plan.steps:
            return (self.progress.step + 1) / self.plan.steps
        return (time.monotonic() - self.begin) / self.plan.seconds

    def set_learning_rate(self) -> None:
        warm_up = min(1.0, self.progress.step / WARM_UP_STEPS)
        cosine = 0.5 * (1 + math.cos(math.pi * self.progress.part))
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.learning_rate * warm_up * cosine
