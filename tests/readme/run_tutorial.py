#!/usr/bin/env python3
"""Runs the Python program of a page, and compares what it prints with what the page promises."""

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
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    promised = re.search(r"it prints\s`(.*?)`", page).group(1)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "program.py"), "w", encoding="utf-8") as file:
            file.write(program)
        line = mpirun_line([options.mpiexec, "-n"], options.ranks, [sys.executable, "-m", "syncyte", "program.py"])
        run = subprocess.run(line, cwd=folder, env=environment({}), stdout=subprocess.PIPE, text=True, timeout=50)
    print(f"status {run.returncode}, printed {run.stdout.strip()!r}")
    if run.returncode != 0 or run.stdout.splitlines() != [promised]:
        sys.exit(f"expected status 0 and the line: {promised}")


if __name__ == "__main__":
    main()
