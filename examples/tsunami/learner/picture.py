# SPDX-License-Identifier: BSD-3-Clause
"""Fills the demo's figure with a held-out example and the history of training."""

from __future__ import annotations

import typing

import bathymetry
import numpy as np
import torch

from . import figure

if typing.TYPE_CHECKING:
    from .forecasts import Comparison
    from .session import Session


def liveliest_pair(session: Session) -> tuple[int, int]:
    """The held-out pair in the middle of its run where persistence fails most."""
    layout, lag = session.ring.layout, session.lag
    middle = (layout.snapshots - lag) // 2
    pairs = [(run, middle) for run in range(layout.held_slots // layout.snapshots)]
    before, after = session.prepare(*session.ring.held_out_pairs(pairs, lag))
    change = (after - before)[:, 0].square().sum(dim=(1, 2))
    return pairs[int(change.argmax())]


def example(session: Session) -> figure.Wave:
    """Solver and surrogate on that pair, in metres."""
    pair = liveliest_pair(session)
    before, after = session.prepare(*session.ring.held_out_pairs([pair], session.lag))
    with torch.no_grad():
        predicted = session.model(before)
    start, solver, surrogate = (session.normalisation.undo(x)[0, 0].numpy() for x in (before, after, predicted))
    minutes_per_snapshot = session.ring.layout.interval_milliseconds / 60000
    return figure.Wave(
        (pair[1] + session.lag) * minutes_per_snapshot, session.lag * minutes_per_snapshot, start, solver, surrogate
    )


def table(report: dict) -> list[tuple[str, str]]:
    ranks, grid = report["ranks"], report["grid"]
    return [
        ("ranks in one mpirun", f"{ranks['solver']} solver + {ranks['learners']} learners"),
        ("grid", f"{grid[0]} x {grid[1]} cells"),
        ("network", f"{report['parameters']:,} parameters"),
        ("pairs of snapshots learnt from", f"{report['samples']:,}"),
        ("written by the solver", f"{report['bytes_put'] / 1e6:,.0f} MB"),
        ("gathered by the learners", f"{report['bytes_gathered'] / 1e6:,.0f} MB"),
        ("held-out loss: persistence", f"{report['baseline_loss']:.3f}"),
        ("held-out loss: surrogate", f"{report['held_out_loss']:.3f}"),
        ("surrogate over persistence", f"{report['loss_over_baseline']:.2f}"),
    ]


def make_picture(session: Session, report: dict) -> None:
    """Writes figure.png. One learner calls it."""
    ground = bathymetry.read(session.options.bathymetry)
    history = session.history
    curves = figure.Curves(
        np.array(history.seconds), np.array(history.training), history.held_out, report["baseline_loss"]
    )
    figure.draw(
        session.path("figure.png"),
        figure.Map(ground.elevation, ground.longitude, ground.latitude),
        example(session),
        curves,
        table(report),
    )


def make_forecast_picture(session: Session, comparison: Comparison, report: dict) -> None:
    """Writes forecast.png. One learner calls it."""
    ground = bathymetry.read(session.options.bathymetry)
    runs = session.ring.layout.held_slots // session.ring.layout.snapshots
    figure.draw_forecasts(
        session.path("forecast.png"),
        figure.Map(ground.elevation, ground.longitude, ground.latitude),
        comparison,
        [
            ("runs", f"{runs}"),
            ("forecasts used, asked for", f"{report['forecasts_used']}, {report['forecasts_asked']}"),
            ("simulated time that they skip", f"{100 * report['forecast_share']:.0f} %"),
            ("solver alone", f"{report['solver_seconds_alone']:.1f} s"),
            ("with forecasts, waits included", f"{report['solver_seconds_with_forecasts']:.1f} s"),
            ("difference at the end, of the waves", f"{100 * report['forecast_error']:.0f} %"),
        ],
    )
