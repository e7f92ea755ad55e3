# SPDX-License-Identifier: BSD-3-Clause
"""Runs a code of examples/legacy before and after Syncyte was added; each ends with a line of all bits of its state.

run.py VARIANT --build FOLDER --source FOLDER --mpiexec MPIEXEC --mpmd SYNCYTE_MPMD

VARIANT is live, halos or restart; the build's FOLDER/VARIANT has the program, which is named after FOLDER.
"""

from __future__ import annotations

import argparse
import difflib
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support" / "python"))
from mpi_harness.job import without_launcher

STEPS = 40
MOST_LINES = 20  # that a variant adds to the code


def added_lines(source: Path, variant: str) -> int:
    """Lines that the variant's sources have and those before have not."""
    files = [path for path in (source / variant).iterdir() if (source / "before" / path.name).exists()]
    changes = (
        difflib.ndiff((source / "before" / path.name).read_text().splitlines(), path.read_text().splitlines())
        for path in files
    )
    return sum(line.startswith("+ ") for change in changes for line in change)


class Job:
    def __init__(self, arguments: argparse.Namespace):
        self.mpiexec = str(arguments.mpiexec)
        self.build: Path = arguments.build
        self.folder = arguments.build / f"run_{arguments.variant}"
        self.mpmd = str(arguments.mpmd)

    def run(self, ranks: int, variant: str, steps: int, *others: str) -> str:
        """The line that the program prints, from a job of `ranks` and, if given, of one rank of another program."""
        program = ["-n", str(ranks), str(self.build / variant / self.build.name), str(steps)]
        command = [self.mpiexec, *program]
        if others:
            command = [self.mpiexec, "-n", str(ranks + 1), self.mpmd, *program, "::", "-n", "1", *others]
        print("+", *command, flush=True)
        self.folder.mkdir(exist_ok=True)
        done = subprocess.run(
            command, cwd=self.folder, env=without_launcher({"SYNCYTE_WATCHDOG": "40"}), text=True, timeout=100,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False,
        )  # fmt: skip
        print(done.stdout, end="", flush=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith(f"step {steps}: ")]
        if done.returncode != 0 or len(lines) != 1:
            sys.exit(f"status {done.returncode}, {len(lines)} lines of the state")
        return lines[0]


def expect(found: str, wanted: str) -> None:
    if found != wanted:
        sys.exit(f"expected {wanted}")


def check_halos(job: Job, before: str, source: Path) -> None:
    for ranks in (1, 3, 4, 6):
        expect(job.run(ranks, "halos", STEPS), before)


def check_restart(job: Job, before: str, source: Path) -> None:
    for file in job.folder.glob("*.h5"):
        file.unlink()
    job.run(4, "restart", STEPS // 3)
    job.run(3, "restart", STEPS // 2)
    expect(job.run(6, "restart", STEPS), before)


def check_live(job: Job, before: str, source: Path) -> None:
    learner = [sys.executable, "-m", "syncyte", str(source / "live" / "learner.py"), str(STEPS)]
    expect(job.run(2, "live", STEPS, *learner, "0"), before)  # no heat
    heated = {job.run(ranks, "live", STEPS, *learner, "0.001") for ranks in (1, 3)}
    if len(heated) != 1 or before in heated:
        sys.exit("the heat must change the state, on all numbers of ranks in the same way")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["live", "halos", "restart"])
    for name in ("build", "source", "mpiexec", "mpmd"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    arguments = parser.parse_args()
    if (lines := added_lines(arguments.source, arguments.variant)) > MOST_LINES:
        sys.exit(f"{arguments.variant} adds {lines} lines to the code; expected at most {MOST_LINES}")
    job = Job(arguments)
    before = job.run(2, "before", STEPS)
    check = {"live": check_live, "halos": check_halos, "restart": check_restart}[arguments.variant]
    check(job, before, arguments.source)


if __name__ == "__main__":
    main()
