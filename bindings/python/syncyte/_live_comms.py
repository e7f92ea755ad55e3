"""The live communicators of this process by their identifiers, which pickles contain."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

from .errors import HandleError

if TYPE_CHECKING:
    from .comm import Comm

# The process id is part of the key, because a forked child inherits objects but is not a rank of them.
_live: weakref.WeakValueDictionary[tuple[int, int, int], Comm] = weakref.WeakValueDictionary()


def add(identity: int, comm: Comm) -> None:
    """Registers a communicator. Local."""
    _live[identity, os.getpid(), id(comm)] = comm


def find(identity: int, size: int, kind: str) -> Comm:
    """Returns the communicator of a pickle, made here or on another rank; of several objects, one of class `kind`.

    Raises HandleError if this process has none.
    """
    mine = [comm for (known, process, _), comm in list(_live.items())
            if known == identity and process == os.getpid() and comm.__dict__.get("_handle") is not None]  # fmt: skip
    if not mine:
        raise HandleError(
            f"the pickled {kind} {identity:016x} of {size} ranks is not a live communicator of this process: it was "
            f"freed or dropped, or this process is not one of its ranks, or it was pickled in another job"
        )
    return next((comm for comm in mine if type(comm).__name__ == kind), mine[0])
