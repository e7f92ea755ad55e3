# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the demo."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Sequence

INTERVAL = 120.0  # simulated seconds between snapshots
QUICK = {"resolution": 0.5, "held_out": 3, "snapshots": 16, "ring_runs": 12}
FULL = {"resolution": 1.0, "held_out": 12, "snapshots": 26, "ring_runs": 40}
TRAIN_SECONDS = 90.0
QUICK_EPOCHS = 2


def number(convert: Callable[[str], float], least: float, most: float) -> Callable[[str], float]:
    """A type for argparse: a number between two others."""
    kind = "a whole number" if convert is int else "a number"

    def check(text: str) -> float:
        try:
            value = convert(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {kind} from {least:g} to {most:g}")
        return value

    return check


def make_parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
    add = parser.add_argument
    add("--build", default="build", help="build folder (default: build)")
    add("--output", help="folder for figure.png, checkpoint.h5, report.json (default: BUILD/demo)")
    add(
        "--resolution",
        type=number(float, 0.25, 4),
        metavar="FACTOR",
        help="cells per cell of the data in each direction, 0.25 to 4 (default 1: 120 x 91 cells of 2.4 km)",
    )
    add("--solver-ranks", type=number(int, 1, 64), default=1, metavar="N", help="ranks of the solver (default 1)")
    add("--learner-ranks", type=number(int, 1, 64), default=2, metavar="N", help="ranks that train (default 2)")
    add(
        "--restart-ranks",
        type=number(int, 1, 64),
        metavar="N",
        help="learner ranks of the second job (default: 1, or 2 if 1 trained)",
    )
    add("--train-seconds", type=number(float, 1, 86400), metavar="SECONDS", help="time to train (default 90)")
    add(
        "--epochs",
        type=number(int, 1, 10**6),
        metavar="N",
        help="train for N epochs (as many samples as the ring has snapshots) instead of for a time",
    )
    add(
        "--lead-time",
        type=number(float, INTERVAL, 86400),
        default=600.0,
        metavar="SECONDS",
        help=f"simulated seconds that the surrogate looks ahead, a multiple of {INTERVAL:g} (default 600)",
    )
    add(
        "--forecast-every",
        type=number(int, 0, 10**5),
        default=5,
        metavar="N",
        help="in the second job the solver uses a forecast after every N snapshots; 0: never (default 5)",
    )
    add("--held-out", type=number(int, 1, 1000), metavar="N", help="runs kept for the evaluation (default 12)")
    add(
        "--time-limit",
        type=number(float, 10, 10**6),
        metavar="SECONDS",
        help="a job that takes longer is ended (default: training time + 300)",
    )
    add(
        "--quick",
        action="store_true",
        help="a small grid and a few seconds of training: does everything, learns little",
    )
    return parser


def parse_options(description: str, arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Options with all defaults filled in; wrong ones end the program with status 2 and a message."""
    parser = make_parser(description)
    options = parser.parse_args(arguments)
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name, None) is None:
            setattr(options, name, value)
    if options.epochs and options.train_seconds:
        parser.error("argument --epochs: not allowed with argument --train-seconds")
    options.epochs = options.epochs or (QUICK_EPOCHS if options.quick and not options.train_seconds else 0)
    options.train_seconds = options.train_seconds or TRAIN_SECONDS
    options.interval = INTERVAL
    options.build = os.path.abspath(options.build)
    options.output = os.path.abspath(options.output or os.path.join(options.build, "demo"))
    options.restart_ranks = options.restart_ranks or (2 if options.learner_ranks == 1 else 1)
    options.time_limit = options.time_limit or 300 + options.train_seconds + 10 * options.epochs
    lag, rest = divmod(options.lead_time, INTERVAL)
    if rest:
        parser.error(f"argument --lead-time: {options.lead_time:g} is not a multiple of {INTERVAL:g}")
    if options.restart_ranks == options.learner_ranks:
        parser.error(
            f"argument --restart-ranks: {options.restart_ranks} is the number of ranks that train; expected another one"
        )
    if not os.path.isdir(options.build):
        parser.error(f"argument --build: {options.build!r} is not a folder; build Syncyte first")
    options.lag = int(lag)
    options.snapshots = max(options.snapshots, 2 * options.lag + 2)
    # With many runs the surrogate generalises better. A fine grid has fewer, to keep the ring below about 200 MB.
    options.ring_runs = max(4, min(options.ring_runs, round(options.ring_runs / options.resolution**2)))
    options.ring_runs = max(options.ring_runs, options.held_out)  # those that are computed again stay in the ring
    return options
