# SPDX-License-Identifier: BSD-3-Clause
"""Joins both jobs' reports to report.json, and checks it."""

from __future__ import annotations

import json
import math
import os

NUMBERS = (
    "loss_first",
    "loss_last",
    "baseline_loss",
    "held_out_loss",
    "loss_over_baseline",
    "persistence_to_variance",
    "samples",
    "steps",
    "bytes_put",
    "bytes_gathered",
    "pairs_rejected",
    "restart_max_abs_diff",
    "restart_held_out_loss",
    "restart_loss_relative_difference",
)
FORECASTS = (
    "forecasts_asked",
    "forecasts_used",
    "forecast_share",
    "forecast_error",
    "solver_seconds_alone",
    "solver_seconds_with_forecasts",
)
PHASES = ("start", "held_out", "training", "evaluation", "figure", "restart", "total")


def load(folder: str, name: str) -> dict:
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} is missing: its job did not finish")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def merge_reports(folder: str, seconds: dict[str, float]) -> dict:
    """Joins training.json and restart.json to one report, and removes them."""
    report, restart = load(folder, "training.json"), load(folder, "restart.json")
    report["ranks"]["restart_learners"] = restart["ranks"]["learners"]
    report["restart_max_abs_diff"] = restart["restart_max_abs_diff"]
    report["restart_held_out_loss"] = restart["held_out_loss"]
    difference = abs(restart["held_out_loss"] - report["held_out_loss"])
    report["restart_loss_relative_difference"] = difference / report["held_out_loss"]
    report["restart_seconds"] = restart["seconds"]
    report.update({name: restart[name] for name in FORECASTS if name in restart})
    report["seconds"].update(seconds, restart=seconds["restart_job"])
    for name in ("training.json", "restart.json", "parameters.npy"):
        os.remove(os.path.join(folder, name))
    return report


def check_output(folder: str) -> None:
    """Raises ValueError if a file or a number is missing or wrong."""
    import h5py

    with open(os.path.join(folder, "figure.png"), "rb") as file:
        if file.read(4) != b"\x89PNG":
            raise ValueError(f"{os.path.join(folder, 'figure.png')} is not a picture")
    if not h5py.is_hdf5(os.path.join(folder, "checkpoint.h5")):
        raise ValueError(f"{os.path.join(folder, 'checkpoint.h5')} is not an HDF5 file")
    report = load(folder, "report.json")
    for name in NUMBERS:
        if not isinstance(report.get(name), (int, float)) or not math.isfinite(report[name]):
            raise ValueError(f"report.json: {name} is {report.get(name)!r}; expected a number")
    for name in PHASES:
        if not isinstance(report["seconds"].get(name), (int, float)):
            raise ValueError(f"report.json: seconds has no {name!r}")
    if report["restart_max_abs_diff"] != 0:
        raise ValueError(
            f"parameters changed by {report['restart_max_abs_diff']} from checkpoint to restart; expected 0"
        )
    if report["restart_loss_relative_difference"] > 1e-5:
        raise ValueError(
            f"the restarted job's evaluation differs by {report['restart_loss_relative_difference']:.2g}, "
            "relative; expected at most 1e-5"
        )


def summary(report: dict, columns: int) -> str:
    """A few lines for the terminal."""
    seconds, ranks = report["seconds"], report["ranks"]
    forecasts = []
    if "forecasts_used" in report:
        forecasts.append(
            f"solver with forecasts: {report['forecasts_used']} of {report['forecasts_asked']} used, for "
            f"{100 * report['forecast_share']:.0f} % of the simulated time; differs by "
            f"{100 * report['forecast_error']:.0f} % of the waves at the end"
        )
    verdict = "less than a third" if report["loss_over_baseline"] < 1 / 3 else "not yet less than a third"
    return "\n".join(
        (
            "-" * min(columns, 80),
            f"ranks: {ranks['solver']} solver, {ranks['learners']} learners; restart with {ranks['restart_learners']}",
            f"samples: {report['samples']} in {report['steps']} steps; the solver wrote "
            f"{report['bytes_put'] / 1e9:.2f} GB, learners gathered {report['bytes_gathered'] / 1e9:.2f} GB",
            f"held-out loss: {report['held_out_loss']:.4f}; persistence: {report['baseline_loss']:.4f} "
            f"({report['persistence_to_variance']:.2f} of the variance)",
            f"surrogate: {report['loss_over_baseline']:.3f} of persistence, {verdict}",
            f"restart: parameters differ by {report['restart_max_abs_diff']:g}, "
            f"evaluation by {report['restart_loss_relative_difference']:.1e} (relative)",
            *forecasts,
            "seconds: " + ", ".join(f"{name} {seconds[name]:.1f}" for name in PHASES),
        )
    )
