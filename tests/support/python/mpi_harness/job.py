# SPDX-License-Identifier: BSD-3-Clause
"""One mpirun: start it, collect its output, end it and all its ranks."""

import ctypes
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping

_TAG = re.compile(r"^\[\d+,(\d+)\]<std(?:out|err)>: ?", re.MULTILINE)
_SIGNALLED = re.compile(r"process rank (\d+) .*?exited on\s+signal (\d+)", re.DOTALL)
_ABORTED = re.compile(r"MPI_ABORT was invoked on rank (\d+) .*?(?:with errorcode|Errorcode:) (-?\d+)", re.DOTALL)
# Open MPI 4 names a process [[job family,job],rank], Open MPI 5 [namespace@job,rank].
_EXITED = re.compile(r"Process name: \[(?:\[\d+,\d+\]|\S+@\d+),(\d+)\]\s+Exit code:\s+(\d+)")
_PR_SET_PDEATHSIG = 1
_KEPT = 1 << 21  # characters of the output
# Variables from which a process learns its place in a job of a launcher (Open MPI's, MPICH's, Slurm's).
_LAUNCHERS = ("OMPI_", "PRTE_", "PMI_", "PMIX_", "MPI_LOCAL", "HYDI_", "SLURM_")

#: mpirun and its flags, the rank count's last (a|b|c).
MPIRUN = os.environ.get("SYNCYTE_MPIRUN", "mpirun|--tag-output|-np")


def without_launcher(extra: dict[str, str]) -> dict[str, str]:
    """The environment of a process outside of this process's job: a separate job, or mpirun."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_LAUNCHERS)}
    return environment(extra, kept)


def environment(extra: dict[str, str], inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a test's ranks: more ranks than cores, root allowed, Syncyte's own watchdog on."""
    env = dict(inherited)
    defaults = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMP_NUM_THREADS": "1",
        "SYNCYTE_WATCHDOG": "15",
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "GTEST_COLOR": "no",
        "PYTHONUNBUFFERED": "1",
    }
    for key, value in defaults.items():
        env.setdefault(key, value)
    env.update(extra)
    return env


def _die_with_parent() -> None:
    # Not SIGTERM, because Open MPI's mpirun sometimes hangs in its own clean-up.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def ending_with_mpirun(command: list[str]) -> list[str]:
    """A rank's command, changed so that the rank ends when mpirun is killed. Ranks of Open MPI 4 do so anyway; those of
    Open MPI 5 only at their next call of MPI (open-mpi/ompi#8925): a test that hangs elsewhere would never end."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv else command


def _parents() -> dict[int, int]:
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                found[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue  # it has ended since it was listed
    return found


def descendants(pid: int) -> list[int]:
    """Process ids below pid, nearest first."""
    parents = _parents()
    found, level = [], {pid}
    while level:
        level = {child for child, parent in parents.items() if parent in level}
        found.extend(sorted(level))
    return found


def rank_of(pid: int) -> int | None:
    """Rank of a process that Open MPI or MPICH started; None for others."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return None
    for entry in entries:
        for key in (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK="):
            if entry.startswith(key):
                return int(entry[len(key) :])
    return None


def send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # it has ended already


class Job:
    """A running mpirun whose output is collected, tagged with ranks, and copied to stdout."""

    def __init__(self, command: list[str], env: dict[str, str], folder: str, log: str):
        self.command = command
        self.output = ""
        self.started = time.monotonic()
        self._log = open(log, "a", encoding="utf-8", errors="replace")
        self._log.write("+ " + " ".join(command) + "\n")
        self._process = subprocess.Popen(
            command,
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        self._pipe_open = True

    @property
    def pid(self) -> int:
        return self._process.pid

    def seconds(self) -> float:
        return time.monotonic() - self.started

    def poll(self, seconds: float) -> int | None:
        """Collects output for at most this time; returns mpirun's exit status once it has ended."""
        if self._pipe_open:
            ready, _, _ = select.select([self._process.stdout], [], [], seconds)
            if ready:
                self._read()
        else:
            time.sleep(min(seconds, 0.01))
        return self._process.poll()

    def _read(self) -> None:
        data = os.read(self._process.stdout.fileno(), 1 << 16)
        if not data:
            self._pipe_open = False
            return
        text = data.decode("utf-8", "replace")
        self.output += text
        if len(self.output) > 2 * _KEPT:
            self.output = self.output[-_KEPT:]  # the log has all output
        self._log.write(text)
        sys.stdout.write(_TAG.sub(r"[rank \1] ", text))
        sys.stdout.flush()

    def finish(self, seconds: float = 2.0) -> int:
        """Waits for the end, kills what is left, and returns the exit status."""
        limit = time.monotonic() + seconds
        status = self.poll(0)
        while status is None and time.monotonic() < limit:
            status = self.poll(0.02)
        if status is None:
            self.kill()
            status = self._process.wait()
        while self._pipe_open and time.monotonic() < limit:
            self.poll(0.02)
        self._process.stdout.close()
        self._log.close()
        return status

    def kill_ranks(self) -> None:
        """Kills the ranks; mpirun then cleans up its session and ends."""
        for pid in descendants(self.pid):
            if rank_of(pid) is not None:
                send(pid, signal.SIGKILL)

    def kill(self) -> None:
        """Kills mpirun and everything below it."""
        below = descendants(self.pid)
        send(self.pid, signal.SIGTERM)
        limit = time.monotonic() + 3
        while self._process.poll() is None and time.monotonic() < limit:
            self.poll(0.05)
        for pid in [*below, self.pid]:
            if pid == self.pid or rank_of(pid) is not None:
                send(pid, signal.SIGKILL)

    def rank_pids(self) -> dict[int, int]:
        """Rank to process id of the ranks that live on this machine."""
        found = {}
        for pid in descendants(self.pid):
            rank = rank_of(pid)
            if rank is not None:
                found.setdefault(rank, pid)
        return found

    def tagged_output(self) -> str:
        return _TAG.sub(r"[rank \1] ", self.output)

    def deaths(self) -> str:
        """Message of mpirun about the ranks that died, for example "rank 1 died of SIGSEGV"."""
        signalled = [
            f"rank {rank} died of {signal_name(int(number))}" for rank, number in _SIGNALLED.findall(self.output)
        ]
        aborted = [f"rank {rank} called MPI_Abort({code})" for rank, code in _ABORTED.findall(self.output)]
        exited = [f"rank {rank} exited with status {status}" for rank, status in _EXITED.findall(self.output)]
        return ", ".join(aborted or signalled + exited)


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
