# SPDX-License-Identifier: BSD-3-Clause
"""Runs the quick demo on this host, then on virtual hosts: python run_demo_hosts.py BUILD OUTPUT --mpirun=COMMAND

COMMAND starts ranks on the hosts, its words separated by "|" (virtual_hosts.py gives it). A learner is on another
host than the solver: one of two in the first job, the only one in the second. The solver's snapshots, and so the losses
of persistence, are equal. The training is not: learners draw what the ring holds at that moment.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
from unittest import mock

import example_path  # noqa: F401

# isort: split

import demo
import driver.jobs
import run_demo

FROM_SOLVER = ["baseline_loss", "persistence_to_variance", "parameters"]


def write_launcher(folder: str, mpirun: str) -> str:
    """A program that starts ranks on the virtual hosts, with the arguments of mpirun."""
    words = mpirun.split("|")[:-1]  # without the flag of the rank count
    path = os.path.join(folder, "mpirun")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    os.chmod(path, stat.S_IRWXU)
    return path


def run(build: str, output: str) -> dict:
    with mock.patch.object(sys, "argv", ["demo.py", "--build", build, "--output", output, "--quick"]):
        assert demo.main() == 0
    with open(os.path.join(output, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    run_demo.check_report(report, quick=True)
    run_demo.check_figure(output)
    run_demo.check_checkpoint(output, report["parameters"])
    return report


def main() -> None:
    build, output, mpirun = sys.argv[1], sys.argv[2], sys.argv[3].removeprefix("--mpirun=")
    os.makedirs(output, exist_ok=True)
    alone = run(build, os.path.join(output, "one_host"))
    with mock.patch.object(driver.jobs, "cached", return_value=write_launcher(output, mpirun)):
        apart = run(build, os.path.join(output, "several_hosts"))
    for name in FROM_SOLVER:
        assert alone[name] == apart[name], f"{name}: {alone[name]} on one host, {apart[name]} on several"
    print({name: alone[name] for name in FROM_SOLVER})


if __name__ == "__main__":
    main()
