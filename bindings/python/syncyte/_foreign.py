# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py beside Syncyte: the same MPI library, and constants, also torch.distributed's, in place of Syncyte's."""

from __future__ import annotations

from typing import Any

from . import _library
from ._declarations import Op
from ._modules import loaded

_TORCH_NAMES = {"PRODUCT": "PROD"}  # others have the same name, or are not reductions of Syncyte


def _short(version: str) -> str:
    return " ".join(version.partition("\n")[0].partition(",")[0].split())


def require_same_mpi() -> None:
    """Raises LibraryError if mpi4py has loaded another MPI library than libsyncyte: each would have its own ranks."""
    mpi = loaded("mpi4py.MPI")
    ours = None if mpi is None else _library.mpi_version()
    if ours is None or _short(ours) == _short(theirs := mpi.Get_library_version()):
        return
    raise _library.errors.LibraryError(
        f"mpi4py has loaded {_short(theirs)}, but libsyncyte {_short(ours)}: these do not know each other's ranks and "
        f"communicators. Let mpi4py use libsyncyte's MPI (its wheel loads the file that MPI4PY_LIBMPI names; or pip "
        f"install --no-binary mpi4py mpi4py with that MPI's mpicc first in PATH), or build Syncyte for mpi4py's"
    )


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
