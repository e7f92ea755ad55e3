"""What the launcher's environment variables say about this process, for programs of torch.distributed."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping, MutableMapping
from typing import NamedTuple

# Rank, number of ranks, rank on the node, ranks on the node.
_NAMES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),  # MPICH's Hydra and its relatives
)
_JOBS = ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_JOB_ID")
_FIRST_PORT, _PORTS = 20000, 12000  # below the ports that Linux gives to outgoing connections


class Place(NamedTuple):
    """This process's place in the job; local numbers are None where the launcher does not say them."""

    rank: int
    size: int
    local_rank: int | None
    local_size: int | None


def _number(variables: Mapping[str, str], name: str) -> int | None:
    text = variables.get(name, "")
    return int(text) if text.isdecimal() else None


def _slurm_local_size(variables: Mapping[str, str]) -> int | None:
    """Returns the number of the step's tasks on this node: item SLURM_NODEID of a list such as "2(x3),1"."""
    counts: list[int] = []
    for item in variables.get("SLURM_STEP_TASKS_PER_NODE", "").split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", item)
        if found is None:
            return None
        counts += [int(found[1])] * int(found[2] or 1)
    node = _number(variables, "SLURM_NODEID")
    return counts[node] if node is not None and node < len(counts) else None


def place_of(variables: Mapping[str, str]) -> Place | None:
    """Returns this process's place; None without a launcher that says rank and number of ranks."""
    numbers = [tuple(_number(variables, name) for name in names) for names in _NAMES]
    if "SLURM_STEP_ID" in variables:  # otherwise a batch script, whose variables are those of the whole allocation
        names = "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"
        numbers.append((*(_number(variables, name) for name in names), _slurm_local_size(variables)))
    # A launcher that says all comes first: Slurm's own numbers are those of the daemons if mpirun has started by srun.
    for rank, size, local_rank, local_size in sorted(numbers, key=lambda all_of: None in all_of):
        if rank is not None and size is not None:
            return Place(rank, size, local_rank, local_size)
    return None


def _first_host(nodes: str) -> str | None:
    """Returns the first host of a list of Slurm: "n03" of "n[03-07,9],m1"."""
    found = re.match(r"([^,\[\]]+)(?:\[([^],\-]+)[^]]*\]([^,\[]*))?", nodes)
    return None if found is None else "".join(part or "" for part in found.groups())


def torch_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of torch.distributed that follow from the launcher's.

    MASTER_ADDR is this node if all ranks are on it; otherwise it is known from Slurm alone, whose first node has rank
    0. MASTER_PORT follows from the job's number, so that jobs on one node differ.
    """
    place = place_of(variables)
    if place is None:
        return {}
    values = {"RANK": place.rank, "WORLD_SIZE": place.size, "LOCAL_RANK": place.local_rank,
              "LOCAL_WORLD_SIZE": place.local_size}  # fmt: skip
    result = {name: str(value) for name, value in values.items() if value is not None}
    if place.local_size == place.size:
        result["MASTER_ADDR"] = "127.0.0.1"
    elif "SLURM_STEP_NODELIST" in variables:
        result["MASTER_ADDR"] = _first_host(variables["SLURM_STEP_NODELIST"]) or ""
    job = "".join(variables.get(name, "") for name in _JOBS)
    if job and "SLURM_STEP_ID" in variables:
        job += variables["SLURM_STEP_ID"]
    if not job and place.local_size == place.size:
        job = f"{os.getppid()}"  # the launcher's process on this node
    if job:
        result["MASTER_PORT"] = str(_FIRST_PORT + zlib.crc32(job.encode()) % _PORTS)
    return {name: value for name, value in result.items() if value}


def set_torch_variables(variables: MutableMapping[str, str]) -> None:
    """Sets those of the variables that are unset."""
    for name, value in torch_variables(variables).items():
        variables.setdefault(name, value)
