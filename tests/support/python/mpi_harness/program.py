# SPDX-License-Identifier: BSD-3-Clause
"""Runs a plain program under mpirun. It passes if all ranks exit with 0; it is killed at its time limit."""

import os

from .job import Job, ending_with_mpirun, environment
from .run import prepare_folder

SKIP = 77


def _line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().replace("\0", " ").strip()
    except OSError:
        return ""


def _where(job: Job) -> str:
    text = ""
    for rank, pid in sorted(job.rank_pids().items()):
        state = _line(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1]
        waits = _line(f"/proc/{pid}/wchan")
        text += f"  rank {rank} (pid {pid}): alive, state {''.join(state)}, waits in {waits or '?'}\n"
    return text or "  no rank is alive\n"


def mpirun_line(mpirun: list[str], ranks: int, command: list[str], mpmd: str = "") -> list[str]:
    """The command line of mpirun. In `command` ":" separates several programs (MPMD), each with its rank count first.
    `mpmd` is syncyte-mpmd if this mpirun takes only one program, otherwise empty."""
    if ":" not in command:
        return [*mpirun, str(ranks), *ending_with_mpirun(command)]
    flag, separator, line = mpirun[-1], ":", list(mpirun[:-1])
    if mpmd:
        flag, separator, line = "-n", "::", [*mpirun, str(ranks), mpmd]
    while command:
        end = command.index(":") if ":" in command else len(command)
        line += [flag, command[0], *ending_with_mpirun(command[1:end])]
        command = command[end + 1 :]
        line += [separator] if command else []
    return line


def run(
    mpirun: list[str], ranks: int, command: list[str], folder: str, extra: dict[str, str], limit: float, mpmd: str = ""
) -> int:
    """Returns the exit status for CTest: 0, 77 (skipped) or 1."""
    work = prepare_folder(folder)
    env = environment(extra)
    env["SYNCYTE_TEST_FOLDER"] = work
    job = Job(mpirun_line(mpirun, ranks, command, mpmd), env, work, os.path.join(folder, "output.log"))
    try:
        status = job.poll(0.02)
        while status is None and job.seconds() < limit:
            status = job.poll(0.02)
        if status is None:
            print(f"HANG: not finished after {limit:g} s; ranks that are alive:\n{_where(job)}", flush=True)
            job.kill_ranks()
            job.finish(5.0)
            return 1
        job.finish()
    except BaseException:
        job.kill()
        raise
    if status not in (0, SKIP):
        print(f"CRASH: {job.deaths() or 'mpirun ended with status ' + str(status)}", flush=True)
        return 1
    return status
