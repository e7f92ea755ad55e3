"""The live communicators of this process, by what identifies them on all their ranks: what a pickle resolves to."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

from .errors import HandleError

if TYPE_CHECKING:
    from .comm import Comm

# A forked child has its parent's objects, but is no rank of theirs: the process is a part of the key.
_live: weakref.WeakValueDictionary[tuple[int, int, int], Comm] = weakref.WeakValueDictionary()


def add(identity: int, comm: Comm) -> None:
    """Makes a communicator known. Local."""
    _live[identity, os.getpid(), id(comm)] = comm


def find(identity: int, size: int, kind: str) -> Comm:
    """The communicator that was pickled, here or on another rank; of several objects one of the class `kind`.

    Raises HandleError if this process has none.
    """
    mine = [comm for (known, process, _), comm in list(_live.items())
            if known == identity and process == os.getpid() and comm.__dict__.get("_handle") is not None]  # fmt: skip
    if not mine:
        raise HandleError(
            f"the {kind} {identity:016x} of {size} ranks, which was pickled, is no live communicator of this process: "
            f"it was freed or dropped, or this process is none of its ranks, or it was pickled in another job"
        )
    return next((comm for comm in mine if type(comm).__name__ == kind), mine[0])
