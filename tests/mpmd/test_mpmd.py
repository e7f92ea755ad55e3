# SPDX-License-Identifier: BSD-3-Clause
"""Tests of syncyte-mpmd: the program that each rank runs, and the error messages.

test_mpmd.py SYNCYTE_MPMD [--mpirun MPIRUN]: without a launcher with made-up ranks, or in a real job
"""

import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "python"))

from mpi_harness.job import environment

LAUNCHERS = ("OMPI_", "PMI_", "PMIX_", "SLURM_")
PROGRAMS = [
    "-n",
    "2",
    "echo",
    "one",
    "two words",
    "*",
    "::",
    "-np",
    "1",
    "printf",
    "%s|",
    "",
    "a::b",
    "::",
    "-n",
    "10",
    "echo",
    "last",
]
# Output of each of the thirteen ranks of PROGRAMS.
PRINTED = {0: "one two words *\n", 1: "one two words *\n", 2: "|a::b|", 3: "last\n", 12: "last\n"}
# Wrong command lines or jobs: words, variables of the launcher, words of the message.
WRONG = [
    ([], {"PMI_RANK": "0"}, "ends where a program's -n COUNT is expected"),
    (["-n"], {"PMI_RANK": "0"}, "ends where a number of ranks is expected"),
    (["-n", "2"], {"PMI_RANK": "0"}, "ends where a program is expected, after -n 2"),
    (["-n", "1", "echo", "::"], {"PMI_RANK": "0"}, "ends where a program's -n COUNT is expected"),
    (["-n", "1", "::", "-n", "1", "echo"], {"PMI_RANK": "0"}, "a program is missing between -n COUNT and '::'"),
    (["echo"], {"PMI_RANK": "0"}, "'echo' stands where a program's -n COUNT is expected"),
    (["-n", "x", "echo"], {"PMI_RANK": "0"}, "'x' is not a number of ranks"),
    (["-n", "0", "echo"], {"PMI_RANK": "0"}, "'0' is not a number of ranks"),
    (["-n", "-1", "echo"], {"PMI_RANK": "0"}, "'-1' is not a number of ranks"),
    (["-n", "1", "echo"], {}, "none of OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK and SLURM_PROCID is set"),
    (["-n", "2", "echo"], {"PMIX_RANK": "2"}, "rank 2 has no program: the programs are for 2 ranks"),
    (["-n", "2", "echo"], {"PMI_RANK": "0", "PMI_SIZE": "3"}, "the programs are for 2 ranks, the job has 3"),
    (["-n", "2", "echo"], {"PMI_RANK": "0", "PMI_SIZE": "y"}, "the launcher's variables say rank '0' of 'y'"),
    (["-n", "2", "echo"], {"PMI_RANK": "-1", "PMI_SIZE": "2"}, "the launcher's variables say rank '-1' of '2'"),
    (["-n", "2", "echo"], {"PMI_RANK": "0", "PMI_SIZE": "1"}, "the programs are for 2 ranks, the job has 1"),
]


def check(condition: bool, text: object) -> None:
    if not condition:
        sys.exit(f"syncyte-mpmd is wrong: {text}")


def alone(mpmd: str, words: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess:
    """Runs syncyte-mpmd outside of a job, with the given variables of a launcher."""
    values = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
    return subprocess.run(
        [mpmd, *words],
        env={**values, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
    )


def check_choice(mpmd: str) -> None:
    for variable, more in (
        ("OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE": "13", "PMIX_RANK": "7"}),
        ("PMIX_RANK", {}),
        ("PMI_RANK", {"PMI_SIZE": "13"}),
        ("SLURM_PROCID", {"SLURM_STEP_NUM_TASKS": "13"}),
    ):
        for rank, printed in PRINTED.items():
            run = alone(mpmd, PROGRAMS, {variable: str(rank), **more})
            check(run.returncode == 0 and run.stdout == printed, f"{variable}={rank}: {run}, expected {printed!r}")


def check_complaints(mpmd: str) -> None:
    for words, variables, message in WRONG:
        run = alone(mpmd, words, variables)
        check(run.returncode == 2 and message in run.stderr, f"{words}: {run}, expected {message!r}")
    run = alone(mpmd, ["-n", "2"], {"PMI_RANK": "1"})
    check(run.returncode == 2 and not run.stderr, f"rank 1 repeats what rank 0 says: {run}")
    run = alone(mpmd, ["-n", "2", "./no-such-program"], {"PMI_RANK": "1"})
    check(run.returncode == 127 and "rank 1: there is no program './no-such-program'" in run.stderr, run)
    run = alone(mpmd, ["--help"], {})
    check(run.returncode == 0 and run.stdout.startswith("Usage: mpirun -n RANKS syncyte-mpmd"), run)
    run = alone(mpmd, ["-n", "1", "sh", "-c", "exit 7"], {"PMI_RANK": "0"})
    check(run.returncode == 7, f"the program's status is lost: {run}")


def check_job(mpmd: str, mpirun: str) -> None:
    def job(ranks: int, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [mpirun, "-n", str(ranks), mpmd, *words],
            env=environment({}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=25,
        )

    run = job(
        3,
        "-n",
        "2",
        "sh",
        "-c",
        'echo "first $OMPI_COMM_WORLD_RANK$PMI_RANK"',
        "::",
        "-n",
        "1",
        "sh",
        "-c",
        'echo "second $OMPI_COMM_WORLD_RANK$PMI_RANK"',
    )
    check(run.returncode == 0 and sorted(run.stdout.split("\n")) == ["", "first 0", "first 1", "second 2"], run)
    run = job(3, "-n", "1", "true", "::", "-n", "1", "true")
    check(run.returncode != 0 and run.stderr.count("the programs are for 2 ranks, the job has 3") == 1, run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mpmd")
    parser.add_argument("--mpirun")
    options = parser.parse_args()
    if options.mpirun:
        check_job(options.mpmd, options.mpirun)
    else:
        check_choice(options.mpmd)
        check_complaints(options.mpmd)


if __name__ == "__main__":
    main()
