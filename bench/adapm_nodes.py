# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of AdaPM as peers of stores. SYNCYTE_ADAPM_SOURCE names AdaPM's folder; its bindings/ has the built extension.

Between virtual hosts the same job runs on syncyte.compat.adapm in the ranks, and on AdaPM in a process of its own for
each rank. While it is Syncyte's turn those processes are stopped, because AdaPM's threads also work when they are idle.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from paired import WORLD

BINDINGS = os.path.join(os.environ.get("SYNCYTE_ADAPM_SOURCE", ""), "bindings")
NOT_FOUND = "SYNCYTE_ADAPM_SOURCE names no AdaPM with built bindings"
TRIES = 8  # to start nodes: one of them may end by SIGSEGV in Server(), when messages of the other come early

# A process without MPI. prctl(PR_SET_PDEATHSIG, SIGKILL) ends it when rank 0 ends.
SCHEDULER = """
import ctypes, sys, torch
ctypes.CDLL(None).prctl(1, 9)
sys.path.append({folder!r})
import adapm
adapm.scheduler({keys}, 1)
"""


def load_adapm() -> Any:
    """AdaPM's module, or None."""
    if BINDINGS == "bindings":
        return None
    sys.path.append(BINDINGS)
    with contextlib.suppress(ImportError):
        import torch  # noqa: F401  (AdaPM's extension needs its libraries)

        return importlib.import_module("adapm")
    return None


@contextlib.contextmanager
def scheduler(keys: int, address: str, nodes: int) -> Iterator[dict[str, str]]:
    """AdaPM's scheduler; yields the environment of the nodes."""
    with socket.create_server((address, 0)) as free:
        port = free.getsockname()[1]
    environment = {"DMLC_NUM_SERVER": str(nodes), "DMLC_PS_ROOT_URI": address, "DMLC_PS_ROOT_PORT": str(port)}
    process = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER.format(folder=BINDINGS, keys=keys)],
        env={**os.environ, **environment, "DMLC_ROLE": "scheduler"},
    )
    try:
        yield {**environment, "DMLC_ROLE": "server"}
    finally:
        process.kill()
        process.wait()


def sent_bytes() -> int:
    """What this virtual host has sent to the others."""
    with open("/proc/net/dev", encoding="ascii") as file:
        return next(int(line.split(":")[1].split()[8]) for line in file if line.strip().startswith("eth0:"))


def busy_cores(seconds: float) -> float:
    """Processor time of this process's threads, while this one sleeps, in cores."""

    def processor_time() -> float:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    before, begin = processor_time(), time.perf_counter()
    time.sleep(seconds)
    return (processor_time() - before) / (time.perf_counter() - begin)


def meet() -> None:
    """A barrier in which ranks sleep: one that polls takes processor time from AdaPM's threads."""
    request = WORLD.Ibarrier()
    while not request.Test():
        time.sleep(2e-4)


class Node:
    """AdaPM's node of this rank: a process that runs a job's methods by name. Its methods are collective."""

    def __init__(self, script: str, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-B", script, str(WORLD.rank), str(WORLD.size)],
            env={**os.environ, **environment, "DMLC_INTERFACE": "eth0", "MPI4PY_RC_INITIALIZE": "false"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def has_started(self) -> bool:
        """Waits until the nodes of all ranks have started, or one of them has ended."""
        line = None
        while True:
            if select.select([self._process.stdout] if line is None else [], [], [], 0.05)[0]:
                line = self._process.stdout.readline()
            lines = WORLD.allgather(line)
            if "" in lines or None not in lines:
                return "" not in lines

    def _answer(self) -> Any:
        line = self._process.stdout.readline()
        if not line:
            print(f"AdaPM's node has ended with status {self._process.wait()}", file=sys.stderr, flush=True)
            WORLD.Abort(1)
        return json.loads(line)

    def call(self, method: str) -> Any:
        meet()
        self._process.send_signal(signal.SIGCONT)
        meet()
        print(method, file=self._process.stdin, flush=True)
        answer = self._answer()
        meet()
        self._process.send_signal(signal.SIGSTOP)
        return answer

    def end(self) -> None:
        """Lets the process go on to its end."""
        self._process.send_signal(signal.SIGCONT)
        self._process.stdin.close()
        self._process.wait(60)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def _started_node(script: str, keys: int) -> Iterator[Node | None]:
    """AdaPM's node of this virtual host, or None if it has ended at its start."""
    with contextlib.ExitStack() as stack:
        environment = None
        if WORLD.rank == 0:
            address = f"10.77.0.{os.environ['SYNCYTE_VIRTUAL_HOST']}"
            environment = stack.enter_context(scheduler(keys, address, WORLD.size))
        found = Node(script, WORLD.bcast(environment))
        stack.callback(found.kill)
        has_started = found.has_started()
        yield found if has_started else None
        if has_started:
            found.end()


@contextlib.contextmanager
def node(script: str, keys: int) -> Iterator[Node | None]:
    """AdaPM's node of this virtual host; None without AdaPM. Collective."""
    if not WORLD.bcast(load_adapm() is not None if WORLD.rank == 0 else None):
        yield None
        return
    for _ in range(TRIES):
        with _started_node(script, keys) as found:
            if found is not None:
                yield found
                return
    raise RuntimeError(f"a node of AdaPM has ended at each of {TRIES} starts")


def serve(make_job: Callable[[Any, int, int], Any]) -> None:
    """The process of a Node: runs make_job(adapm, rank, ranks)."""
    ctypes.CDLL(None).prctl(1, 9)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what AdaPM prints
    job = make_job(load_adapm(), *map(int, sys.argv[1:]))
    print(json.dumps(True), file=answers)
    for line in sys.stdin:
        print(json.dumps(getattr(job, line.strip())()), file=answers)
    job.end()
