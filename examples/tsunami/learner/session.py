# SPDX-License-Identifier: BSD-3-Clause
"""A learner's session: trains beside the solver and writes results, or restarts from a checkpoint."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time
import zlib
from collections.abc import Iterator

import numpy as np
import torch
from tqdm import tqdm

import syncyte
import syncyte.torch

from .checkpoint import load_checkpoint, parameters, save_checkpoint
from .dataset import Moments, Normalisation, deviations
from .evaluation import Scores, evaluate, held_out_pairs
from .forecasts import Forecasts, compare
from .model import Surrogate
from .picture import make_forecast_picture, make_picture
from .ring import Counter, Ring
from .training import Plan, Trainer

EVALUATION_BATCH = 8
LOOKS = 6  # number of evaluations on a part of the held-out pairs during training
LOOK_STRIDE = 8
SKIPPED_RUNS = 2  # the solver may overwrite these while learners start
FIRST_RUNS = 10  # the next runs, at most half the ring: their standard deviations normalise all states
FIRST_STEPS = 10  # loss_first is the mean over the first 10 steps
LAST_STEPS = 50  # loss_last is the mean over the last 50 steps, or the last quarter if that is shorter
SEED = 20260101


class Phases:
    """Durations of the job's phases, by name: each lasts from the end of the one before."""

    def __init__(self, begin: float) -> None:
        self.seconds: dict[str, float] = {}
        self.last = begin

    def end(self, name: str) -> None:
        now = time.time()
        self.seconds[name] = round(now - self.last, 2)
        self.last = now


@dataclasses.dataclass
class History:
    """Losses while training, equal on all learners."""

    seconds: list[float] = dataclasses.field(default_factory=list)
    training: list[float] = dataclasses.field(default_factory=list)
    held_out: list[tuple[float, float]] = dataclasses.field(default_factory=list)


class Session:
    """One learner's work. All public methods are collective over the learners."""

    def __init__(self, options: argparse.Namespace, ring: Ring, learners: syncyte.Comm, begin: float) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(SEED)  # the same first parameters on all learners
        self.options, self.ring, self.learners = options, ring, learners
        self.rank, self.ranks = learners.rank, learners.size
        self.lag = ring.lag(options.lead_time)
        self.random = np.random.default_rng([SEED, self.rank])
        self.wet = torch.from_numpy((ring.rest_depth > 0).astype(np.float32))
        self.model = Surrogate(torch.from_numpy(ring.rest_depth)).to(memory_format=torch.channels_last)
        self.normalisation = Normalisation(torch.ones(3))
        self.history = History()
        self.phases = Phases(begin)
        self.phases.end("start")

    # ---- The two jobs of a learner.

    def train(self) -> None:
        """Trains, evaluates, and writes checkpoint, picture and report."""
        self.wait_for_held_out()
        self.normalisation = self.measure_training_samples()
        trainer = self.run_training()
        self.learners.agree(operation="end of training", parameters=zlib.crc32(parameters(self.model)))
        self.phases.end("training")
        if self.rank == 0:
            self.ring.stop()
        scores = self.evaluate()
        self.phases.end("evaluation")
        save_checkpoint(self.path("checkpoint.h5"), trainer, self.normalisation, self.learners)
        self.phases.end("checkpoint")
        report = self.report(scores, trainer)
        if self.rank == 0:
            np.save(self.path("parameters.npy"), parameters(self.model))
            make_picture(self, report)
            self.phases.end("figure")
            self.write("training.json", report)

    def restart(self, forecasts: Forecasts | None) -> None:
        """Loads the checkpoint, compares its parameters with the trained ones, evaluates them; serves the solver."""
        self.normalisation = load_checkpoint(self.path("checkpoint.h5"), self.model, self.learners)
        trained = np.load(self.path("parameters.npy"))
        difference = np.abs(trained - parameters(self.model)).max()
        worst = self.learners.allreduce(float(difference), "max")
        self.phases.end("load")
        self.wait_for_held_out()
        scores = self.evaluate()
        self.phases.end("evaluation")
        if self.rank == 0:
            report = {
                "restart_max_abs_diff": worst,
                "held_out_loss": scores.loss,
                "baseline_loss": scores.persistence,
                "ranks": {"solver": self.ring.layout.solver_ranks, "learners": self.ranks},
                "seconds": self.phases.seconds,
            }
            if forecasts is not None:
                report.update(self.serve(forecasts))
            self.write("restart.json", report)

    # ---- Parts of these jobs.

    def serve(self, forecasts: Forecasts) -> dict:
        """Answers the solver while it computes the held-out runs again, and compares them. One learner calls it."""
        forecasts.serve(self.forecast)
        self.phases.end("forecasts")
        comparison = compare(self.ring, self.normalisation.deviation.numpy())
        layout, read = self.ring.layout, self.ring.read
        report = {
            "forecasts_asked": read(Counter.ASKED),
            "forecasts_used": read(Counter.USED),
            "forecast_share": read(Counter.USED)
            * layout.forecast_lag
            / (layout.held_slots // layout.snapshots * (layout.snapshots - 1)),
            "forecast_error": comparison.last_error,
            "solver_seconds_alone": read(Counter.MILLISECONDS_ALONE) / 1000,
            "solver_seconds_with_forecasts": read(Counter.MILLISECONDS_TOGETHER) / 1000,
        }
        make_forecast_picture(self, comparison, report)
        return report

    def forecast(self, state: np.ndarray) -> np.ndarray:
        """The state (3, ny, nx) one lead time later; cells that are dry at rest keep theirs."""
        rest = self.ring.rest_depth
        with torch.no_grad():
            later = self.model(self.normalisation.apply(deviations(state[None].copy(), rest)))
        result = self.normalisation.undo(later)[0].numpy()
        result[0] += rest
        return np.where(rest > 0, result, state).astype(np.float32)

    def wait_for_held_out(self) -> None:
        self.ring.wait(Counter.HELD_PUBLISHED, self.ring.layout.held_slots)
        self.phases.end("held_out")

    def measure_training_samples(self) -> Normalisation:
        """Standard deviations over the pairs of the first training runs; each learner reads a part of the pairs."""
        layout, lag = self.ring.layout, self.lag
        runs = min(FIRST_RUNS, layout.slots // layout.snapshots // 2)
        chosen = range(SKIPPED_RUNS, SKIPPED_RUNS + runs)
        self.ring.wait(Counter.PUBLISHED, chosen.stop * layout.snapshots)
        first = [run * layout.snapshots + number for run in chosen for number in range(layout.snapshots - lag)]
        mine = np.array(first[self.rank :: self.ranks], np.int64)
        moments = Moments(int(self.wet.sum()))
        for begin in range(0, len(mine), EVALUATION_BATCH):
            used, before, after = self.ring.try_pairs(mine[begin : begin + EVALUATION_BATCH], lag)
            for states in (before[used], after[used]):
                moments.add(deviations(states, self.ring.rest_depth))
        return Normalisation.of(moments, self.sum)

    def run_training(self) -> Trainer:
        steps = self.options.epochs * -(-self.ring.layout.slots // (self.options.batch * self.ranks))
        plan = Plan(self.options.train_seconds, steps, self.options.batch, self.options.learning_rate)
        averager = syncyte.torch.DataParallel(self.model, self.learners)
        trainer = Trainer(self.model, self.wet, plan, self.rank, self.ranks, self.all_reduce)
        with tqdm(total=100, unit="%", desc="training", disable=not self.options.progress or self.rank > 0) as bar:
            while not trainer.done():
                progress = trainer.step(self.sample)
                self.history.seconds.append(time.monotonic() - trainer.begin)
                self.history.training.append(progress.loss)
                bar.update(round(100 * progress.part) - bar.n)
                self.look(trainer, bar)
        averager.remove()
        return trainer

    def look(self, trainer: Trainer, bar: tqdm) -> None:
        """Evaluates a part of the held-out pairs, LOOKS times in all."""
        if trainer.progress.part * LOOKS < len(self.history.held_out) + 1:
            return
        loss = self.evaluate(LOOK_STRIDE).loss
        self.history.held_out.append((self.history.seconds[-1], loss))
        if self.rank == 0 and bar.disable:
            print(
                f"training: {100 * trainer.progress.part:3.0f} %, step {trainer.progress.step}, "
                f"held-out loss {loss:.4f}",
                flush=True,
            )
        bar.set_postfix(held_out=f"{loss:.4f}")

    def sample(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.prepare(*self.ring.sample(count, self.lag, self.random))

    def prepare(self, before: np.ndarray, after: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        rest = self.ring.rest_depth
        return (self.normalisation.apply(deviations(before, rest)), self.normalisation.apply(deviations(after, rest)))

    def evaluate(self, stride: int = 1) -> Scores:
        layout = self.ring.layout
        pairs = held_out_pairs(layout.held_slots // layout.snapshots, layout.snapshots, self.lag, stride)
        return evaluate(self.model, self.held_out_batches(pairs[self.rank :: self.ranks]), self.wet, self.sum)

    def held_out_batches(self, pairs: list[tuple[int, int]]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for first in range(0, len(pairs), EVALUATION_BATCH):
            yield self.prepare(*self.ring.held_out_pairs(pairs[first : first + EVALUATION_BATCH], self.lag))

    def report(self, scores: Scores, trainer: Trainer) -> dict:
        statistics = self.ring.statistics
        read = self.sum(np.array([statistics.pairs, statistics.rejected, statistics.bytes_gathered], np.float64))
        losses = self.history.training
        return {
            "loss_first": float(np.mean(losses[:FIRST_STEPS])),
            "loss_last": float(np.mean(losses[-max(1, min(LAST_STEPS, len(losses) // 4)) :])),
            "held_out_loss": scores.loss,
            "baseline_loss": scores.persistence,
            "loss_over_baseline": scores.loss / scores.persistence,
            "persistence_to_variance": scores.persistence / scores.variance,
            "samples": trainer.progress.step * self.options.batch * self.ranks,
            "steps": trainer.progress.step,
            "parameters": sum(p.numel() for p in trainer.parameters),
            "lead_time": self.options.lead_time,
            "grid": [self.ring.layout.nx, self.ring.layout.ny],
            "deviations": self.normalisation.deviation.tolist(),
            "snapshots_published": self.ring.read(Counter.PUBLISHED),
            "snapshots_overwritten_unread": self.ring.read(Counter.OVERWRITTEN),
            "pairs_read": int(read[0]),
            "pairs_rejected": int(read[1]),
            "bytes_put": self.ring.read(Counter.BYTES_PUT),
            "bytes_gathered": int(read[2]),
            "ranks": {"solver": self.ring.layout.solver_ranks, "learners": self.ranks},
            "seconds": self.phases.seconds,
        }

    # ---- Helpers.

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Sum over the learners."""
        return self.learners.allreduce(values)

    def all_reduce(self, values: torch.Tensor) -> torch.Tensor:
        return syncyte.torch.allreduce(values, self.learners)

    def path(self, name: str) -> str:
        return os.path.join(self.options.output, name)

    def write(self, name: str, report: dict) -> None:
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
