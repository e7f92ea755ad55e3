# SPDX-License-Identifier: BSD-3-Clause
"""The demo: a Fortran tsunami solver and PyTorch learners in one MPI job, sharing one memory.

The solver computes tsunamis on the real sea bed of the Salish Sea and writes every snapshot into a ring of whole-tensor
rows; learners train a surrogate on random samples of it while the solver goes on; then the job starts again from the
checkpoint with another number of learners, and the solver uses the surrogate: it computes runs again, and takes a
forecast after every few snapshots. Writes figure.png, forecast.png, checkpoint.h5 and report.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time

import bathymetry
from driver.jobs import Job, JobFailed, Programs, run_job
from driver.options import parse_options
from driver.report import check_output, merge_reports, summary


def make_bathymetry(folder: str, resolution: float) -> str:
    """Writes the sea bed for the solver."""
    path = os.path.join(folder, "bathymetry.bin")
    bathymetry.write(path, bathymetry.resample(bathymetry.salish_sea(), resolution))
    return path


def make_jobs(options: argparse.Namespace, sea_bed: str) -> tuple[Job, Job]:
    """The job that trains, and the one that starts again from its checkpoint."""
    solver = [
        "--bathymetry",
        sea_bed,
        "--held-out",
        str(options.held_out),
        "--snapshots",
        str(options.snapshots),
        "--interval",
        f"{options.interval:g}",
        "--ring-runs",
        str(options.ring_runs),
    ]
    learner = [
        "--bathymetry",
        sea_bed,
        "--output",
        options.output,
        "--lead-time",
        f"{options.lead_time:g}",
        "--train-seconds",
        f"{options.train_seconds:g}",
        "--epochs",
        str(options.epochs),
    ]
    if sys.stderr.isatty():
        learner.append("--progress")
    first = Job("training", options.solver_ranks, solver, options.learner_ranks, learner)
    forecasts = ["--runs", "0", "--forecast-every", str(options.forecast_every), "--forecast-lead", str(options.lag)]
    again = Job("restart", options.solver_ranks, [*solver, *forecasts], options.restart_ranks, [*learner, "--restart"])
    return first, again


def clean(folder: str) -> None:
    """Makes the folder, and removes an earlier demo's files in it. Raises ValueError if that is impossible."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ValueError(f"argument --output: the folder {folder!r} cannot be made: {error.strerror}") from None
    for name in (
        "figure.png",
        "forecast.png",
        "checkpoint.h5",
        "report.json",
        "training.json",
        "restart.json",
        "parameters.npy",
    ):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))


def run(options: argparse.Namespace) -> dict:
    """Both jobs; returns the report."""
    begin = time.monotonic()
    clean(options.output)
    programs = Programs.find(options.build)
    sea_bed = make_bathymetry(options.output, options.resolution)
    seconds = {}
    for job in make_jobs(options, sea_bed):
        print(f"{job.name}: {job.solver_ranks} solver rank(s), {job.learner_ranks} learner rank(s)", flush=True)
        start = time.monotonic()
        run_job(job, programs, options.time_limit)
        seconds[f"{job.name}_job"] = round(time.monotonic() - start, 2)
    seconds["total"] = round(time.monotonic() - begin, 2)
    report = merge_reports(options.output, seconds)
    with open(os.path.join(options.output, "report.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)
        file.write("\n")
    check_output(options.output)
    return report


def main() -> int:
    options = parse_options(__doc__)
    try:
        report = run(options)
    except (JobFailed, OSError, ValueError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    print(summary(report, shutil.get_terminal_size().columns))
    print(f"written: {options.output}/figure.png, forecast.png, checkpoint.h5, report.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
