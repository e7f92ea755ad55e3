# SPDX-License-Identifier: BSD-3-Clause
"""One Python rank of a test run: it writes its state on the board, and agrees with the other ranks."""

import os
import time

from mpi4py import MPI

from . import board as states
from .board import Board, Slot


class BoardWriter:
    """Writes this rank's slot of the board; does nothing without a launcher, which makes the board."""

    def __init__(self, rank: int):
        path = os.environ.get("SYNCYTE_TEST_BOARD")
        ranks = os.path.getsize(path) // states.SLOT_BYTES if path else 0
        self._board = Board(path, ranks) if path else None
        self._slot = Slot(rank, os.getpid(), states.ABSENT, False, 0, time.monotonic_ns(), "", "")
        self.enter(states.IDLE)

    def _write(self) -> None:
        if self._board is not None:
            self._board.write(self._slot)

    def begin(self, test: str) -> None:
        self._slot.test, self._slot.message, self._slot.failed = test, "", False
        self.enter(states.RUNNING)

    def fail(self, message: str) -> None:
        if not self._slot.failed:
            self._slot.message, self._slot.failed = message, True
            self._write()

    def arrive(self) -> None:
        self._slot.state = states.ARRIVED
        self._write()

    def enter(self, state: int) -> None:
        self._slot.state, self._slot.since_ns = state, time.monotonic_ns()
        self._write()


class Agreement:
    """Collective operations of the harness, on a duplicate of the communicator; waiting ranks sleep."""

    def __init__(self, world: MPI.Intracomm):
        self._comm = world.Dup()
        self.rank = world.rank
        self.size = world.size

    def free(self) -> None:
        self._comm.Free()

    def _wait(self, request: MPI.Request) -> None:
        for attempt in range(1 << 62):
            if request.Test():
                return
            if attempt >= 20:
                time.sleep(1e-6 if attempt < 100 else 2e-4)

    def largest(self, value: int) -> int:
        mine = bytearray(int(value).to_bytes(8, "little", signed=True))
        result = bytearray(8)
        self._wait(self._comm.Iallreduce([mine, MPI.INT64_T], [result, MPI.INT64_T], MPI.MAX))
        return int.from_bytes(result, "little", signed=True)

    def same(self, value: int) -> bool:
        """True on all ranks if all have the same value."""
        return self.largest(value) == -self.largest(-value)

    def gather_text(self, text: str) -> str:
        """On rank 0 all ranks' texts, each tagged with its rank; on other ranks their own text."""
        texts = self._comm.gather(text, root=0)
        if texts is None:
            return text
        return "".join(f"[rank {rank}] {part}" for rank, part in enumerate(texts) if part)

    def drain_messages(self, world: MPI.Intracomm) -> str:
        """Receives and lists messages that no rank has received. Probes several times, so that MPI makes progress."""
        found, quiet, status = "", 0, MPI.Status()
        while quiet < 4:
            message = world.Improbe(MPI.ANY_SOURCE, MPI.ANY_TAG, status)
            if message is None:
                quiet += 1
                continue
            count = status.Get_count(MPI.BYTE)
            message.Recv([bytearray(count), MPI.BYTE])
            found += f"message left unreceived: from rank {status.source}, tag {status.tag}, {count} bytes\n"
        return found
