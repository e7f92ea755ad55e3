# SPDX-License-Identifier: BSD-3-Clause
"""Constants of mpi4py and of torch.distributed, which are understood in place of Syncyte's."""

from __future__ import annotations

from typing import Any

from ._declarations import Op
from ._modules import loaded

_TORCH_NAMES = {"PRODUCT": "PROD"}  # others have the same name, or are not reductions of Syncyte


def is_in_place(value: object) -> bool:
    """Whether a value is MPI.IN_PLACE."""
    return type(value).__name__ == "InPlaceType"


def find_op(op: Any) -> Op | None:
    """Returns the reduction that is an operation of mpi4py or of torch.distributed; None for anything else."""
    mpi = loaded("mpi4py.MPI")
    if mpi is not None and isinstance(op, mpi.Op):
        # Identity first: torch.compile traces it, but no comparison of mpi4py's objects.
        is_same = next((known for known in Op if op is getattr(mpi, known.name)), None)
        return is_same or next((known for known in Op if op == getattr(mpi, known.name)), None)
    kind = type(op)
    if not kind.__module__.startswith("torch."):
        return None
    if kind.__name__ == "ReduceOp":
        op = op.op
    name = getattr(op, "name", None) if type(op).__name__ == "RedOpType" else None
    return Op.__members__.get(_TORCH_NAMES.get(name, name)) if name else None
