# SPDX-License-Identifier: BSD-3-Clause
"""A signal during a wait of syncyte.torch: what its handler raises comes out, as of the methods of syncyte.Comm."""

import contextlib
import signal

import pytest
import torch

import syncyte
from ranks import works
from syncyte import torch as sct

LIKE = torch.zeros(3)


@contextlib.contextmanager
def interrupted():
    """Expects a KeyboardInterrupt, which a signal raises soon."""

    def handler(number, frame):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def compiled_receive(comm, tag):
    run = torch.compile(lambda like: sct.recv(like, comm.rank, tag, comm) + 1, fullgraph=True, backend="aot_eager")
    sct.send(torch.ones(3), comm.rank, tag, comm)
    assert run(LIKE).tolist() == [2, 2, 2]
    return lambda: run(LIKE)


RECEIVES = {
    "recv": lambda comm, tag: lambda: sct.recv(LIKE, comm.rank, tag, comm),
    "sendrecv": lambda comm, tag: lambda: sct.sendrecv(LIKE, syncyte.PROC_NULL, LIKE, comm.rank, tag, comm=comm),
    "wait_all": lambda comm, tag: lambda: sct.wait_all([sct.irecv(LIKE, comm.rank, tag, comm)]),
    "operator": lambda comm, tag: lambda: torch.ops.syncyte.recv(LIKE, comm.handle, comm.rank, tag),
    "operator wait_all": lambda comm, tag: (
        lambda: torch.ops.syncyte.wait_all([torch.ops.syncyte.irecv(LIKE, comm.handle, comm.rank, tag)])
    ),
}


def check_that_it_ends(comm, tag, receive):
    with interrupted():
        receive()
    sct.send(torch.ones(3), comm.rank, tag, comm)  # for the receive that was begun
    assert works()


@pytest.mark.parametrize("tag, name", enumerate(RECEIVES, 70))
def test_receives(comm, tag, name):
    check_that_it_ends(comm, tag, RECEIVES[name](comm, tag))


def test_a_compiled_receive(comm):
    check_that_it_ends(comm, 79, compiled_receive(comm, 79))


def test_a_request_can_be_waited_for_again(comm):
    request = sct.irecv(LIKE, comm.rank, 80, comm)
    with interrupted():
        request.wait()
    sct.send(torch.ones(3), comm.rank, 80, comm)
    assert request.wait().tolist() == [1, 1, 1]


def test_backward_passes(comm):
    x = torch.ones(3, requires_grad=True)
    sent = sct.isend(x, comm.rank, 81, comm)
    received = sct.recv(LIKE.clone().requires_grad_(), comm.rank, 81, comm)
    token = sent.wait()
    with interrupted():
        token.backward()  # waits for the cotangent
    received.sum().backward()  # sends it
    assert works()


def collectives(comm):
    """Waits for the other ranks of a communicator; what they need is made by all ranks."""
    x = torch.ones(3, requires_grad=True)
    result = sct.allreduce(x, comm)
    halo = syncyte.Halo(comm.cartesian([0], True), (4,), "float32", 1)
    return {
        "allreduce": lambda: sct.allreduce(LIKE, comm),
        "its backward": lambda: result.sum().backward(),
        "barrier": lambda: sct.barrier(comm),
        "bcast_": lambda: sct.bcast_(LIKE.clone(), comm.size - 1, comm),
        "allgather_along without counts": lambda: sct.allgather_along(LIKE, comm=comm),
        "iallreduce": lambda: sct.iallreduce(LIKE, comm).wait(),
        "halo": lambda: sct.halo_exchange(torch.zeros(4), halo),
    }


def test_collectives_for_which_the_other_ranks_do_not_come(comm):
    if comm.size == 1:
        pytest.skip("needs another rank")
    for name in collectives(comm):
        call = collectives(comm.dup())[name]  # of a communicator that is out of step afterwards
        if comm.rank == 0:
            with interrupted():
                call()
        assert works(), name
