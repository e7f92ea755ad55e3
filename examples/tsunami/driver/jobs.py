# SPDX-License-Identifier: BSD-3-Clause
"""Runs the solver and the learners in one mpirun."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import subprocess
import sys
import time

EXAMPLE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(EXAMPLE))


class JobFailed(RuntimeError):
    """A job ended with an error or took too long."""


@dataclasses.dataclass(frozen=True)
class Job:
    """One mpirun of two programs; the solver's ranks come first."""

    name: str
    solver_ranks: int
    solver: list[str]
    learner_ranks: int
    learner: list[str]


@dataclasses.dataclass(frozen=True)
class Programs:
    """The programs of a job, and its environment."""

    mpirun: str
    solver: str
    environment: dict[str, str]

    @classmethod
    def find(cls, build: str) -> Programs:
        """Finds the programs in a build folder."""
        solver = os.path.join(build, "examples", "tsunami", "tsunami_solver")
        if not os.path.exists(solver):
            raise FileNotFoundError(f"{solver} is missing: build with SYNCYTE_EXAMPLES and SYNCYTE_FORTRAN on")
        return cls(cached(build, "MPIEXEC_EXECUTABLE") or "mpirun", solver, environment(build))

    def command(self, job: Job) -> list[str]:
        """The command, with syncyte-mpmd: "mpirun -n 1 solver : -n 2 learner" crashes Debian 13's mpirun."""
        learner = os.path.join(EXAMPLE, "learn.py")
        mpmd = os.path.join(ROOT, "tools", "syncyte-mpmd")
        return [
            self.mpirun,
            "-n",
            str(job.solver_ranks + job.learner_ranks),
            mpmd,
            "-n",
            str(job.solver_ranks),
            self.solver,
            *job.solver,
            "::",
            "-n",
            str(job.learner_ranks),
            sys.executable,
            "-m",
            "syncyte",
            learner,
            *job.learner,
        ]


def cached(build: str, name: str) -> str:
    """A value of the build's CMake cache, or an empty string."""
    try:
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
            match = re.search(rf"^{name}:\w+=(.*)$", file.read(), re.MULTILINE)
    except FileNotFoundError:
        return ""
    return match.group(1) if match else ""


def environment(build: str) -> dict[str, str]:
    """This process's environment, with paths to Syncyte, more ranks than cores allowed, and one thread a rank."""
    values = dict(os.environ)
    package = os.path.join(ROOT, "bindings", "python")
    values["PYTHONPATH"] = os.pathsep.join(filter(None, [package, values.get("PYTHONPATH", "")]))
    defaults = {
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMP_NUM_THREADS": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "SYNCYTE_LIBRARY": os.path.join(build, "capi", "libsyncyte.so"),
        "SYNCYTE_TORCH_LIBRARY": os.path.join(build, "capi", "libsyncyte_torch.so"),
        "SYNCYTE_HDF5_LIBRARY": os.path.join(build, "capi", "libsyncyte_hdf5.so"),
    }
    if os.geteuid() == 0:
        defaults.update(
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            PRTE_ALLOW_RUN_AS_ROOT="1",
            PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        )
    return {**defaults, **values}


def run_job(job: Job, programs: Programs, limit: float) -> None:
    """Runs a job to its end; its output goes to this process's output. Raises JobFailed."""
    values = dict(programs.environment, TSUNAMI_JOB_BEGIN=repr(time.time()))
    process = subprocess.Popen(programs.command(job), env=values, start_new_session=True)
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        raise JobFailed(f"the {job.name} job took longer than {limit:g} s and was ended") from None
    finally:
        end(process)
    if status:
        raise JobFailed(f"the {job.name} job ended with status {status}; its messages are above")


def end(process: subprocess.Popen) -> None:
    """Ends mpirun if it still runs, for example after Ctrl-C; mpirun ends its ranks."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
