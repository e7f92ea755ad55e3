# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks: round a ring, blocking and non-blocking, dropped requests, and messages that do not match."""

import gc

import numpy as np
import pytest
import torch

import syncyte


@pytest.fixture
def ring(world):
    """The ranks after and before this one."""
    return (world.rank + 1) % world.size, (world.rank - 1) % world.size


def own(rank):
    return np.array([[rank, 10 + rank, 20 + rank], [1, 2, 3]], np.int32)


@pytest.mark.parametrize("kind", ["numpy", "torch", "strided"])
def test_round_a_ring(world, ring, kind):
    dest, source = ring
    if kind == "torch":
        array, out = torch.from_numpy(own(world.rank)), torch.zeros((2, 3), dtype=torch.int32)
        version = out._version
    else:
        array, out = own(world.rank), np.full((2, 3), -1, np.int32)
    if kind == "strided":
        wide = np.full((6, 2), -7, np.int32)
        array, out = np.asfortranarray(array), wide[::2].T
    status = world.sendrecv(array, dest, out, source, send_tag=5)
    assert status == (source, 5)
    assert np.array_equal(np.asarray(out), own(source))
    if kind == "torch":
        assert out._version > version  # so that autograd notices the write
    if kind == "strided":
        assert (wide[1::2] == -7).all()


def test_started_messages(world, ring):
    dest, source = ring
    outs = [np.zeros((2, 3), np.int32) for _ in range(2)]
    receives = [world.irecv(outs[0], source, 1), world.irecv(outs[1], syncyte.ANY, 2)]
    sends = [world.isend(own(world.rank), dest, 1), world.isend(own(world.rank + 50), dest, 2)]
    assert syncyte.wait_all(receives) == [(source, 1), (source, 2)]
    assert syncyte.wait_all(sends) == [None, None]
    assert np.array_equal(outs[0], own(source))
    assert np.array_equal(outs[1], own(source + 50))


def test_test_and_waiting_twice(world, ring):
    dest, source = ring
    out = np.zeros((2, 3), np.int32)
    request = world.irecv(out, source)
    sent = world.isend(own(world.rank), dest)
    while not request.test():
        pass
    assert request.test()
    assert np.array_equal(out, own(source))
    assert request.wait() == (source, 0)  # sender and tag
    with pytest.raises(syncyte.HandleError, match=r"irecv\(\) has ended, and has been waited for before"):
        request.wait()
    sent.wait()
    with pytest.raises(syncyte.HandleError, match="isend"):
        sent.wait()


def test_a_dropped_request_warns_and_is_completed(world, ring):
    from syncyte import _requests

    dest, source = ring
    out = np.zeros(3000, np.int32)
    view = out[:]
    with pytest.warns(ResourceWarning, match=r"a request of irecv\(\) was dropped"):
        world.irecv(view, source, 9)
        gc.collect()
    del view
    gc.collect()
    sent = world.isend(np.full(3000, world.rank, np.int32), dest, 9)
    while _requests._dropped:
        _requests.reap()
    assert (out == source).all()
    sent.wait()


def test_requests_dropped_in_the_middle_of_reap_are_kept(monkeypatch):
    from syncyte import _requests

    class Started:
        def __init__(self, over, drops=()):
            self.over, self.drops = over, list(drops)

        def is_over(self):
            _requests._dropped.extend(self.drops)
            self.drops = []
            return self.over

    late = Started(False)
    early = Started(False, [late])
    monkeypatch.setattr(_requests, "_dropped", [early, Started(True)])
    _requests.reap()
    assert sorted(map(id, _requests._dropped)) == sorted([id(early), id(late)])
    late.over = early.over = True
    _requests.reap()
    assert not _requests._dropped


def test_numbers_and_nobody(world, ring):
    out = np.zeros(())
    if world.size > 1 and world.rank == 0:
        world.send(2.5, 1)
    if world.rank == 1:
        assert world.recv(out, 0) == (0, 0)
        assert out == 2.5
    world.send([1, 2], syncyte.PROC_NULL)
    assert world.recv(out, syncyte.PROC_NULL).source == syncyte.PROC_NULL
    assert out == (2.5 if world.rank == 1 else 0)


def test_mismatches_are_the_receivers(world, ring):
    dest, source = ring
    for wrong in [np.zeros((2, 3)), np.zeros((3, 2), np.int32), np.zeros((2, 4), np.int32)[:, :2]]:
        sent = world.isend(own(world.rank), dest)
        with pytest.raises(syncyte.MismatchError, match="is int32 of shape"):
            world.recv(wrong, source)
        sent.wait()
        assert not wrong.any()


def test_wrong_arguments(world):
    array = np.zeros(3)
    with pytest.raises(ValueError, match="dest is"):
        world.send(array, world.size)
    with pytest.raises(ValueError, match="dest is"):
        world.sendrecv(array, world.size, np.zeros(3), world.rank, recv_tag=77)
    with pytest.raises(syncyte.ArgumentError, match=r"memory that is sent too.*clone\(\)"):
        world.sendrecv(array, world.rank, array, world.rank)
    started = world.irecv(array, world.rank, 78)
    with pytest.raises(syncyte.ArgumentError, match="wait for that message first"):
        world.recv(array[1:], world.rank, 79)
    world.send(np.ones(3), world.rank, 78)
    started.wait()
    with pytest.raises(ValueError, match="tag is -3"):
        world.send(array, 0, -3)
    with pytest.raises(TypeError, match="source is"):
        world.recv(array, 1.5)
    with pytest.raises(TypeError, match="expected a numpy array or a torch tensor"):
        world.isend(3.0, 0)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        world.irecv(frozen, 0)
