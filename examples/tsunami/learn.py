# SPDX-License-Identifier: BSD-3-Clause
"""A learner of the tsunami demo, started by demo.py beside the solver: python -m syncyte learn.py --help."""

from __future__ import annotations

import argparse
import os
import time

from learner.forecasts import Forecasts
from learner.ring import Ring

import syncyte


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    add = parser.add_argument
    add("--bathymetry", required=True, help="file that the solver reads, for the maps")
    add("--output", required=True, help="folder for the results")
    add("--lead-time", type=float, default=600.0, help="simulated seconds to look ahead")
    add("--train-seconds", type=float, default=90.0, help="time to train")
    add("--epochs", type=int, default=0, help="train for so many epochs instead")
    add("--batch", type=int, default=2, help="samples of one learner in one step")
    add("--learning-rate", type=float, default=3e-3, help="largest learning rate")
    add("--restart", action="store_true", help="load the checkpoint and evaluate instead of training")
    add("--progress", action="store_true", help="show a progress bar")
    return parser.parse_args()


def main() -> None:
    begin = float(os.environ.get("TSUNAMI_JOB_BEGIN", time.time()))
    options = parse_options()
    world = syncyte.COMM_WORLD
    learners = world.split_program("learner")
    ring = Ring(world)
    forecasts = Forecasts(world, ring, is_answering=learners.rank == 0) if ring.layout.forecast_lag else None
    # The solver already computes while torch is imported, which takes more than a second.
    from learner.session import Session

    session = Session(options, ring, learners, begin)
    if options.restart:
        session.restart(forecasts)
    else:
        session.train()
    ring.finish()


if __name__ == "__main__":
    main()
