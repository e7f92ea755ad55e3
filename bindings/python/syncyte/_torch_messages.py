"""Differentiable messages between two ranks: what syncyte.torch offers of them."""

from __future__ import annotations

import dataclasses
import typing

import torch

from ._torch_refusals import not_a_tensor, refuse
from ._torch_requests import Request, join_dummies
from .comm import COMM_WORLD, comm_or_world

if typing.TYPE_CHECKING:
    from .comm import Comm

__all__ = ["irecv", "isend", "recv", "send", "sendrecv"]

_FOLLOW_THE_SENDER = 2  # values of wait_message's `gradients`: see its schema


@dataclasses.dataclass(frozen=True)
class MessageRequest(Request):
    """A message under way."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    is_receive: bool

    def wait(self) -> torch.Tensor:
        """What was received; of a message that was sent a zero, on which whatever is differentiated must depend.

        See :func:`join_dummies`: backward receives the gradient there. What is received requires gradients if the
        tensor given to :func:`irecv` does, or if the sender's does.

        Raises
        ------
        ValueError
            The message has another dtype or shape than expected.
        """
        return torch.ops.syncyte.wait_message(self.ticket, self.comm, self.shape, self.dtype, self.is_receive, 0,
                                              _FOLLOW_THE_SENDER)[0]


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
    handle = comm_or_world(comm).handle
    try:
        ticket = torch.ops.syncyte.isend(tensor, handle, dest, tag)
    except Exception as error:
        refuse(error, tensor, "tensor")
        raise
    return MessageRequest(ticket, handle, tuple(tensor.shape), tensor.dtype, False)


def irecv(like: torch.Tensor, source: int, tag: int = 0, comm: Comm = COMM_WORLD) -> Request:
    """Starts to receive a tensor, which :meth:`Request.wait` returns; does not wait. Local.

    Parameters
    ----------
    like : torch.Tensor
        Says shape and dtype, and the receive's place in the graph if it requires gradients: it gets zeros. Its elements
        are neither read nor written.
    source : int
        A rank, or -1: whoever sends.
    tag : int
        The sender's, or -1: whatever tag.
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
    handle = comm_or_world(comm).handle
    try:
        ticket = torch.ops.syncyte.irecv(like, handle, source, tag)
    except Exception as error:
        refuse(error, like, "like")
        raise
    return MessageRequest(ticket, handle, tuple(like.shape), like.dtype, True)


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
        What was received.

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
    """Sends one tensor and receives another, whoever comes first.

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
        What was received, joined with the send.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As :func:`isend`, :func:`irecv` and its wait.
    """
    if not isinstance(like, torch.Tensor):
        raise not_a_tensor(like, "like")
    sent = isend(tensor, dest, tag, comm)
    received = irecv(join_dummies(like, [sent.ticket]), source, tag if recv_tag is None else recv_tag, comm).wait()
    return join_dummies(received, [sent.wait()])
