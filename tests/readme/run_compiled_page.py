#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Extracts the C and the C++ program from a page, compiles them, runs them on three ranks, and compares their output
with the output that the page promises."""

import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "python"))

from mpi_harness.job import environment
from mpi_harness.program import mpirun_line
from pages import same_in_each_language


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("page", "folder", "cc", "cxx", "mpiexec", "library"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--include", action="append", required=True)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    programs, promised = same_in_each_language(options.page)
    link = [
        *(f"-I{folder}" for folder in options.include),
        options.library,
        f"-Wl,-rpath,{os.path.dirname(options.library)}",
    ]
    failed = False
    for language, compiler in (("c", [options.cc, "-std=c11"]), ("cpp", [options.cxx, "-std=c++20"])):
        source, program = f"program.{language}", f"./program_{language}"
        with open(os.path.join(options.folder, source), "w", encoding="utf-8") as file:
            file.write(programs[language])
        subprocess.run([*compiler, source, "-o", program, *link], cwd=options.folder, check=True)
        run = subprocess.run(
            mpirun_line([options.mpiexec, "-n"], 3, [program]),
            cwd=options.folder,
            env=environment({}),
            stdout=subprocess.PIPE,
            text=True,
            timeout=100,
        )
        print(f"{language}: status {run.returncode}, printed {run.stdout.strip()!r}")
        failed |= run.returncode != 0 or run.stdout.splitlines() != [promised]
    if failed:
        sys.exit(f"expected status 0 and the line: {promised}")


if __name__ == "__main__":
    main()
