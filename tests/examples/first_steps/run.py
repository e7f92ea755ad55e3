#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one of examples/first_steps at several rank counts, and checks its output.

run.py MPIEXEC FOLDER (--program PROGRAM | --script SCRIPT.py): FOLDER is emptied.
"""

import os
import re
import shutil
import subprocess
import sys

ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMP_NUM_THREADS": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "SYNCYTE_WATCHDOG": "40",
}


def lines_of(mpiexec: str, ranks: int, command: list[str], folder: str) -> list[str]:
    """Output of the ranks, sorted, because its order varies."""
    run = subprocess.run(
        [mpiexec, "-n", str(ranks), *command],
        cwd=folder,
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=140,
    )
    print(run.stdout, end="", flush=True)
    if run.returncode != 0:
        sys.exit(f"{command} on {ranks} ranks: status {run.returncode}")
    return sorted(run.stdout.splitlines())


def expect(found: list[str], wanted: list[str]) -> None:
    if found != wanted:
        sys.exit(f"expected {wanted}, got {found}")


def check_neighbours(run) -> None:
    for ranks in (1, 2, 3):
        reads = [(rank, (rank + 1) % ranks) for rank in range(ranks)]
        expect(run(ranks), [f"rank {rank} of {ranks} has read {other}, {other}, {other}" for rank, other in reads])


def check_histogram(run) -> None:
    for ranks in (1, 2, 3):
        counts = [sum(i * i % 10 == digit for i in range(1000 * ranks)) for digit in range(10)]
        expect(run(ranks), [f"last digits of {1000 * ranks} squares: {' '.join(map(str, counts))}"])


def check_regression(run) -> None:
    """The loss falls, and is equal on all ranks; the number of ranks changes nothing but roundings."""
    firsts = []
    for ranks in (1, 3):
        found = [re.fullmatch(rf"rank (\d) of {ranks}: loss (\S+) to (\S+)", line) for line in run(ranks)]
        losses = {(float(each[2]), float(each[3])) for each in found if each}
        if [each and each[1] for each in found] != [str(rank) for rank in range(ranks)] or len(losses) != 1:
            sys.exit("expected one line of each rank, with equal losses")
        ((first, last),) = losses
        if last > first / 1000:
            sys.exit(f"the loss fell from {first} to {last} only")
        firsts.append(first)
    if abs(firsts[0] - firsts[1]) > 1e-4 * firsts[0]:
        sys.exit(f"the first loss is {firsts[0]} on one rank, {firsts[1]} on three")


def check_embedding(run) -> None:
    """The error falls, and a second job with another number of ranks continues with exactly the same error."""
    last = None
    for ranks, first in ((2, 1), (3, 101)):
        (line,) = run(ranks)
        found = re.fullmatch(rf"{ranks} ranks, steps {first} to {first + 99}: error (\S+) to (\S+)", line)
        if found is None:
            sys.exit(f"unexpected: {line}")
        before, after = map(float, found.groups())
        if last is not None and abs(before - last) > 2e-6:
            sys.exit(f"the error was {last}, and is {before} in the job that goes on")
        if after > before / 2 or (last is None and after > 0.2):
            sys.exit(f"the error fell from {before} to {after} only")
        last = after


def main() -> None:
    mpiexec, folder, kind, program = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = [program] if kind == "--program" else [sys.executable, "-m", "syncyte", program]
    name = os.path.splitext(os.path.basename(program))[0]
    checks = {
        "neighbours": check_neighbours,
        "histogram": check_histogram,
        "regression": check_regression,
        "embedding": check_embedding,
    }
    checks[name](lambda ranks: lines_of(mpiexec, ranks, command, folder))


if __name__ == "__main__":
    main()
