"""Former names of the package and of methods: their use raises an error that says the new name."""

from __future__ import annotations

PACKAGE = {"NotInitialisedError": "syncyte.NotInitializedError"}
METHODS = {
    "Comm.node": "Comm.split_node",
    "Comm.leaders": "Comm.split_leaders",
    "Comm.group": "Comm.create_group",
    "Comm.gather": "Comm.gather_along",
    "Comm.scatter": "Comm.scatter_along",
    "Comm.reduce_scatter": "Comm.reduce_scatter_along",
    "Comm.alltoall": "Comm.alltoall_along",
    "Comm.iallgather": "Comm.iallgather_along",
    "Comm.ireduce_scatter": "Comm.ireduce_scatter_along",
    "Comm.ialltoall": "Comm.ialltoall_along",
    "StoreWorker.wait": "Request.wait, of the requests that ipull(), ipush() and iset() return",
    "StoreWorker.test": "Request.test, of the requests that ipull(), ipush() and iset() return",
    "StoreWorker.wait_all": "syncyte.wait_all, of the requests that ipull(), ipush() and iset() return",
    "StoreWorker.wait_sync": "StoreWorker.flush",
    "StoreWorker.begin_setup": "StoreWorker.barrier",
    "StoreWorker.end_setup": "StoreWorker.barrier",
    "StoreWorker.ilocalize": "StoreWorker.localize",
}


def new_name(kind: type, method: str) -> str | None:
    """Returns the present name of a class's former method; None if it had no such method."""
    return next((new for each in kind.__mro__ if (new := METHODS.get(f"{each.__name__}.{method}"))), None)
