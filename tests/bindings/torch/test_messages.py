# SPDX-License-Identifier: BSD-3-Clause
"""Messages of syncyte.torch: values, gradients of any order, order of backward, and errors of wrong use."""

import ctypes
import gc

import pytest
import torch
from mpi4py import MPI

import syncyte
from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from resident_memory import smallest_growth
from rings import both_ways, chain, receive_from_anybody, start_then_wait
from syncyte.torch import irecv, isend, join_dummies, recv, send, sendrecv, wait_all

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE
PROC_NULL = syncyte.PROC_NULL

needs_two = pytest.mark.skipif(SIZE < 2, reason="one rank has no other rank to send to")


def of_rank(rank: int, *shape: int) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float64).reshape(shape) + 100 * rank


def start_then_receive(x: torch.Tensor) -> torch.Tensor:
    sent = isend(x, NEXT)
    got = recv(join_dummies(torch.empty_like(x), [sent]), PREVIOUS)
    return join_dummies(got, [join_dummies(sent, [got]).wait()])


def strided(x: torch.Tensor) -> torch.Tensor:
    return start_then_wait(torch.cat([x, x]).t()[:, ::2]).t() + x


LINEAR = [start_then_wait, start_then_receive, receive_from_anybody, both_ways, strided, chain]


@pytest.mark.parametrize("exchange", [start_then_wait, start_then_receive, receive_from_anybody])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (40, 50), (3, 1, 2)])
def test_go_round_in_a_ring(exchange, shape):
    torch.testing.assert_close(exchange(of_rank(RANK, *shape)), of_rank(PREVIOUS, *shape), rtol=0, atol=0)


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.complex64,
        torch.complex128,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.uint8,
        torch.uint16,
        torch.uint32,
        torch.uint64,
        torch.bool,
    ],
)
def test_every_dtype(dtype):
    assert torch.equal(start_then_wait(of_rank(RANK, 7).to(dtype)), of_rank(PREVIOUS, 7).to(dtype))


@pytest.mark.parametrize("function", LINEAR, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradients(function, dtype):
    x = torch.randn(2, 3, dtype=dtype)
    distributed_gradcheck(function, [x])
    distributed_gradcheck(lambda x: function(x * x) * x, [x], tolerance=1e-5)


@pytest.mark.parametrize("function", LINEAR, ids=lambda function: function.__name__)
def test_second_gradients(function):
    x = torch.randn(2, 2, dtype=torch.float64)
    distributed_gradgradcheck(lambda x: function(x * x) * x, [x])


def test_third_gradients():
    x = torch.tensor([1.5, -0.5], dtype=torch.float64, requires_grad=True)
    values = [x]
    value = (start_then_wait(x) ** 4).sum()
    for _ in range(3):
        (gradient,) = torch.autograd.grad(value, x, create_graph=True)
        value = gradient.sum()
        values.append(gradient)
    torch.testing.assert_close(values[-1].detach(), 24 * x.detach())


def test_seven_derivatives_and_no_more():
    """Each derivative of a message is a message in the opposite direction."""
    point = of_rank(RANK, 3).requires_grad_()
    value = start_then_wait(point)
    for order in range(1, 8):
        cotangent = of_rank(RANK + 10 * order, 3).requires_grad_()
        (value,) = torch.autograd.grad(value, point, cotangent, create_graph=True)
        point = cotangent
        torch.testing.assert_close(value, of_rank((NEXT if order % 2 else PREVIOUS) + 10 * order, 3), rtol=0, atol=0)
    with pytest.raises(NotImplementedError, match="messages can be differentiated 7 times"):
        torch.autograd.grad(value, point, torch.ones_like(value))
    del value, point, cotangent
    gc.collect()
    torch.testing.assert_close(start_then_wait(of_rank(RANK, 2)), of_rank(PREVIOUS, 2))  # messages still work


@needs_two
def test_answers_find_their_messages_where_tags_begin_again():
    """Cotangents are sent with the message's number as tag. Numbers wrap round at MPI's highest tag."""
    highest = ctypes.c_int32()
    syncyte._library.core().syncyte_message_highest_tag(ctypes.byref(highest))
    last = torch.ops.syncyte.skip_message_numbers(0)
    torch.ops.syncyte.skip_message_numbers(highest.value - 2 - last % (highest.value + 1))
    x = [torch.full((2,), float(i), dtype=torch.float64, requires_grad=True) for i in range(6)]
    y = [start_then_wait(each) for each in x]  # numbers from highest - 1 on: the third has tag 0
    assert torch.ops.syncyte.skip_message_numbers(0) > highest.value
    for i in reversed(range(6)):
        y[i].backward(torch.full_like(y[i], 10.0 * RANK + i))
        torch.testing.assert_close(x[i].grad, torch.full_like(x[i], 10.0 * NEXT + i), rtol=0, atol=0)


@needs_two
def test_what_is_received_follows_its_sender():
    x = torch.ones(2, dtype=torch.float64, requires_grad=RANK % 2 == 0)
    sent = isend(x, NEXT)
    got = recv(torch.empty(2, dtype=torch.float64), PREVIOUS)
    token = sent.wait()
    assert got.requires_grad == (PREVIOUS % 2 == 0)
    loss = join_dummies((got * (RANK + 1)).sum(), [token])
    if loss.requires_grad:
        loss.backward()
    if x.requires_grad:
        torch.testing.assert_close(x.grad, torch.full_like(x, NEXT + 1), rtol=0, atol=0)


@needs_two
def test_backward_in_another_order_than_the_other_rank():
    if RANK > 1:
        return
    x = [torch.full((3,), float(i), dtype=torch.float64, requires_grad=True) for i in range(2)]
    if RANK == 0:
        tokens = [send(each, 1) for each in x]
        for i in (0, 1):
            torch.autograd.backward(tokens[i], torch.zeros_like(tokens[i]), retain_graph=True)
        assert [each.grad.tolist() for each in x] == [[10.0] * 3, [20.0] * 3]
    else:
        got = [recv(torch.empty(3, dtype=torch.float64), 0) for _ in range(2)]
        for i in (1, 0):
            (got[i] * 10 * (i + 1)).sum().backward()


@needs_two
@pytest.mark.parametrize(
    "like, text",
    [
        (torch.empty(4, dtype=torch.float32), "is float64 of shape [4]; expected float32"),
        (torch.empty(2, 2, dtype=torch.float64), "of shape [4]; expected float64 of shape [2, 2]"),
        (torch.empty(3, dtype=torch.float64), "of shape [4]; expected float64 of shape [3]"),
        (torch.empty(3000, dtype=torch.float64), "of shape [4]; expected"),
    ],
)
def test_another_dtype_or_shape_is_the_receivers_error(like, text):
    sent = isend(of_rank(RANK, 4), NEXT)
    received = irecv(like, PREVIOUS)
    with pytest.raises(ValueError) as raised:
        received.wait()
    assert text in str(raised.value)
    sent.wait()


def test_nobody_sends_zeros_and_gives_zero_gradients():
    """PROC_NULL, as at the open border of a grid."""
    x = torch.full((3,), 2.0, dtype=torch.float64, requires_grad=True)
    token = send(x, PROC_NULL)
    got = recv(join_dummies(torch.full_like(x, 7), [x]), PROC_NULL)
    assert torch.equal(got.detach(), torch.zeros_like(x))
    join_dummies((x * 3 + got).sum(), [token]).backward()
    assert torch.equal(x.grad, torch.full_like(x, 3.0))


@needs_two
def test_an_error_that_test_has_raised_leaves_nothing_to_wait_for():
    sent = isend(torch.ones(3), NEXT)
    received = irecv(torch.empty(2), PREVIOUS)
    with pytest.raises(ValueError, match="expected float32"):
        while not received.test():
            pass
    with pytest.raises(RuntimeError, match="waited for already"):
        received.wait()
    sent.wait()


def test_wrong_arguments_are_named():
    x = torch.zeros(2)
    for call, text in [
        (lambda: isend(x, SIZE), f"dest is {SIZE}"),
        (lambda: isend(x, 0, -3), "tag is -3"),
        (lambda: irecv(x, -5), "source is -5"),
        (lambda: isend(x, 2**40), "dest is 1099511627776"),
    ]:
        with pytest.raises(ValueError) as raised:
            call()
        assert text in str(raised.value)


def test_a_second_wait_is_an_error_that_names_the_request():
    sent = isend(torch.zeros(2), NEXT, 11)
    recv(torch.zeros(2), PREVIOUS, 11)
    sent.wait()
    with pytest.raises(RuntimeError, match=f"isend to rank {NEXT}, tag 11 has been waited for already"):
        sent.wait()


def test_test_tells_when_a_message_has_come():
    received = irecv(torch.empty(3), PREVIOUS, 2)
    sent = isend(of_rank(RANK, 3).float(), NEXT, 2)
    while not received.test():
        pass
    assert received.test()
    assert torch.equal(received.wait(), of_rank(PREVIOUS, 3).float())
    wait_all([sent])


def test_a_dropped_request_warns_and_is_completed(capfd):
    isend(torch.ones(4), NEXT, 7)
    gc.collect()
    assert f"isend to rank {NEXT}, tag 7 was dropped without a wait" in capfd.readouterr().err
    assert torch.equal(recv(torch.empty(4), PREVIOUS, 7), torch.ones(4))


def test_a_sent_tensor_may_change_at_once():
    x = torch.ones(5000)
    sent = isend(x, NEXT)
    x.zero_()
    assert torch.equal(recv(torch.empty(5000), PREVIOUS), torch.ones(5000))
    sent.wait()


@pytest.mark.parametrize("start", [False, True], ids=["recv", "irecv"])
def test_defect_5_a_view_that_says_what_comes_is_not_written_nor_what_lies_beside_it(start):
    around = torch.full((4, 4), -1.0)
    for view in (around[:, 1], around[1], around.t()[::2, 1:3]):
        sent = isend(of_rank(RANK, *view.shape).float(), NEXT)
        got = irecv(view, PREVIOUS).wait() if start else recv(view, PREVIOUS)
        sent.wait()
        assert torch.equal(got, of_rank(PREVIOUS, *view.shape).float())
        assert torch.equal(around, torch.full((4, 4), -1.0))


def test_incoming_gradients_stay_as_they_were():
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    gradient = torch.full((3,), 2.0, dtype=torch.float64)
    y = start_then_wait(x)
    y.backward(gradient)
    assert torch.equal(gradient, torch.full((3,), 2.0, dtype=torch.float64))


def test_backward_without_the_wait_is_an_error():
    x = torch.ones(3, requires_grad=True)
    sent = isend(x, NEXT)
    recv(torch.empty(3), PREVIOUS)
    loss = join_dummies(torch.ones(()), [sent])
    with pytest.raises(RuntimeError, match="backward reached an isend, but not its wait"):
        loss.backward()
    sent.wait()


@needs_two
def test_a_receiver_without_gradients_refuses_a_sender_with():
    sent = isend(torch.ones(3, requires_grad=True), NEXT)
    with torch.no_grad(), pytest.raises(ValueError, match="the sender records gradients, but the receiver does not"):
        recv(torch.empty(3), PREVIOUS)
    sent.wait()


def test_forward_mode_is_refused():
    import torch.autograd.forward_ad as forward_ad

    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="carry no tangents"):
        isend(forward_ad.make_dual(torch.ones(2), torch.ones(2)), NEXT)


def test_joined_dummies_get_zeros_and_run_in_order():
    x, dummy = (torch.ones(2, requires_grad=True) for _ in range(2))
    y = join_dummies(x * 2, [dummy])
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert dummy.grad.tolist() == [0.0, 0.0]
    assert join_dummies(x, [torch.ones(1)]) is x


def test_on_a_part_of_the_ranks():
    part = syncyte.COMM_WORLD.split(RANK % 2)
    x = torch.full((2,), float(RANK), dtype=torch.float64, requires_grad=True)
    before = (part.rank - 1) % part.size
    y = sendrecv(x, (part.rank + 1) % part.size, torch.empty_like(x), before, comm=part)
    assert y[0] == 2 * before + RANK % 2
    (y * (RANK + 1)).sum().backward()
    assert x.grad[0] == 2 * ((part.rank + 1) % part.size) + RANK % 2 + 1


def test_memory_does_not_grow():
    def step() -> None:
        x = torch.ones(2000, dtype=torch.float64, requires_grad=True)
        start_then_wait(x).sum().backward()

    # Each step has 16 kB of data and several buffers: a round that leaks one of them adds 3.2 MB.
    assert WORLD.allreduce(smallest_growth(step, 200), op=MPI.MAX) < 1_000_000
