# SPDX-License-Identifier: BSD-3-Clause
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
from mpi_harness.job import without_launcher

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


def errors_of(folder, script: str) -> str:
    """Runs a script in a separate process, which writes its trace into the folder. Returns the process's stderr."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env=without_launcher({"SYNCYTE_TRACE": str(folder)}),
        timeout=60,
        check=False,
        capture_output=True,
        text=True,
    ).stderr


def traced_process(folder, script: str) -> tuple[list[dict], str]:
    """Runs a script in a separate process. Returns the events in its trace, and the process's stderr."""
    errors = errors_of(folder, script)
    return json.loads((folder / "rank-0.json").read_text()), errors


def traced(tmp_path, end: str) -> list[dict]:
    return traced_process(tmp_path / "a" / "folder", SCRIPT.replace("END", end))[0]


of_rank_0 = pytest.mark.skipif(WORLD.rank > 0, reason="starts a process of its own, on rank 0")


@of_rank_0
@pytest.mark.parametrize("plant", ["link", "pipe"])
def test_what_others_put_in_the_place_of_a_trace_is_not_written(tmp_path, plant):
    victim, trace = tmp_path / "victim", tmp_path / "rank-0.json"
    victim.write_text("precious")
    trace.symlink_to(victim) if plant == "link" else os.mkfifo(trace)
    errors = errors_of(tmp_path, "import syncyte; syncyte.COMM_WORLD.barrier()")
    assert f"SYNCYTE_TRACE: {trace} cannot be written" in errors
    assert victim.read_text() == "precious"


@of_rank_0
def test_a_trace_is_whole_json_after_an_abort(tmp_path):
    events, _ = traced_process(
        tmp_path,
        """
import numpy as np, syncyte
for _ in range(500):
    syncyte.COMM_WORLD.allreduce(np.ones(3, np.float32))
syncyte.COMM_WORLD.rank, syncyte.COMM_WORLD.size
syncyte._library.core().syncyte_abort(3)
""",
    )
    calls = [event for event in events if event["name"] == "comm_allreduce"]
    assert len(calls) == 500  # including the last ones before the abort
    assert calls[-1]["args"] == {"bytes": 12, "dtype": "float32", "comm": "world", "status": 0}
    assert not {"comm_rank", "comm_size", "comm_world"} & {event["name"] for event in events}


@of_rank_0
def test_names_in_a_trace_are_json_too(tmp_path):
    events, _ = traced_process(
        tmp_path,
        r"""
import numpy as np, syncyte
part = syncyte.COMM_WORLD.dup(name='a "quoted" \\ näme\n')
part.allreduce(np.ones(3))
syncyte.checkpoint.save("%s", {"x": np.ones(5)}, part)
"""
        % (tmp_path / "of a trace.h5"),
    )
    calls = {event["name"]: event["args"] for event in events}
    assert calls["comm_allreduce"]["comm"] == 'a "quoted" \\ näme\n'
    assert calls["checkpoint_save"] == {
        "bytes": 40,
        "comm": 'a "quoted" \\ näme\n',
        "path": str(tmp_path / "of a trace.h5"),
        "status": 0,
    }


@of_rank_0
def test_a_full_disk_ends_a_trace_with_a_warning(tmp_path):
    events, said = traced_process(
        tmp_path,
        """
import numpy as np, resource, syncyte, time
syncyte.COMM_WORLD.allreduce(np.ones(3))
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
for i in range(1000):
    syncyte.COMM_WORLD.allreduce(np.ones(3))
    if i % 50 == 0:
        time.sleep(0.11)  # it is written ten times a second
""",
    )
    assert 1 < len(events) < 500
    assert said.count("rank-0.json cannot grow: File too large (EFBIG); later events are not in it") == 1


@of_rank_0
@pytest.mark.parametrize(
    "end",
    ["syncyte.finalize()", "", "import time; time.sleep(1.2); world.barrier(); import os; os._exit(1)"],
    ids=["finalized", "not finalized", "killed"],
)
def test_a_trace_is_chromes_format(tmp_path, end):
    events = traced(tmp_path, end)
    assert events[0]["name"] == "process_name"
    assert events[0]["args"]["name"].startswith("rank 0 on ")
    calls = {event["name"]: event for event in events[1:]}
    for event in calls.values():
        assert event["ph"] == "X"
        assert event["pid"] == 0
        assert event["dur"] >= 0
        assert event["ts"] > 1.6e15
    common = {"dtype": "float64", "comm": "world", "status": 0}
    assert calls["comm_allreduce"]["args"] == {"bytes": 8000, **common}
    assert calls["comm_isend"]["args"] == {"bytes": 40, "peer": 0, **common}
    assert calls["comm_recv"]["args"] == {"bytes": 40, "peer": 0, **common}
    assert calls["request_wait"]["args"] == {"bytes": 40, "peer": 0, **common}
    assert calls["comm_sendrecv"]["args"]["status"] != 0
    begins = [event["ts"] for event in events[1:]]
    assert begins == sorted(begins)


@contextlib.contextmanager
def events():
    """Context manager: the list of (operation, bytes, peer) of the operations that are traced within it."""
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
    assert seen == [
        ("comm_irecv", 40, -1),
        ("comm_isend", 40, following),
        ("request_wait", 40, previous),
        ("request_wait", 40, following),
    ]


def test_started_collectives_are_traced_twice():
    world = syncyte.COMM_WORLD
    root = world.size - 1
    with events() as seen:
        world.iallreduce(np.ones(3)).wait()
        world.ibcast(np.ones(2), root).wait()
        world.bcast(np.ones(2), root)
    assert seen == [
        ("comm_iallreduce", 24, -1),
        ("request_wait", 24, -1),
        ("comm_ibcast", 16, root),
        ("request_wait", 16, root),
        ("comm_bcast", 16, root),
    ]


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


def test_stats_are_a_sorted_table():
    stats = type(syncyte.stats())(
        {
            "comm_bcast": syncyte.OperationStats(2, 0, 16, 0.0),
            "comm_allreduce": syncyte.OperationStats(3, 1, 240, 0.5),
            "comm_barrier": syncyte.OperationStats(7, 0, 0, 0.0),
        }
    )
    assert str(stats).splitlines() == [
        "operation       calls  errors  bytes   seconds",
        "comm_allreduce      3       1    240  0.500000",
        "comm_bcast          2       0     16  0.000000",
        "comm_barrier        7       0      0  0.000000",
    ]


def test_what_only_looks_something_up_is_not_counted():
    world = syncyte.COMM_WORLD
    assert world.rank < world.size
    assert not {"comm_rank", "comm_size", "comm_id", "comm_world"} & set(syncyte.stats())
