# SPDX-License-Identifier: BSD-3-Clause
"""Messages between two ranks of a communicator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from . import _declarations as c
from . import _library
from ._buffers import Buffer, as_buffer
from ._checks import as_int32, wrong
from ._handles import Handle
from ._requests import MessageStatus, Request, reap, start
from .errors import DtypeError, Error

ANY = c.ANY  #: source of a receive: any rank; tag of a receive: any tag
PROC_NULL = c.PROC_NULL  #: source or destination: no rank; such a message completes at once and changes nothing


def _outgoing(array: Any, recorded_by: str) -> Buffer:
    return as_buffer(array, "array", contiguous=False, recorded_by=recorded_by)


def _incoming(array: Any, name: str = "out") -> Buffer:
    return as_buffer(array, name, writable=True, contiguous=False)


_interrupted: list[Buffer] = []  # kept alive, because MPI may read them until finalize


@contextlib.contextmanager
def _kept_if_interrupted(sent: Buffer) -> Iterator[None]:
    try:
        yield
    except Error:
        raise
    except BaseException:
        _interrupted.append(sent)
        raise


def _answer(status: Any) -> MessageStatus:
    return MessageStatus(status.source, status.tag)


class MessageMethods(Handle):
    """The part of syncyte.Comm with point-to-point messages. All methods are local.

    Only the caller gets an error before sending. A message carries element type and shape; a receive into an array with
    others raises MismatchError. Arrays may have any strides; memory between their elements is not written.
    """

    def send(self, array: Any, dest: int, tag: int = 0) -> None:
        """Sends an array, or a number.

        Returns when its memory may be used again, possibly before the receive.

        Parameters
        ----------
        array : array or number
            Array to send.
        dest : int
            Rank of the receiver, or PROC_NULL.
        tag : int
            0 or more.
        """
        buffer = _outgoing(array, "send")
        number, label = as_int32(dest, "dest"), as_int32(tag, "tag")
        with _kept_if_interrupted(buffer):
            _library.core().syncyte_comm_send(self.handle, buffer.reference, number, label, None)

    def recv(self, out: Any, source: int = ANY, tag: int = ANY) -> MessageStatus:
        """Receives into an array; waits for the message.

        Parameters
        ----------
        out : array
            Array to fill, of the message's element type and shape.
        source : int
            Rank of the sender, ANY or PROC_NULL.
        tag : int
            The sender's tag, or ANY.

        Returns
        -------
        MessageStatus
            Sender and tag.

        Raises
        ------
        MismatchError
            The message has another element type or shape.
        """
        reap()
        buffer = _incoming(out)
        number, label = as_int32(source, "source"), as_int32(tag, "tag")
        status = _library.core().output("syncyte_comm_recv", self.handle, number, label, None, buffer.reference)
        buffer.mark_written()
        return _answer(status)

    def isend(self, array: Any, dest: int, tag: int = 0) -> Request[None]:
        """Starts to send an array, which must not change until the request has ended, and does not wait.

        Parameters
        ----------
        array, dest, tag
            As of send().

        Returns
        -------
        Request
            The request; its result is None.
        """
        if not hasattr(array, "shape"):
            raise wrong(DtypeError, "array", f"a {type(array).__name__}", "a numpy array or a torch tensor")
        buffer = _outgoing(array, "isend")
        arguments = self.handle, buffer.reference, as_int32(dest, "dest"), as_int32(tag, "tag"), None
        return start("syncyte_comm_isend", *arguments, arrays=buffer, finish=lambda: None, operation="isend")

    def irecv(self, out: Any, source: int = ANY, tag: int = ANY) -> Request[MessageStatus]:
        """Starts to receive into an array, which must not be read until the request has ended, and does not wait.

        Parameters
        ----------
        out, source, tag
            As of recv().

        Returns
        -------
        Request
            The request; its result is the MessageStatus. Errors as of recv().
        """
        buffer, status = _incoming(out), _library.new_struct(c.MessageStatus)
        number, label = as_int32(source, "source"), as_int32(tag, "tag")
        arguments = self.handle, number, label, None, buffer.reference, status

        def finish() -> MessageStatus:
            buffer.mark_written()
            return _answer(status)

        return start("syncyte_comm_irecv", *arguments, arrays=(buffer, status), finish=finish, operation="irecv")

    def sendrecv(
        self, array: Any, dest: int, out: Any, source: int = ANY, send_tag: int = 0, recv_tag: int = ANY
    ) -> MessageStatus:
        """Sends one array and receives another, without deadlock; waits for both. They must not share memory.

        Parameters
        ----------
        array, dest, send_tag
            As of send().
        out, source, recv_tag
            As of recv().

        Returns
        -------
        MessageStatus
            Sender and tag. Errors as of recv().
        """
        reap()
        outgoing, incoming = _outgoing(array, "sendrecv"), _incoming(out)
        to, label = as_int32(dest, "dest"), as_int32(send_tag, "send_tag")
        receive = as_int32(source, "source"), as_int32(recv_tag, "recv_tag"), None, incoming.reference
        with _kept_if_interrupted(outgoing):
            status = _library.core().output(
                "syncyte_comm_sendrecv", self.handle, outgoing.reference, to, label, *receive
            )
        incoming.mark_written()
        return _answer(status)
