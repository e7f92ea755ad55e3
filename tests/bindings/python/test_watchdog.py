# SPDX-License-Identifier: BSD-3-Clause
"""The watchdog's report for Python programs: one job in which each rank hangs in a different place."""

import ctypes
import re

import pytest

from scripts import run
from syncyte import runtime

SCRIPT = """
import ctypes

def wait_for_a_flag():
    tensor.wait(0, "==", 1)

def hold_the_interpreter():
    ctypes.PyDLL(None).sleep(20)

tensor = syncyte.WholeTensor((1,), "int64")
syncyte.COMM_WORLD.barrier()
if rank == 0:
    wait_for_a_flag()
if rank == 1:
    syncyte.COMM_WORLD.barrier()
hold_the_interpreter()
"""


def test_the_report_says_at_which_line_every_rank_is(tmp_path):
    outcome = run(tmp_path, SCRIPT, ranks=3, SYNCYTE_WATCHDOG="2")
    assert outcome.status != 0
    for pattern in (
        r"rank 0 \(pid \d+\): inside tensor_wait on .* for [1-9][0-9.]* s\n +at \S+script\.py:\d+ in wait_for_a_flag\n",
        r"rank 1 \(pid \d+\): inside comm_barrier #\d+ on world for [0-9.]+ s.*\n +at \S+script\.py:\d+ in <module>\n",
        r"rank 2 \(pid \d+\): in no operation; .*\n +at unknown\n",
    ):
        assert re.search(pattern, outcome.output), outcome.output


@pytest.mark.parametrize("size", [1, 2, 5, 4096])
def test_the_line_is_cut_to_the_size_of_its_buffer(size, monkeypatch):
    monkeypatch.setattr(runtime, "_line", lambda: "file.py:12 in work")
    text = ctypes.create_string_buffer(b"#" * 4200, 4200)
    runtime._write_line(size, ctypes.addressof(text), None)
    assert text.value == b"file.py:12 in work"[max(0, 18 - size + 1) :]
    assert text.raw[len(text.value) + 1 :] == b"#" * (4199 - len(text.value))  # nothing is written beyond the text
