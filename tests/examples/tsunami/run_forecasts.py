# SPDX-License-Identifier: BSD-3-Clause
"""The solver with forecasts of a learner that is prompt, late or gone: python run_forecasts.py BUILD OUTPUT

The solver computes all runs to their end, whatever the learner does.
"""

from __future__ import annotations

import os
import subprocess
import sys

import example_path  # noqa: F401

# isort: split

import demo
from driver.jobs import Programs

SOLVER = ["--held-out", "2", "--snapshots", "12", "--ring-runs", "2", "--runs", "0", "--forecast-every", "2",
          "--forecast-lead", "2"]  # fmt: skip
PARTNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forecast_partner.py")


def run(programs: Programs, bed: str, mode: str, solvers: int, wait: str) -> str:
    """Runs a solver and the learner; returns what they have written."""
    solver = [programs.solver, "--bathymetry", bed, *SOLVER, "--forecast-wait", wait]
    learner = [sys.executable, "-m", "syncyte", PARTNER, mode]
    command = [programs.mpirun, "-n", str(solvers), *solver, ":", "-n", "1", *learner]
    result = subprocess.run(command, env=programs.environment, capture_output=True, text=True, timeout=40)
    print(f"{mode}: status {result.returncode}\n{result.stdout}{result.stderr}", flush=True)
    assert result.returncode == 0, f"{mode}: status {result.returncode}"
    return result.stdout + result.stderr


def main() -> None:
    build, output = sys.argv[1:]
    demo.clean(output)
    programs = Programs.find(build)
    programs.environment["SYNCYTE_WATCHDOG"] = "20"
    bed = demo.make_bathymetry(output, 0.25)
    run(programs, bed, "prompt", 2, "10")
    run(programs, bed, "late", 1, "0.3")
    run(programs, bed, "moody", 2, "0.3")
    assert "goes on alone" in run(programs, bed, "ended", 2, "10")


if __name__ == "__main__":
    main()
