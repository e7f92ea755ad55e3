# SPDX-License-Identifier: BSD-3-Clause
"""Signals during a wait in the C library: a handler that raises ends the wait, a handler that returns does not."""

import contextlib
import gc
import signal
import threading
import weakref

import numpy as np
import pytest

import syncyte
from syncyte import _declarations as c
from syncyte import _library, _requests
from syncyte._buffers import as_buffer


class Told(Exception):
    """Raised by a handler."""


@contextlib.contextmanager
def signal_soon(handler, seconds=0.2):
    """Sends SIGALRM repeatedly, because the first one may arrive before the wait."""
    previous = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def ends(number, frame):
    raise Told("enough")


def wait_for_request(world):
    request = world.irecv(np.zeros(3), world.rank, 77)
    try:
        request.wait()
    finally:
        assert not request.test()
        world.send(np.zeros(3), world.rank, 77)
        assert request.wait().tag == 77


WAITS = {
    "recv": lambda world: world.recv(np.zeros(3), world.rank, 78),
    "send": lambda world: world.send(np.zeros(100000), world.rank, 79),
    "sendrecv": lambda world: world.sendrecv(np.zeros(3), world.rank, np.zeros(3), world.rank, 80, 81),
    "request": wait_for_request,
    "counter": lambda world: syncyte.WholeTensor((1,), "int64", comm=syncyte.COMM_SELF).wait(0, ">=", 1),
}


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_ends_with_what_the_handler_raises(world, name):
    with pytest.raises(Told, match="enough"), signal_soon(ends):
        WAITS[name](world)
    if name == "send":
        world.recv(np.zeros(100000), world.rank, 79)
    if name == "sendrecv":
        world.recv(np.zeros(3), world.rank, 80)


def test_no_result_is_lost_to_a_handler_that_raises(world):
    """The signal comes shortly before the message, so that the handler runs in the wait or right after it."""
    for number in range(10):
        out = np.zeros(1)
        request = world.irecv(out, world.rank, 82)
        sender = threading.Timer(0.05, lambda sent=number: world.send(np.full(1, float(sent)), world.rank, 82))
        sender.start()
        wait = [lambda: request.wait(), lambda: syncyte.wait_any([request])[1], lambda: syncyte.wait_all([request])[0]]
        with signal_soon(ends, 0.045):
            try:
                status = wait[number % 3]()
            except Told:
                status = None
        sender.join()
        status = status or wait[number % 3]()
        assert (status.tag, out[0]) == (82, number)


def test_wait_all_keeps_the_results_that_it_has(world):
    outs = np.zeros((2, 1))
    requests = [world.irecv(out, world.rank, 83 + place) for place, out in enumerate(outs)]
    world.send(np.ones(1), world.rank, 83)
    with pytest.raises(Told), signal_soon(ends):
        syncyte.wait_all(requests)
    world.send(np.ones(1), world.rank, 84)
    assert [status.tag for status in syncyte.wait_all(requests)] == [83, 84]
    assert outs.tolist() == [[1.0], [1.0]]


def test_after_a_collective_its_communicator_is_out_of_step(world):
    part = world.dup()
    if world.rank == 0 and world.size > 1:
        with pytest.raises(Told), signal_soon(ends):
            part.barrier()
        with pytest.raises(syncyte.WaitInterruptedError, match="is out of step with the others"):
            part.barrier()
    world.barrier()


def test_a_handler_that_returns_lets_the_wait_go_on(world):
    calls = []

    def answers(number, frame):
        calls.append(number)
        if len(calls) == 2:
            world.send(np.ones(3), world.rank, 82)  # the message that the wait expects

    received = np.zeros(3)
    with signal_soon(answers, 0.15):
        world.recv(received, world.rank, 82)
    assert received.tolist() == [1, 1, 1]
    assert len(calls) >= 2


def halo_of(world):
    return syncyte.Halo(world.cartesian([world.size]), [3], "float32", 0)


STARTS = {
    "comm_isend": lambda world, array: world.isend(array, world.rank),
    "comm_irecv": lambda world, array: world.irecv(array, world.rank),
    "comm_iallreduce": lambda world, array: world.iallreduce(array),
    "halo_iexchange": lambda world, array: halo_of(world).iexchange(array),
    "store_worker_ipush": lambda world, array: syncyte.Store(3, 1).worker().ipush([0, 1, 2], array),
    "tensor_iscatter": lambda world, array: syncyte.WholeTensor((3,), "float32").iscatter_([0, 1, 2], array),
    "window_iput": lambda world, array: syncyte.Window(12).iput(0, 0, array),
}


@pytest.mark.parametrize("name", STARTS)
def test_a_start_that_a_handler_interrupts_keeps_its_array_until_the_end(world, name, monkeypatch):
    core = _library.core()
    receive, message, status = core.syncyte_comm_irecv, np.zeros(1), _library.new_struct(c.MessageStatus)
    described = as_buffer(message, "message", writable=True)

    def interrupted(*arguments):
        """Starts a receive in place of the operation; a handler raises as soon as the C function has returned."""
        receive(world.handle, world.rank, 92, None, described.reference, status, arguments[-1])
        raise Told("after the start")

    array = np.ones(3, np.float32)
    alive = weakref.ref(array)
    with monkeypatch.context() as patch, pytest.raises(Told):
        patch.setattr(core, f"syncyte_{name}", interrupted)
        STARTS[name](world, array)
    del array
    gc.collect()
    _requests.reap()
    assert alive() is not None
    world.send(np.ones(1), world.rank, 92)
    while alive() is not None:
        _requests.reap()
    assert message == 1
