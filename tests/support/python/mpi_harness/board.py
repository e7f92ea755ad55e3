# SPDX-License-Identifier: BSD-3-Clause
"""The board of a run: one page per rank with the rank's state. tests/support/board.hpp has the same layout."""

import mmap
import struct
import time
from dataclasses import dataclass

ABSENT, IDLE, RUNNING, ARRIVED, ENDED = range(5)
SLOT_BYTES = 4096
_HEAD = struct.Struct("=IIIIqIi")
_TEST_AT, _TEST_BYTES = 32, 992
_MESSAGE_AT, _MESSAGE_BYTES = 1024, 3072
_CUT = b"\n[...]\n"


@dataclass
class Slot:
    """One rank's entry on the board."""

    rank: int
    pid: int
    state: int
    failed: bool
    signal: int
    since_ns: int
    test: str
    message: str
    abort_code: int | None = None  # of its call to MPI_Abort

    def seconds(self) -> float:
        """Seconds since the test, or the pause between tests, began."""
        return (time.monotonic_ns() - self.since_ns) / 1e9


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


def _both_ends(text: bytes, capacity: int) -> bytes:
    """Cuts the middle out of a text that is too long: a traceback ends with its error."""
    if len(text) <= capacity:
        return text
    kept = (capacity - len(_CUT)) // 2
    return text[:kept] + _CUT + text[-kept:]


class Board:
    """All ranks' slots, as the launcher reads them and a Python rank writes its own."""

    def __init__(self, path: str, ranks: int, create: bool = False):
        self.path = path
        self.ranks = ranks
        if create:
            with open(path, "wb") as file:
                file.truncate(ranks * SLOT_BYTES)
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), ranks * SLOT_BYTES)

    def close(self) -> None:
        self._map.close()

    def slot(self, rank: int) -> Slot:
        at = rank * SLOT_BYTES
        page = self._map[at : at + SLOT_BYTES]
        pid, state, failed, signal, since, aborted, code = _HEAD.unpack_from(page)
        test = _text(page[_TEST_AT : _TEST_AT + _TEST_BYTES])
        message = _text(page[_MESSAGE_AT : _MESSAGE_AT + _MESSAGE_BYTES])
        return Slot(rank, pid, state, bool(failed), signal, since, test, message, code if aborted else None)

    def slots(self) -> list[Slot]:
        return [self.slot(rank) for rank in range(self.ranks)]

    def write(self, slot: Slot) -> None:
        """Writes a rank's slot, the state last: a reader that sees the state sees all other members."""
        at = slot.rank * SLOT_BYTES
        self._put(at + _TEST_AT, slot.test, _TEST_BYTES)
        self._put(at + _MESSAGE_AT, slot.message, _MESSAGE_BYTES)
        # Words are written one by one, because pack_into() writes zeros first, which a reader could see.
        head = _HEAD.pack(slot.pid, slot.state, int(slot.failed), slot.signal, slot.since_ns, 0, 0)
        for begin in range(len(head) - 8, -1, -8):
            self._map[at + begin : at + begin + 8] = head[begin : begin + 8]

    def _put(self, at: int, text: str, capacity: int) -> None:
        raw = _both_ends(text.encode("utf-8", "replace"), capacity - 1)
        self._map[at : at + len(raw) + 1] = raw + b"\0"
