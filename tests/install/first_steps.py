# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands in the installation's README.md and examples/first_steps/README.md as a new user does: in a shell
that has sourced syncyte-env.sh, with the Python environment's bin folder in PATH. Commands that start several programs
also run with the installed syncyte-mpmd; with --mpmd they run only with it.

    first_steps.py --prefix P --pages FOLDER --work W --bin FOLDER ... [--mpmd=...]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from consume import MPI_ENVIRONMENT, fresh


def commands(page: Path, mark: str) -> str:
    """The block of a page that contains `mark`."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    found = [block for block in blocks if mark in block]
    if len(found) != 1:
        sys.exit(f"{page} has {len(found)} blocks with {mark}; expected one")
    return found[0]


def by_mpmd(script: str) -> str:
    """The commands, with syncyte-mpmd where mpirun has several programs."""

    def one_program(found: re.Match) -> str:
        first, second = int(found[1]), int(found[3])
        return f"mpirun -n {first + second} syncyte-mpmd -n {first} {found[2]} :: -n {second} "

    return re.sub(r"mpirun -n (\d+) (.*) : -n (\d+) ", one_program, script)


def script_of(options: argparse.Namespace) -> str:
    """All commands as one shell script."""
    steps = commands(options.pages / "examples/first_steps/README.md", "cmake -B build")
    readme = options.pages / "README.md"
    twenty_seconds = commands(readme, "mpif90 writer.f90")
    other_way = by_mpmd(twenty_seconds).splitlines()[-1]
    if other_way not in readme.read_text(encoding="utf-8"):
        sys.exit(f"README.md does not say that this is another way: {other_way}")
    begin = f"source '{options.prefix}/bin/syncyte-env.sh'\nset -ex\n"
    return begin + (by_mpmd(steps + twenty_seconds) if options.mpmd else steps + twenty_seconds) + other_way


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", type=Path, required=True)
    parser.add_argument("--pages", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--bin", nargs="*", default=[])
    parser.add_argument("--mpmd", help="this mpirun takes one program only")
    options = parser.parse_args()
    folder = fresh(options.work)
    for file in (options.pages / "examples/first_steps").iterdir():
        shutil.copy(file, folder)
    readme = options.pages / "README.md"
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("LD_LIBRARY_PATH", "PYTHONPATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH")
        and not name.startswith("SYNCYTE_")
    }
    environment.update(MPI_ENVIRONMENT, PATH=":".join([*options.bin, environment["PATH"]]), OMP_NUM_THREADS="1")
    run = subprocess.run(
        ["bash", "-c", script_of(options)],
        cwd=folder,
        env=environment,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=230,
    )
    print(run.stdout)
    promised = re.search(r"prints `(.*?)`", readme.read_text(encoding="utf-8")).group(1)
    wanted = [
        (promised, 3),
        ("rank 1 of 2 has read 0, 0, 0", 1),
        ("squares: 200 400 0 0 400 200 400 0 0 400", 1),
        ("of 2: loss ", 2),
        ("2 ranks, steps 1 to 100: error", 1),
        ("1 ranks, steps 101 to 200: error", 1),
    ]
    missing = [line for line, times in wanted if run.stdout.count(line) != times]
    if run.returncode != 0 or missing:
        sys.exit(f"status {run.returncode}; not printed as often as expected: {missing}")


if __name__ == "__main__":
    main()
