#!/usr/bin/env python3
"""Runs the Python programs of a page, and compares what they print with what the page promises after each."""

import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "python"))

from mpi_harness.job import environment  # noqa: E402
from mpi_harness.program import mpirun_line  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", required=True)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    options = parser.parse_args()
    with open(options.page, encoding="utf-8") as file:
        page = file.read()
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    promises = re.findall(r"it prints\s`(.*?)`", page)
    if not programs or len(programs) != len(promises):
        sys.exit(f"{len(programs)} programs and {len(promises)} promises (it prints `...`); expected one for each")
    outcomes = [run(options, *pair) for pair in zip(programs, promises, strict=True)]
    if not all(outcomes):
        sys.exit(f"of {len(outcomes)} programs {outcomes.count(False)} did not print what the page promises")


def run(options: argparse.Namespace, program: str, promised: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "program.py"), "w", encoding="utf-8") as file:
            file.write(program)
        line = mpirun_line([options.mpiexec, "-n"], options.ranks, [sys.executable, "-m", "syncyte", "program.py"])
        done = subprocess.run(line, cwd=folder, env=environment({}), stdout=subprocess.PIPE, text=True, timeout=100)
    print(f"status {done.returncode}, printed {done.stdout.strip()!r}; promised {promised!r}", flush=True)
    return done.returncode == 0 and done.stdout.splitlines() == [promised]


if __name__ == "__main__":
    main()
