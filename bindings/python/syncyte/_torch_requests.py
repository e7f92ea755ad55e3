# SPDX-License-Identifier: BSD-3-Clause
"""Differentiable requests and messages, and the order of communications in the graph."""

from __future__ import annotations

import abc
import dataclasses
import typing
from collections.abc import Callable, Iterable, Sequence

import torch

from ._checks import check_kind
from ._requests import wait_each
from ._torch_operators import operators
from ._torch_refusals import check_tensor, refuse
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import DtypeError, UnsupportedError

__all__ = ["Request", "irecv", "isend", "join_dummies", "ordered", "recv", "send", "sendrecv", "wait_all"]


@dataclasses.dataclass(frozen=True)
class Request(abc.ABC):
    """An operation in flight. It owns the memory that MPI reads or writes.

    A request is waited for once; a second time raises RuntimeError. One that is dropped without a wait is completed
    later, with a warning in the log.
    """

    ticket: torch.Tensor  #: a float64 scalar; its place in the graph is the request's: see :func:`join_dummies`
    comm: int

    @abc.abstractmethod
    def wait(self) -> torch.Tensor:
        """Waits for the end, and returns the result."""

    def test(self) -> bool:
        """Whether wait() would return at once. Not in compiled functions."""
        return operators.test_message(self.ticket)


def wait_all(requests: Iterable[Request]) -> list[torch.Tensor]:
    """Waits for all requests.

    Parameters
    ----------
    requests : iterable of Request
        Requests of this module.

    Returns
    -------
    list of torch.Tensor
        Their results, in their order.

    Raises
    ------
    Exception
        The first error, after all have ended.
    """
    return wait_each(requests, Request)


Joined = typing.TypeVar("Joined", torch.Tensor, Request)


def join_dummies(value: Joined, dummies: Sequence[torch.Tensor | Request]) -> Joined:
    """``value``, which autograd takes to depend on ``dummies`` too; local.

    So backward runs the dummies' operations after the operations that use the result; the dummies' gradients are 0.

    Parameters
    ----------
    value : torch.Tensor or Request
        A request stands for its ticket.
    dummies : sequence of torch.Tensor or Request
        Tensors and requests on which it depends.

    Returns
    -------
    torch.Tensor or Request
        ``value`` itself if no dummy requires gradients.

    Raises
    ------
    DtypeError
        One is no tensor and no request.
    """
    check_kind(value, (torch.Tensor, Request), "value", "a torch.Tensor or a request")
    if not isinstance(dummies, (list, tuple)):
        raise DtypeError(f"dummies is {dummies!r}; expected a list of tensors or requests")
    for place, dummy in enumerate(dummies):
        check_kind(dummy, (torch.Tensor, Request), f"dummies[{place}]", "a torch.Tensor or a request")
    tickets = [dummy.ticket if isinstance(dummy, Request) else dummy for dummy in dummies]
    if isinstance(value, Request):
        return dataclasses.replace(value, ticket=operators.join_dummies(value.ticket, tickets))
    return operators.join_dummies(value, tickets)


class ordered:
    """A scope in which communications follow each other in the graph too, in the order in which they are called.

    For example::

        with syncyte.torch.ordered() as order:
            syncyte.torch.send(x, dest=1)        # its result is not used
            y = syncyte.torch.bcast(z, root=0)
            loss = order.join(f(x))

    Within it every operation of this thread (collectives, messages, what is started and waited for, halos; also through
    torch.ops and TorchScript) depends on the one before, and a joined tensor on the last one. Backward of the joined
    tensor runs all their backward passes, in exactly the reverse order, whether or not their results are used; no
    :func:`join_dummies` is needed. Values and gradients are those of the program without the scope.

    Operations without a backward pass (inputs that need no gradient, torch.no_grad()) take no part; a receive always
    does. Nested scopes are part of the outermost one. After a backward pass the scope drops the graph: later operations
    do not depend on it, so that a scope may last for many steps. Results that are differentiated separately need scopes
    of their own, or backward before the next scope begins.

    With is_grads_batched=True the order is lost (an operation whose result a rank does not use is then not run there):
    differentiate one gradient at a time.

    Not inside torch.compile (UnsupportedError), where operations keep their order anyway but are left out if the
    differentiated result does not depend on them. A compiled function that is called within a scope is put in order by
    joining its input and its result: ``y = order.join(compiled(order.join(x)))``.
    """

    def __enter__(self) -> ordered:
        if torch.compiler.is_compiling():
            raise UnsupportedError(
                "syncyte.torch.ordered() does not work inside torch.compile: open the scope outside "
                "of the compiled function, and join its input and result"
            )
        operators.enter_order()
        return self

    def __exit__(self, *_: object) -> None:
        operators.leave_order()

    def join(self, value: Joined) -> Joined:
        """``value``, which depends on all operations of the scope so far; operations that follow depend on it. Local.

        Parameters
        ----------
        value : torch.Tensor or Request
            A floating-point or complex tensor, or a request.

        Returns
        -------
        torch.Tensor or Request
            It requires gradients if an operation before does.
        """
        if isinstance(value, Request):
            return dataclasses.replace(value, ticket=self.join(value.ticket))
        if torch.compiler.is_compiling():
            raise UnsupportedError(
                "ordered().join() does not work inside torch.compile: join the compiled function's input and result"
            )
        return operators.join_order(value)


@dataclasses.dataclass(frozen=True)
class MessageRequest(Request):
    """A message in flight."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    is_receive: bool

    def wait(self) -> torch.Tensor:
        """Waits; returns the received tensor, or for a send a zero, on which the differentiated result must depend.

        See :func:`join_dummies`: backward receives the gradient there. What is received requires gradients if the
        tensor given to :func:`irecv` does, or if the sender's does.

        Raises
        ------
        ValueError
            The message has another dtype or shape than expected.
        """
        value, _ = operators.wait_message(self.ticket, self.comm, self.shape, self.dtype, self.is_receive)
        return value


def _started(
    operator: Callable[..., torch.Tensor],
    tensor: torch.Tensor,
    name: str,
    peer: int,
    tag: int,
    comm: Comm,
    is_receive: bool,
) -> Request:
    handle = comm_or_world(comm).handle
    try:
        ticket = operator(tensor, handle, peer, tag)
    except Exception as error:
        refuse(error, tensor, name)
        raise
    return MessageRequest(ticket, handle, tuple(tensor.shape), tensor.dtype, is_receive)


def isend(tensor: torch.Tensor, dest: int, tag: int = 0, comm: Comm = COMM_WORLD) -> Request:
    """Starts to send a tensor; does not wait. Local. The tensor is copied and may be changed at once.

    Differentiable, any number of times: with y_dest = x the adjoint is the message back, xbar = ybar_dest, which
    backward receives: so the wait's result must be joined with what is differentiated.

    Parameters
    ----------
    tensor : torch.Tensor
        Any shape, any dtype of Syncyte, any strides, on any device.
    dest : int
        The rank that receives.
    tag : int
        0 or more.
    comm : Comm
        The ranks.

    Returns
    -------
    Request

    Raises
    ------
    TypeError
        Not a tensor, an argument that is no number.
    ValueError
        dest is no rank, tag is negative, comm is None.
    NotImplementedError
        A sparse, quantised, nested or meta tensor; a tangent, in forward mode.
    """
    return _started(operators.isend, tensor, "tensor", dest, tag, comm, is_receive=False)


def irecv(like: torch.Tensor, source: int, tag: int = 0, comm: Comm = COMM_WORLD) -> Request:
    """Starts to receive a tensor, which :meth:`Request.wait` returns; does not wait. Local.

    Parameters
    ----------
    like : torch.Tensor
        Says shape and dtype, and the receive's place in the graph if it requires gradients: it gets zeros. Its elements
        are neither read nor written.
    source : int
        A rank, or -1: any rank.
    tag : int
        The sender's tag, or -1: any tag.
    comm : Comm
        The ranks.

    Returns
    -------
    Request
        Its wait() raises ValueError if the message has another dtype or shape, or if the sender records gradients and
        this rank does not.

    Raises
    ------
    TypeError, NotImplementedError
        As :func:`isend`.
    ValueError
        source is no rank, comm is None.
    """
    return _started(operators.irecv, like, "like", source, tag, comm, is_receive=True)


def send(tensor: torch.Tensor, dest: int, tag: int = 0, comm: Comm = COMM_WORLD) -> torch.Tensor:
    """As :func:`isend`, and waits.

    Parameters
    ----------
    tensor, dest, tag, comm
        As of :func:`isend`.

    Returns
    -------
    torch.Tensor
        The zero to be joined with what is differentiated.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As :func:`isend`.
    """
    return isend(tensor, dest, tag, comm).wait()


def recv(like: torch.Tensor, source: int, tag: int = 0, comm: Comm = COMM_WORLD) -> torch.Tensor:
    """As :func:`irecv`, and waits.

    Parameters
    ----------
    like, source, tag, comm
        As of :func:`irecv`.

    Returns
    -------
    torch.Tensor
        The received tensor.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As :func:`irecv` and its wait.
    """
    return irecv(like, source, tag, comm).wait()


def sendrecv(
    tensor: torch.Tensor,
    dest: int,
    like: torch.Tensor,
    source: int,
    tag: int = 0,
    recv_tag: int | None = None,
    comm: Comm = COMM_WORLD,
) -> torch.Tensor:
    """Sends one tensor and receives another, without deadlock.

    Parameters
    ----------
    tensor, dest, tag
        As of :func:`isend`.
    like, source
        As of :func:`irecv`.
    recv_tag : int, optional
        The sender's; None: tag.
    comm : Comm
        The ranks.

    Returns
    -------
    torch.Tensor
        The received tensor, joined with the send.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As :func:`isend`, :func:`irecv` and its wait.
    """
    check_tensor(like, "like")
    sent = isend(tensor, dest, tag, comm)
    received = irecv(join_dummies(like, [sent.ticket]), source, tag if recv_tag is None else recv_tag, comm).wait()
    return join_dummies(received, [sent.wait()])
