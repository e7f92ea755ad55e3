#!/usr/bin/env python3
"""Runs the Python programs of pages, all in one job, and compares what each prints with what its page promises."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "python"))

from mpi_harness.job import environment  # noqa: E402
from mpi_harness.program import mpirun_line  # noqa: E402
from pages import python_programs  # noqa: E402

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_one_after_another.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    programs = {f"{os.path.basename(page)}_{number}.py": program for page in options.pages
                for number, program in enumerate(python_programs(page), start=1)}
    printed = run(options, {name: text for name, (text, _) in programs.items()})
    failed = False
    for (name, (_, promised)), text in zip(programs.items(), printed, strict=True):
        print(f"{name}: printed {text.strip()!r}; promised {promised!r}")
        failed |= text.splitlines() != [promised]
    sys.exit(failed)


def run(options: argparse.Namespace, programs: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in programs.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        command = [sys.executable, "-m", "syncyte", RUNNER, *programs]
        done = subprocess.run(mpirun_line([options.mpiexec, "-n"], options.ranks, command), cwd=folder,
                              env=environment({}), stdout=subprocess.PIPE, text=True, timeout=100)
    if done.returncode != 0:
        sys.exit(f"{command} ended with status {done.returncode}; printed {done.stdout}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
