# SPDX-License-Identifier: BSD-3-Clause
"""Reads this process's place in the job from the launcher's environment variables."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping, MutableMapping
from typing import NamedTuple


class _Launcher(NamedTuple):
    """Names of a launcher's variables."""

    rank: str
    size: str
    local_rank: str
    local_size: str
    job: tuple[str, ...]  #: the job's number: equal on all ranks


_OPEN_MPI = _Launcher(
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
    ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"),
)  # fmt: skip
_HYDRA = _Launcher("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", ("PMI_JOBID",))  # MPICH, Intel MPI
_SLURM = _Launcher(
    "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE",
    ("SLURM_JOB_ID", "SLURM_STEP_ID"),
)  # fmt: skip
_RANK_PROCESS = "SYNCYTE_RANK_PROCESS"
_FIRST_PORT, _PORTS = 20000, 12000  # below the ports that Linux gives to outgoing connections


class Place(NamedTuple):
    """This process's place in the job; local numbers are None where the launcher does not say them."""

    rank: int
    size: int
    local_rank: int | None
    local_size: int | None
    launcher: _Launcher  #: whose variables say so


def rank_of(variables: Mapping[str, str], *, only_of_mpi: bool = False) -> str | None:
    """Returns the rank; None without a launcher. `only_of_mpi`: only a rank that MPI_Init would use."""
    names = [_OPEN_MPI.rank, _HYDRA.rank]
    if not only_of_mpi or "SLURM_STEP_ID" in variables:
        names.append("PMIX_RANK")  # Open MPI also sets it in a process without a launcher
    if not only_of_mpi:
        names.append(_SLURM.rank)
    return next((variables[name] for name in names if name in variables), None)


def name_rank_process(variables: MutableMapping[str, str]) -> None:
    """Names this process in the environment, so that Syncyte warns if one that it starts becomes the rank instead.

    src/mpi/rank_process.cpp reads the variable, and says "started" in it once this process is the rank.
    """
    if "PMIX_NAMESPACE" in variables and "PMIX_RANK" in variables:
        rank = f"{variables['PMIX_NAMESPACE']}.{variables['PMIX_RANK']}"
        if not variables.get(_RANK_PROCESS, "").endswith(f" {rank}"):
            variables[_RANK_PROCESS] = f"{os.getpid()} imported {rank}"


def _number(variables: Mapping[str, str], name: str) -> int | None:
    text = variables.get(name, "")
    return int(text) if text.isdecimal() else None


def _slurm_local_size(variables: Mapping[str, str]) -> int | None:
    """Returns the number of the step's tasks on this node: item SLURM_NODEID of a list such as "2(x3),1"."""
    counts: list[int] = []
    for item in variables.get(_SLURM.local_size, "").split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", item)
        if found is None:
            return None
        counts += [int(found[1])] * int(found[2] or 1)
    node = _number(variables, "SLURM_NODEID")
    return counts[node] if node is not None and node < len(counts) else None


def _place_by(launcher: _Launcher, variables: Mapping[str, str]) -> Place | None:
    rank, size, local_rank, local_size = (_number(variables, name) for name in launcher[:4])
    if launcher is _SLURM:
        local_size = _slurm_local_size(variables)
    if rank is None or size is None:
        return None
    return Place(rank, size, local_rank, local_size, launcher)


def place_of(variables: Mapping[str, str]) -> Place | None:
    """Returns this process's place; None without a launcher that says rank and number of ranks."""
    launchers = [_OPEN_MPI, _HYDRA]
    if "SLURM_STEP_ID" in variables:  # otherwise a batch script: its variables describe the whole allocation
        launchers.append(_SLURM)
    places = [place for place in (_place_by(launcher, variables) for launcher in launchers) if place is not None]
    # A launcher that says all comes first: if mpirun has started by srun, Slurm's own numbers describe the daemons.
    return min(places, key=lambda place: None in place, default=None)


def _first_host(nodes: str) -> str | None:
    """Returns the first host of a list of Slurm: "n03" of "n[03-07,9],m1"."""
    found = re.match(r"([^,\[\]]+)(?:\[([^],\-]+)[^]]*\]([^,\[]*))?", nodes)
    return None if found is None else "".join(part or "" for part in found.groups())


def _launcher_process(rank_variable: str) -> int | None:
    """Returns the launcher's process on this node: the first ancestor without the variable; None if unreadable.

    A shell between the launcher and this process has the variable too.
    """
    process, name = os.getppid(), rank_variable.encode() + b"="
    try:
        while True:
            with open(f"/proc/{process}/environ", "rb") as file:
                if not any(entry.startswith(name) for entry in file.read().split(b"\0")):
                    return process
            with open(f"/proc/{process}/stat", "rb") as file:
                process = int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return None


def torch_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of torch.distributed that follow from the launcher's: this process's place in the job."""
    place = place_of(variables)
    if place is None:
        return {}
    values = {"RANK": place.rank, "WORLD_SIZE": place.size, "LOCAL_RANK": place.local_rank,
              "LOCAL_WORLD_SIZE": place.local_size}  # fmt: skip
    return {name: str(value) for name, value in values.items() if value is not None}


def set_torch_variables(variables: MutableMapping[str, str]) -> None:
    """Sets the variables of torch_variables() that are unset."""
    for name, value in torch_variables(variables).items():
        variables.setdefault(name, value)


def master_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Returns MASTER_ADDR and MASTER_PORT for a part of the job's ranks, which cannot agree by MPI before they meet.

    MASTER_ADDR is this node if all ranks are on it; otherwise it is known only under srun, whose first node has rank 0.
    MASTER_PORT follows from the job's number, so that jobs on one node differ.
    """
    place = place_of(variables)
    if place is None:
        return {}
    result = {}
    on_one_node = place.local_size == place.size
    if on_one_node:
        result["MASTER_ADDR"] = "127.0.0.1"
    elif place.launcher is _SLURM:
        result["MASTER_ADDR"] = _first_host(variables.get("SLURM_STEP_NODELIST", "")) or ""
    job = ".".join(variables[name] for name in place.launcher.job if name in variables)
    if not job and on_one_node:
        job = str(_launcher_process(place.launcher.rank) or "")
    if job:
        result["MASTER_PORT"] = str(_FIRST_PORT + zlib.crc32(job.encode()) % _PORTS)
    return {name: value for name, value in result.items() if value}
