# SPDX-License-Identifier: BSD-3-Clause
"""Runs the demo as a user does and checks its files: python run_demo.py BUILD OUTPUT [--quick]"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import example_path

# isort: split

LONGEST = 240  # seconds of the whole demo on two cores
RESULTS = ["bathymetry.bin", "checkpoint.h5", "figure.png", "forecast.png", "report.json"]


def check_figure(folder: str) -> None:
    from matplotlib import image

    for name in ("figure.png", "forecast.png"):
        picture = image.imread(os.path.join(folder, name))
        assert picture.shape[0] > 500, f"{name} has shape {picture.shape}"
        assert picture.shape[1] > 800, f"{name} has shape {picture.shape}"
        assert picture[..., :3].std() > 0.05, f"{name} is blank"


def check_checkpoint(folder: str, parameters: int) -> None:
    import h5py

    with h5py.File(os.path.join(folder, "checkpoint.h5"), "r") as file:
        found = {key: file[key].size for key in file if isinstance(file[key], h5py.Dataset)}
    model = sum(size for key, size in found.items() if key.startswith("model"))
    assert model == parameters, f"checkpoint.h5 holds {model} parameters; expected {parameters}: {sorted(found)}"
    assert any(key.startswith("optimizer") for key in found), sorted(found)


def check_report(report: dict, quick: bool) -> None:
    assert report["restart_max_abs_diff"] == 0
    assert report["restart_loss_relative_difference"] <= 1e-5
    assert report["ranks"]["restart_learners"] != report["ranks"]["learners"]
    assert report["persistence_to_variance"] >= 0.3, "the lead time is too short: persistence is too good"
    assert report["held_out_loss"] < report["baseline_loss"]
    assert report["samples"] > 0
    assert report["bytes_put"] > 0
    assert report["bytes_gathered"] > 0
    assert report["forecasts_used"] == report["forecasts_asked"] > 0
    assert report["forecast_error"] < (0.8 if quick else 0.35), "the solver's use of forecasts spoils its runs"
    if not quick:
        assert report["loss_last"] < report["loss_first"] / 2, "training has learnt too little"
        assert report["held_out_loss"] < report["baseline_loss"] / 3, "the surrogate has learnt too little"


def main() -> None:
    build, output, quick = sys.argv[1], sys.argv[2], "--quick" in sys.argv
    command = [sys.executable, os.path.join(example_path.EXAMPLE, "demo.py"), "--build", build, "--output", output]
    begin = time.monotonic()
    subprocess.run(command + ["--quick"] * quick, check=True)
    seconds = time.monotonic() - begin
    with open(os.path.join(output, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    check_report(report, quick)
    check_figure(output)
    check_checkpoint(output, report["parameters"])
    assert sorted(os.listdir(output)) == RESULTS
    assert quick or seconds < LONGEST, f"the demo took {seconds:.0f} s; expected less than {LONGEST} s"


if __name__ == "__main__":
    main()
