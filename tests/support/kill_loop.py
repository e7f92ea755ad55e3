#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills an MPI program repeatedly, and checks that it leaves nothing behind.

    kill_loop.py --ranks 2 --rounds 4 -- PROGRAM [ARGUMENT...]

PROGRAM creates and frees objects in an endless loop; each rank prints the line "ready" when it enters the loop. Each
round starts PROGRAM, waits until all ranks are ready and for a random time, and kills with signal 9: one rank, all
ranks, mpirun alone, or mpirun and all ranks at once. With --steps each round starts PROGRAM with a step as its last
argument, at which one of its ranks kills itself. Then it looks for processes, files in /dev/shm and TMPDIR, and
System V segments that did not exist before. Files and segments of Open MPI, MPICH and PMIx are not counted. If the
machine allows namespaces, the rounds run in private ones. Otherwise (SYNCYTE_KILL_LOOP_INSIDE=0 asks for it) they see
what other programs leave in /dev/shm: CTest runs no two kill tests at a time, and files named after a rank's process id
are removed after the round.
Exit status: 0 nothing left, 1 something left (named), 2 the program does not run.
"""

import argparse
import fnmatch
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "python"))

from mpi_harness.job import MPIRUN, Job, environment, send

FOREIGN = [
    "vader_segment.*",
    "sm_segment.*",
    "ompi.*",
    "openmpi-sessions-*",
    "pmix*",
    "prte.*",
    "prterun.*",
    "prrte.*",
    "mpich_shm_*",
]
READY = re.compile(r"(?<!al)ready")  # MPICH's mpirun may send the end of the line apart, or after the next rank's
MARK = "SYNCYTE_KILL_LOOP"
INSIDE = "SYNCYTE_KILL_LOOP_INSIDE"
WAYS = ["one rank", "all ranks", "mpirun", "mpirun and all ranks"]


def files_below(folder: str) -> set[str]:
    """Paths of files and folders that are not MPI's own."""
    found = set()
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if any(fnmatch.fnmatch(name, pattern) for pattern in FOREIGN):
            continue
        path = os.path.join(folder, name)
        found.add(path)
        if os.path.isdir(path) and not os.path.islink(path):
            found |= files_below(path)
    return found


def is_mpich(mpirun: str) -> bool:
    """Whether a command line (a|b|c) begins with MPICH's mpirun."""
    version = subprocess.run([mpirun.split("|")[0], "--version"], stdout=subprocess.PIPE, text=True, check=False)
    return "HYDRA" in version.stdout


def segments() -> set[str]:
    """System V shared memory segments."""
    with open("/proc/sysvipc/shm", encoding="utf-8") as file:
        return {f"System V segment {line.split()[1]}" for line in file.readlines()[1:]}


def marked(mark: str) -> dict[int, str]:
    """Processes of a round by id, with their commands; found even if they have another parent by now."""
    found = {}
    needle = f"{MARK}={mark}".encode()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                mine = needle in file.read().split(b"\0")
            with open(f"/proc/{name}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue  # it has ended since it was listed
        if mine:
            found[int(name)] = command.strip()
    return found


class Loop:
    """Runs the rounds, and collects what they leave behind."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.random = random.Random(options.seed)
        self.temporary = tempfile.mkdtemp(prefix="syncyte-kill-")
        self.private = os.environ.get(INSIDE) == "1"
        self.counts_segments = self.private and not is_mpich(options.mpirun)

    def _left_files(self) -> set[str]:
        shared = files_below("/dev/shm")
        if not self.private:  # other processes use /dev/shm too: count only names that can be Syncyte's
            shared = {path for path in shared if "syncyte" in path}
        return shared | files_below(self.temporary) | (segments() if self.counts_segments else set())

    def _left_since(self, before: set[str]) -> set[str]:
        """Files that stay: the kernel frees a process's segments a moment after the process has gone from /proc."""
        limit = time.monotonic() + 1
        while (left := self._left_files() - before) and time.monotonic() < limit:
            time.sleep(0.02)
        return left

    def _remove(self, left: set[str], ranks: dict[int, int]) -> None:
        """Removes a round's files from a /dev/shm that other programs use too."""
        for path in left:
            if path.startswith("/dev/shm/") and any(f"-{pid}-" in path for pid in ranks.values()):
                os.unlink(path)

    def _start(self, mark: str, step: list[str]) -> Job:
        env = environment({"TMPDIR": self.temporary, MARK: mark})
        command = [*self.options.mpirun.split("|"), str(self.options.ranks), *self.options.command, *step]
        return Job(command, env, self.temporary, os.devnull)

    def _wait_for_ranks(self, job: Job) -> dict[int, int]:
        limit = time.monotonic() + 30
        while time.monotonic() < limit:
            if job.poll(0.02) is not None:
                break
            if len(READY.findall(job.output)) >= self.options.ranks:
                end = time.monotonic() + self.random.uniform(0, self.options.spread)
                while time.monotonic() < end and job.poll(0.01) is None:
                    pass
                if job.poll(0) is not None:
                    break
                return job.rank_pids()
        job.kill()
        print(f"the program ended, or did not start, before it could be killed:\n{job.tagged_output()}")
        sys.exit(2)

    def _kill(self, way: str, job: Job, ranks: dict[int, int]) -> None:
        victims = list(ranks.values())
        if way == "one rank":
            victims = [self.random.choice(victims)]
        elif way == "mpirun":
            victims = [job.pid]
        elif way == "mpirun and all ranks":
            victims.insert(0, job.pid)
        for pid in victims:
            send(pid, signal.SIGKILL)

    def round(self, number: int) -> list[str]:
        """Runs one round. Returns a line for each thing that it has left behind."""
        steps = self.options.steps
        way = f"one rank at {steps[number]}" if steps else WAYS[number % len(WAYS)]
        mark = f"{os.getpid()}-{number}"
        before = self._left_files()
        job = self._start(mark, steps[number : number + 1])
        begin = time.monotonic()
        ranks = {}
        if not steps:
            ranks = self._wait_for_ranks(job)
            self._kill(way, job, ranks)
        limit = time.monotonic() + self.options.grace
        while (left := marked(mark)) and time.monotonic() < limit:
            job.poll(0.05)
        problems = [f"process {pid}: {command}" for pid, command in left.items()]
        if steps and len(READY.findall(job.output)) < self.options.ranks:
            problems.append(f"a program that has not begun:\n{job.tagged_output()}")
        for pid in left:
            send(pid, signal.SIGKILL)
        job.finish()
        left_files = self._left_since(before)
        self._remove(left_files, ranks)
        problems += sorted(left_files)
        print(f"round {number} ({way}, {time.monotonic() - begin:.1f} s): {len(problems)} left behind", flush=True)
        return [f"after kill -9 of {way}: {problem}" for problem in problems]

    def run(self) -> int:
        problems = []
        for number in range(len(self.options.steps) or self.options.rounds):
            problems += self.round(number)
        for problem in problems:
            print(f"LEFT BEHIND {problem}")
        subprocess.run(["rm", "-rf", self.temporary], check=False)
        return 1 if problems else 0


def namespaces() -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"]


def enter_namespaces() -> int | None:
    """Runs the loop in private namespaces; returns None if the machine forbids them."""
    mount = "mount -t tmpfs tmpfs /dev/shm"
    if subprocess.run([*namespaces(), mount], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return None
    command = [*namespaces(), mount + ' && exec "$0" "$@"', sys.executable, "-B", *sys.argv]
    return subprocess.run(command, env=dict(os.environ, **{INSIDE: "1"}), check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=lambda text: text.split(","), default=[], help="a round for each (a,b,c)")
    parser.add_argument("--spread", type=float, default=0.3, help="most seconds from all being ready to the kill")
    parser.add_argument("--grace", type=float, default=15, help="seconds in which everything must have ended")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mpirun", default=MPIRUN, help="mpirun and its flags (a|b|c)")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    if not options.command:
        parser.error("no program")
    if os.environ.get(INSIDE) is None:
        status = enter_namespaces()
        if status is not None:
            return status
    return Loop(options).run()


if __name__ == "__main__":
    sys.exit(main())
