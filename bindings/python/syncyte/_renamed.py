# SPDX-License-Identifier: BSD-3-Clause
"""Former names of the package, of methods and of keywords: their use raises an error that says the new name."""

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
    "SharedCache.insert_for_parameter": "SharedCache.insert(0, cache.parameter_bytes)",
    "SharedCache.insert_for_computation": "SharedCache.insert(cache.parameter_bytes, cache.computation_bytes)",
    "StoreWorker.wait": "Request.wait, of the requests that ipull(), ipush() and iset() return",
    "StoreWorker.test": "Request.test, of the requests that ipull(), ipush() and iset() return",
    "StoreWorker.wait_all": "syncyte.wait_all, of the requests that ipull(), ipush() and iset() return",
    "StoreWorker.wait_sync": "StoreWorker.flush",
    "StoreWorker.begin_setup": "StoreWorker.barrier",
    "StoreWorker.end_setup": "StoreWorker.barrier",
}

KEYWORDS = {"set_sampling.pool_size": "shared_keys", "fetch_add.value": "operand", "ifetch_add.value": "operand"}


def refuse_keywords(method: str, given: dict[str, object]) -> None:
    """Raises TypeError for a keyword that a method does not have; `given` is empty otherwise."""
    for name in given:
        new = KEYWORDS.get(f"{method}.{name}")
        end = f"keyword {name}, which is now {new}" if new else f"unexpected keyword {name}"
        raise TypeError(f"{method}() got the {end}")


def new_name(kind: type, method: str) -> str | None:
    """Returns the present name of a class's former method; None if it had no such method."""
    return next((new for each in kind.__mro__ if (new := METHODS.get(f"{each.__name__}.{method}"))), None)
