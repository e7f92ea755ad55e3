# SPDX-License-Identifier: BSD-3-Clause
"""Tests that go wrong in every way that the launcher has to handle; check_launcher.py runs them."""

import os
import signal
import time

import pytest


def on_last_rank(comm):
    return comm.rank == comm.size - 1


def test_good_before(comm):
    comm.barrier()


def test_raises_on_one_rank(comm):
    if on_last_rank(comm):
        raise ValueError("only here")


def test_hangs_on_one_rank(comm):
    if on_last_rank(comm):
        time.sleep(3600)


def test_raises_while_others_wait(comm):
    assert not on_last_rank(comm), "left early"
    comm.barrier()


def test_segfaults(comm):
    if on_last_rank(comm):
        os.kill(os.getpid(), signal.SIGSEGV)
    comm.barrier()


def test_exits(comm):
    if on_last_rank(comm):
        os._exit(9)
    comm.barrier()


def test_leaves_a_message(comm):
    if on_last_rank(comm):
        comm.send("nobody reads this", dest=0, tag=7)


@pytest.mark.parametrize("case", [1, 2])
def test_one_case_fails(comm, case):
    assert case == 1 or not on_last_rank(comm)


def test_skips_everywhere():
    pytest.skip("this machine has no such thing")


def test_is_left_out():
    raise AssertionError("it runs")


def test_good_after(comm):
    comm.barrier()
