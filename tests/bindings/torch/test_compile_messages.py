# SPDX-License-Identifier: BSD-3-Clause
"""Messages of syncyte.torch within torch.compile(fullgraph=True)."""

import torch

from syncyte.torch import irecv, isend, join_dummies, recv, send


def ring(comm):
    return (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size


def exchange(x, comm):
    after, before = ring(comm)
    sent = isend(x * 2, after, 5, comm)
    received = irecv(join_dummies(torch.empty_like(x), [sent]), before, 5, comm)
    token = join_dummies(sent, [received]).wait()
    return join_dummies(received, [token]).wait() * x


def test_results_and_gradients(comm, generator, compiled):
    x = torch.randn(2, 3, dtype=torch.float64, generator=generator, requires_grad=True)
    expected = exchange(x, comm)
    (expected_gradient,) = torch.autograd.grad(expected.sum(), x)
    run = compiled(lambda t: exchange(t, comm))
    for _ in range(2):
        result = run(x)
        (gradient,) = torch.autograd.grad(result.sum(), x)
        assert torch.allclose(result, expected)
        assert torch.allclose(gradient, expected_gradient)


def test_unused_sends_and_waits_survive(comm, compiled):
    after, before = ring(comm)

    def forgetful(x):
        send(x, after, 1, comm)
        return x + 1

    run = compiled(forgetful)
    for value in range(2):
        assert torch.equal(run(torch.full((3,), float(value))), torch.full((3,), value + 1.0))
        assert torch.equal(recv(torch.empty(3), before, 1, comm), torch.full((3,), float(value)))


def test_a_compiled_receiver_knows_whether_its_sender_records_gradients(comm, compiled):
    after, before = ring(comm)
    run = compiled(lambda like: recv(like, before, 2, comm))
    sent = isend(torch.ones(3, requires_grad=True), after, 2, comm)
    try:
        requires_grad = run(torch.empty(3)).requires_grad
    except ValueError as error:
        assert "the sender records gradients, but the receiver does not" in str(error)
    else:
        assert requires_grad  # in the eager backend, which runs the receive itself
    sent.wait()


def test_opcheck(comm):
    ops = torch.ops.syncyte
    after, before = ring(comm)
    for x in (torch.ones(2, dtype=torch.float64, requires_grad=True), torch.ones(2)):
        for checks in ("test_schema", "test_autograd_registration", "test_faketensor"):
            torch.library.opcheck(ops.isend.default, (x, comm.handle, after, 0), test_utils=checks)
            torch.library.opcheck(ops.irecv.default, (x, comm.handle, before, 0), test_utils=checks)
