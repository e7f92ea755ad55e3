# SPDX-License-Identifier: BSD-3-Clause
"""A start that fails on one rank fails on all of them; the next start works. Needs a process without other tests."""

import pytest

import syncyte


def test_wrong_thread_level_on_one_rank(comm):
    last = comm.rank == comm.size - 1
    assert not syncyte.initialized()
    with pytest.raises(syncyte.ArgumentError, match="thread_level is 'many'" if last else "thread_level is -1"):
        syncyte.init("many" if last else "multiple")
    assert not syncyte.initialized()
    assert syncyte.COMM_WORLD.allreduce(1) == comm.size
