# SPDX-License-Identifier: BSD-3-Clause
"""Watches a run's board, from which it finds the test that hangs or has crashed, and the state of every rank."""

import signal
import time
from dataclasses import dataclass

from . import board as states
from .board import Board, Slot
from .job import Job, send, signal_name

_NAMES = {states.ABSENT: "not started", states.IDLE: "between tests", states.ENDED: "ended"}


@dataclass
class Limits:
    """Limits in seconds: of a test, of ranks that wait after another one has failed, of the pauses between tests, of
    the ranks' exit after MPI_Finalize, of the whole run."""

    test: float = 20.0
    after_failure: float = 5.0
    between: float = 120.0
    exit: float = 30.0
    total: float = 300.0


@dataclass
class Ending:
    """End of a run. `test` is empty if the run succeeded, or failed outside of a test."""

    status: int
    kind: str = ""  # "", "HANG", "CRASH" or "JOB"
    test: str = ""
    text: str = ""
    seconds: float = 0.0


def where(slot: Slot) -> str:
    """One line about a rank."""
    if slot.signal:
        text = f"died of {signal_name(slot.signal)} in {slot.test or 'no test'}"
    elif slot.state == states.RUNNING:
        text = f"still in {slot.test} after {slot.seconds():.1f} s"
    elif slot.state == states.ARRIVED:
        text = f"has arrived at the end of {slot.test}"
    else:
        text = _NAMES.get(slot.state, "unknown state") + (f", last test {slot.test}" if slot.test else "")
    if slot.failed and slot.state in (states.RUNNING, states.ARRIVED):
        text += "; it failed: " + slot.message.strip()
    return f"rank {slot.rank} (pid {slot.pid}): {text}"


def table(slots: list[Slot]) -> str:
    return "".join("  " + where(slot) + "\n" for slot in slots)


def overdue(slots: list[Slot], limits: Limits) -> bool:
    """True if a rank has exceeded its limit."""
    busy = [slot for slot in slots if slot.state in (states.RUNNING, states.ARRIVED)]
    if busy:
        oldest = max(slot.seconds() for slot in busy)
        failed = any(slot.failed and slot.state == states.ARRIVED for slot in busy)
        return oldest > limits.test or (failed and oldest > limits.after_failure)
    if slots and all(slot.state == states.ENDED for slot in slots):
        return min(slot.seconds() for slot in slots) > limits.exit
    present = [slot for slot in slots if slot.state == states.IDLE]
    return bool(present) and min(slot.seconds() for slot in present) > limits.between


def culprit(slots: list[Slot]) -> str:
    """Name of the test in which the run stopped; empty if it stopped outside of tests."""
    for state in (states.RUNNING, states.ARRIVED):
        for slot in slots:
            if slot.state == state:
                return slot.test
    return ""


def _names(ranks: list[int]) -> str:
    return ("rank " if len(ranks) == 1 else "ranks ") + ", ".join(map(str, ranks))


def _hang_text(slots: list[Slot]) -> str:
    late = [slot.rank for slot in slots if slot.state != states.ARRIVED]
    missing = f"{_names(late)} did not arrive" if late else "all ranks arrived but did not agree"
    return f"{missing}; where the ranks are:\n{table(slots)}"


def _show_backtraces(job: Job, slots: list[Slot]) -> str:
    before = len(job.tagged_output())
    # Not the board's process ids: a virtual host has its own namespace of process ids.
    pids = job.rank_pids()
    for slot in slots:
        if slot.state == states.RUNNING and slot.rank in pids:
            send(pids[slot.rank], signal.SIGUSR2)
    limit = time.monotonic() + 0.5
    while time.monotonic() < limit and job.poll(0.05) is None:
        pass
    return job.tagged_output()[before:]


def _hang(job: Job, slots: list[Slot]) -> Ending:
    stacks = _show_backtraces(job, slots)
    text = "HANG: " + _hang_text(slots)
    if stacks:
        text += "stacks of the ranks that did not arrive:\n" + stacks
    job.kill_ranks()
    status = job.finish(5.0)
    test = culprit(slots)
    return Ending(status, "HANG", test, text)


def _crash(job: Job, slots: list[Slot], status: int) -> Ending:
    test = culprit(slots)
    died = [f"rank {slot.rank} died of {signal_name(slot.signal)}" for slot in slots if slot.signal]
    aborted = [f"rank {slot.rank} called MPI_Abort({slot.abort_code})" for slot in slots if slot.abort_code is not None]
    cause = ", ".join(aborted or died) or job.deaths() or f"mpirun ended with status {status}"
    tail = "\n".join(job.tagged_output().splitlines()[-60:])
    text = f"CRASH: {cause}; where the ranks were:\n{table(slots)}last lines of the output:\n{tail}\n"
    return Ending(status, "CRASH" if test else "JOB", test, text)


def watch(job: Job, board: Board, limits: Limits, deadline: float) -> Ending:
    """Waits for the end of the job, or ends the job; `deadline` is a time of time.monotonic()."""
    begin = time.monotonic()
    while True:
        status = job.poll(0.03)
        slots = board.slots()
        if status is not None:
            job.finish()
            slots = board.slots()
            clean = status == 0 and not culprit(slots)
            ending = Ending(status) if clean else _crash(job, slots, status)
            break
        if overdue(slots, limits) or time.monotonic() > deadline:
            ending = _hang(job, slots)
            break
        if all(slot.state == states.ABSENT for slot in slots) and time.monotonic() - begin > limits.between:
            ending = _hang(job, slots)
            break
    slot = board.slot(0)
    ending.seconds = slot.seconds() if ending.test else time.monotonic() - begin
    return ending
