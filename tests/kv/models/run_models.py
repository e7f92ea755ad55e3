# SPDX-License-Identifier: BSD-3-Clause
"""Checks models of the store's protocols with Spin, and that Spin finds the error of each wrong rule; see the models.

run_models.py [--long]    prints one line for each row of ROWS, or of LONG_ROWS; status 1 if one differs, 77 without
                          Spin or a C compiler
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

SKIP = 77
HERE = Path(__file__).resolve().parent
DEPTH = 10000  # of the search; the runs of the models have about 100 steps
SECONDS = 100  # limit for one row
MEGABYTES = 1500  # limit for one search

PASSES = "passes"
ASSERTION = "assertion violated"
DEADLOCK = "invalid end state"


class Row(NamedTuple):
    model: str
    macros: str
    expected: str = PASSES


SMALL = "NODES=1 WINDOW=2 OPERATIONS=3"
SHARED = "NODES=1 OPERATIONS=3 HOME_OPERATIONS=1"
BACK = "NODES=1 WINDOW=2 OPERATIONS=3 HOME_OPERATIONS=1 MOVES=1 RECALLS=1 ASKS=0 BARRIER=2"
SYNC = "NODES=1 OPERATIONS=2 BARRIER=1 SETTERS=0"

ROWS = [
    Row("relocation.pml", "NODES=2 WINDOW=2 OPERATIONS=2 HOME_OPERATIONS=1 ASKS=1 MAY_REFUSE"),
    Row("relocation.pml", "NODES=1 WINDOW=3 OPERATIONS=3 ASKS=3"),
    Row("relocation.pml", f"{SMALL} READ_COPY", ASSERTION),
    Row("relocation.pml", f"{SMALL} OLDEST_ONLY", ASSERTION),
    Row("relocation.pml", f"{SMALL} LATE_NUMBER", ASSERTION),
    Row("relocation.pml", f"{SMALL} HOME_DIRECT", ASSERTION),
    Row("relocation.pml", f"{SMALL} GRANT_EARLY", DEADLOCK),
    Row("relocation.pml", f"{SMALL} SILENT_DONE", DEADLOCK),
    Row("relocation.pml", f"{SMALL} SPLIT_GRANT", DEADLOCK),
    Row("replicas.pml", f"{SHARED} ASKS=2 WINDOW=2"),
    Row("replicas.pml", "NODES=1 WORKERS=3 WINDOW=2 OPERATIONS=2 HOME_OPERATIONS=1 MOVES=1 BARRIER=1 SETTERS=4"),
    Row("replicas.pml", f"{BACK} SETTERS=2"),
    Row("replicas.pml", f"{BACK} SETTERS=2 SHARE_HELD", DEADLOCK),
    Row("replicas.pml", f"{SHARED} EPOCH", ASSERTION),
    Row("replicas.pml", f"{SHARED} SET_FIRST", ASSERTION),
    Row("replicas.pml", f"{SHARED} NO_RECALL", ASSERTION),
    Row("replicas.pml", f"{SHARED} ASKS=2 GRANT_EARLY", DEADLOCK),
    Row("replicas.pml", "NODES=2 OPERATIONS=2 HOME_OPERATIONS=0 MOVES=1 SETTERS=0 MOVE_EARLY", ASSERTION),
    Row("replicas.pml", f"{SHARED} WINDOW=2 READ_COPY", ASSERTION),
    Row("replicas.pml", f"{SHARED} DROP_SENT", ASSERTION),
    Row("replicas.pml", f"{SHARED} TWO_DELTAS", ASSERTION),
    Row("replicas.pml", f"{SHARED} ASKS=2 OLD_NUMBER", ASSERTION),
    Row("replicas.pml", f"{SYNC} BARRIER_LAST", ASSERTION),
    Row("replicas.pml", f"{SYNC} BARRIER_STALE", ASSERTION),
    Row("replicas.pml", f"{SYNC} BARRIER_ASKED", ASSERTION),
    Row("replicas.pml", f"{SYNC} BARRIER_REPLY", ASSERTION),
]

LONG_ROWS = [
    Row("relocation.pml", "NODES=2 WINDOW=2 OPERATIONS=2 HOME_OPERATIONS=1 ASKS=2"),
    Row("relocation.pml", "NODES=2 WINDOW=2 OPERATIONS=3 HOME_OPERATIONS=1 ASKS=1"),
    Row("relocation.pml", "NODES=3 WINDOW=1 OPERATIONS=1 ASKS=1"),
    Row("relocation.pml", "NODES=2 WINDOW=1 OPERATIONS=2 ASKS=2"),
    Row("relocation.pml", "NODES=2 WINDOW=2 OPERATIONS=2 HOME_OPERATIONS=1 ASKS=1 FORGET_BOUNCE"),
    Row("replicas.pml", "NODES=2 OPERATIONS=2 HOME_OPERATIONS=0 BARRIER=1 SETTERS=4"),
    Row("replicas.pml", "NODES=2 OPERATIONS=2 HOME_OPERATIONS=0 SETTERS=6"),
    Row("replicas.pml", "NODES=2 OPERATIONS=2 HOME_OPERATIONS=1 BARRIER=1 SETTERS=0"),
    Row("replicas.pml", "NODES=1 WINDOW=2 OPERATIONS=3 HOME_OPERATIONS=2 MOVES=1"),
    Row("replicas.pml", "NODES=2 OPERATIONS=1 HOME_OPERATIONS=0 MOVES=1 SETTERS=6"),
    Row("replicas.pml", "NODES=1 WORKERS=3 WINDOW=2 OPERATIONS=2 HOME_OPERATIONS=1 MOVES=1 RECALLS=1 ASKS=0 SETTERS=0"),
    Row("replicas.pml", "NODES=1 WORKERS=3 WINDOW=2 OPERATIONS=2 HOME_OPERATIONS=1"),
]


def run(command: list[str], folder: Path) -> str:
    """What a command prints; raises an error if it fails or takes too long."""
    done = subprocess.run(
        command,
        cwd=folder,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"status {done.returncode}: {' '.join(command)}\n{done.stdout}")
    return done.stdout


def outcome(printed: str) -> str:
    """PASSES, ASSERTION or DEADLOCK; otherwise all that the search has printed."""
    errors = re.findall(r"errors: (\d+)", printed)
    complete = not re.search(r"max search depth too small|Search not completed|truncated|MEMLIM|out of memory", printed)
    if errors == ["0"] and complete and "pan:1:" not in printed:
        return PASSES
    found = re.search(rf"^pan:1: ({ASSERTION}|{DEADLOCK})", printed, re.MULTILINE)
    return found[1] if found and errors == ["1"] else printed


def search(row: Row) -> tuple[str, str]:
    """The outcome of a row's search, and its number of states."""
    optimization = "-O2" if row in LONG_ROWS else "-O0"  # compiling with -O2 takes longer than a short search
    macros = [f"-D{macro}" for macro in row.macros.split()]
    with tempfile.TemporaryDirectory(prefix="syncyte-model-") as name:
        folder = Path(name)
        run(["spin", *macros, "-a", str(HERE / row.model)], folder)
        run(["cc", "-w", optimization, "-DSAFETY", f"-DMEMLIM={MEGABYTES}", "-o", "pan", "pan.c"], folder)
        printed = run(["./pan", f"-m{DEPTH}"], folder)
    states = re.search(r"(\d+) states, stored", printed)
    return outcome(printed), states[1] if states else "?"


def agrees(row: Row) -> bool:
    """Checks a row and prints its line."""
    start = time.monotonic()
    states = "?"
    try:
        found, states = search(row)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        found = str(error)
    seconds = time.monotonic() - start
    verdict = found if found == row.expected else f"DIFFERS: expected '{row.expected}', found '{found}'"
    print(f"{row.model} {row.macros}: {verdict}, {states} states, {seconds:.1f} s", flush=True)
    return found == row.expected


def main() -> int:
    missing = [program for program in ("spin", "cc") if shutil.which(program) is None]
    if missing:
        print(f"skipped: {' and '.join(missing)} not found")
        return SKIP
    with ThreadPoolExecutor(max_workers=2) as pool:
        rows = LONG_ROWS if sys.argv[1:] == ["--long"] else ROWS
        return 0 if all(list(pool.map(agrees, rows))) else 1


if __name__ == "__main__":
    sys.exit(main())
