#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Python programs of pages, all in one job or each alone, and compares their output with the output that the
pages promise."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "python"))

from mpi_harness.job import environment
from mpi_harness.program import mpirun_line
from pages import python_programs

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_one_after_another.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpiexec")
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--alone", action="store_true", help="each by `python -m syncyte.compat`, without mpirun")
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    programs = {
        f"{os.path.basename(page)}_{number}.py": program
        for page in options.pages
        for number, program in enumerate(python_programs(page), start=1)
    }
    run = run_alone if options.alone else run_in_one_job
    printed = run(options, {name: text for name, (text, _) in programs.items()})
    failed = False
    for (name, (_, promised)), text in zip(programs.items(), printed, strict=True):
        print(f"{name}: printed {text.strip()!r}; promised {promised!r}")
        failed |= text.splitlines() != [promised]
    sys.exit(failed)


def write(programs: dict[str, str], folder: str) -> None:
    for name, text in programs.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def run_in_one_job(options: argparse.Namespace, programs: dict[str, str]) -> list[str]:
    command = [sys.executable, "-m", "syncyte", RUNNER, *programs]
    with tempfile.TemporaryDirectory() as folder:
        write(programs, folder)
        printed = output(mpirun_line([options.mpiexec, "-n"], options.ranks, command), folder)
    return json.loads(printed)


def run_alone(_: argparse.Namespace, programs: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        write(programs, folder)
        return [output([sys.executable, "-m", "syncyte.compat", name], folder) for name in programs]


def output(command: list[str], folder: str) -> str:
    env = environment({"SYNCYTE_CACHE_FOLDER": os.path.join(folder, "cache")})
    done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True, timeout=100)
    if done.returncode != 0:
        sys.exit(f"{command} ended with status {done.returncode}; printed {done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main()
