"""SYNCYTE_TRACE and syncyte.stats()."""

import contextlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from mpi4py import MPI

import syncyte

WORLD = MPI.COMM_WORLD

SCRIPT = """
import numpy as np, syncyte
world = syncyte.COMM_WORLD
world.allreduce(np.ones(1000))
request = world.isend(np.ones(5), 0, 3)
world.recv(np.empty(5), 0)
request.wait()
try:
    world.sendrecv(np.ones(2), 0, np.empty(3), 0, 4, 4)
except syncyte.MismatchError:
    pass
END
"""


def traced(tmp_path, end: str) -> list[dict]:
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("OMPI_COMM", "PMI", "PMIX", "OMPI_MCA_ess", "OMPI_MCA_orte"))}
    environment["SYNCYTE_TRACE"] = str(tmp_path / "a" / "folder")
    subprocess.run([sys.executable, "-c", SCRIPT.replace("END", end)], env=environment, timeout=60, check=False)
    text = (tmp_path / "a" / "folder" / "rank-0.json").read_text()
    return json.loads(text if text.rstrip().endswith("]") else text + "]")


@pytest.mark.skipif(WORLD.size > 1, reason="starts a process of its own")
@pytest.mark.parametrize("end", ["syncyte.finalize()", "", "import time; time.sleep(1.2); world.barrier(); import os; os._exit(1)"],
                         ids=["finalized", "not finalized", "killed"])
def test_a_trace_is_chromes_format(tmp_path, end):
    events = traced(tmp_path, end)
    assert events[0]["name"] == "process_name" and events[0]["args"]["name"].startswith("rank 0 on ")
    calls = {event["name"]: event for event in events[1:]}
    for event in calls.values():
        assert event["ph"] == "X" and event["pid"] == 0 and event["dur"] >= 0 and event["ts"] > 1.6e15
    assert calls["comm_allreduce"]["args"] == {"bytes": 8000, "status": 0}
    assert calls["comm_isend"]["args"] == {"bytes": 40, "peer": 0, "status": 0}
    assert calls["comm_recv"]["args"] == {"bytes": 40, "peer": 0, "status": 0}
    assert calls["request_wait"]["args"] == {"bytes": 40, "peer": 0, "status": 0}
    assert calls["comm_sendrecv"]["args"]["status"] != 0
    begins = [event["ts"] for event in events[1:]]
    assert begins == sorted(begins)


@contextlib.contextmanager
def events():
    """Operation, bytes and peer of what is traced meanwhile."""
    from syncyte import _declarations as c
    from syncyte import _library

    seen = []

    def on_event(event, context):
        seen.append((event.contents.operation.decode(), event.contents.bytes, event.contents.peer))

    hook = c.TraceFn(on_event)
    _library.core().syncyte_trace_set(hook, None)
    try:
        yield seen
    finally:
        _library.core().syncyte_trace_set(c.TraceFn(), None)


def test_messages_and_the_waits_for_them_name_their_peers():
    world = syncyte.COMM_WORLD
    following, previous = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    with events() as seen:
        received = world.irecv(np.empty(5), syncyte.ANY, 3)
        sent = world.isend(np.ones(5), following, 3)
        received.wait()
        sent.wait()
    assert seen == [("comm_irecv", 40, -1), ("comm_isend", 40, following), ("request_wait", 40, previous),
                    ("request_wait", 40, following)]


def test_started_collectives_are_traced_twice():
    world = syncyte.COMM_WORLD
    root = world.size - 1
    with events() as seen:
        world.iallreduce(np.ones(3)).wait()
        world.ibcast(np.ones(2), root).wait()
        world.bcast(np.ones(2), root)
    assert seen == [("comm_iallreduce", 24, -1), ("request_wait", 24, -1), ("comm_ibcast", 16, root),
                    ("request_wait", 16, root), ("comm_bcast", 16, root)]


def test_a_halo_names_its_only_neighbour():
    world = syncyte.COMM_WORLD
    line = world.cartesian([world.size])
    halo = syncyte.Halo(line, (4,), np.float64, low=1, high=1)
    neighbours = {rank for rank in (line.rank - 1, line.rank + 1) if 0 <= rank < line.size}
    only = neighbours.pop() if len(neighbours) == 1 else -1
    with events() as seen:
        halo.exchange(np.zeros(4))
        halo.iexchange(np.zeros(4)).wait()
    assert seen == [("halo_exchange", 32, only), ("halo_iexchange", 32, only), ("request_wait", 32, only)]


def test_stats_count_waits():
    world = syncyte.COMM_WORLD
    nothing = syncyte.OperationStats(0, 0, 0, 0.0)
    before = syncyte.stats().get("request_wait", nothing)
    for _ in range(3):
        world.iallreduce(np.ones(10)).wait()
    after = syncyte.stats()["request_wait"]
    assert (after.calls - before.calls, after.bytes - before.bytes) == (3, 240)


def test_stats_count_calls_bytes_and_errors():
    world = syncyte.COMM_WORLD
    world.barrier()
    before = syncyte.stats()
    nothing = syncyte.OperationStats(0, 0, 0, 0.0)
    for _ in range(3):
        world.allreduce(np.ones(10))
    with pytest.raises(syncyte.ArgumentError):
        world.reduce(np.ones(2), root=world.size)
    after = syncyte.stats()

    def change(operation: str) -> tuple[int, ...]:
        old, new = before.get(operation, nothing), after[operation]
        return new.calls - old.calls, new.errors - old.errors, new.bytes - old.bytes

    assert change("comm_allreduce") == (3, 0, 240)
    assert change("comm_barrier") == (0, 0, 0)
