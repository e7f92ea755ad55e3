# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions: one class per status of the C interface, each also derived from a built-in exception.

``except syncyte.Error`` catches all of them; ``.status`` is the code. A collective call raises the same class on all
ranks; if one rank's arguments are wrong, the message names that rank. ``.fields`` has the parts of the message.
"""

from __future__ import annotations

from typing import NamedTuple

from ._declarations import Status

_classes: dict[int, type[Error]] = {}  # by status


class ErrorFields(NamedTuple):
    """Parts of an error's message. Fields that do not apply are empty, and -1 for numbers."""

    operation: str = ""  #: name of the C function without "syncyte_"
    object: str = ""  #: name of the object that the argument belongs to, or of the collective's communicator
    argument: str = ""  #: argument that is wrong, or fact that differs between ranks
    axis: int = -1  #: dimension of the argument if ndim is not 0, otherwise its position in a list
    ndim: int = 0  #: number of dimensions of the array that the error is about; 0: not about an array
    value: str = ""  #: value of the argument; if it differs between ranks, the values and their ranks
    expected: str = ""
    rank: int = -1  #: rank that failed: of the communicator in a collective, otherwise of COMM_WORLD
    agreed_rank: int = -1  #: this rank's number in the communicator whose ranks all got this error; -1: this rank alone


class Error(Exception):
    """Base of all errors of Syncyte."""

    status: int = Status.ERR_INTERNAL  #: code of the C interface
    fields: ErrorFields = ErrorFields()

    def __init_subclass__(cls, status: Status | None = None) -> None:
        if status is not None:
            cls.status = status
            _classes[status] = cls

    def __str__(self) -> str:
        return self.args[0] if len(self.args) == 1 and isinstance(self.args[0], str) else super().__str__()


class ArgumentError(Error, ValueError, status=Status.ERR_ARGUMENT):
    """An argument's value is not allowed."""


class HandleError(Error, ValueError, status=Status.ERR_HANDLE):
    """The object was freed, or is null."""


class OutOfRangeError(Error, IndexError, status=Status.ERR_INDEX):
    """An index is out of range."""


class DtypeError(Error, TypeError, status=Status.ERR_TYPE):
    """Unknown element type or kind of object, or the wrong one."""


class ShapeError(Error, ValueError, status=Status.ERR_SHAPE):
    """Wrong shape, size or strides."""


class MismatchError(Error, ValueError, status=Status.ERR_MISMATCH):
    """Ranks disagree."""


class NotInitializedError(Error, RuntimeError, status=Status.ERR_NOT_INITIALIZED):
    """Syncyte or MPI is not started yet, or already finalized."""


class OutOfMemoryError(Error, MemoryError, status=Status.ERR_MEMORY):
    """Not enough memory on the machine, or in its cgroup."""


class UnsupportedError(Error, NotImplementedError, status=Status.ERR_UNSUPPORTED):
    """Not available in this build, or for these arguments."""


class BusyError(Error, RuntimeError, status=Status.ERR_BUSY):
    """In use by another thread, or by an active request."""


class PeerDiedError(Error, RuntimeError, status=Status.ERR_PEER_DIED):
    """A rank has died, or data are damaged because it died while it changed them."""


class MPIError(Error, RuntimeError, status=Status.ERR_MPI):
    """MPI reported an error."""


class StorageError(Error, OSError, status=Status.ERR_IO):
    """The operating system reported an error on a file."""


class FileFormatError(Error, ValueError, status=Status.ERR_FORMAT):
    """Not a file of Syncyte, or a truncated one."""


class ChecksumError(Error, ValueError, status=Status.ERR_CHECKSUM):
    """Stored data is damaged."""


class NotFoundError(Error, KeyError, status=Status.ERR_NOT_FOUND):
    """No such key."""


class MissingFileError(NotFoundError, FileNotFoundError):
    """No such file."""


class VersionError(Error, RuntimeError, status=Status.ERR_VERSION):
    """A library or file of another version."""


class WaitTimeoutError(Error, TimeoutError, status=Status.ERR_TIMEOUT):
    """A stated time limit passed."""


class InternalError(Error, RuntimeError, status=Status.ERR_INTERNAL):
    """A defect of Syncyte; please report it."""


class LimitError(Error, OSError, status=Status.ERR_LIMIT):
    """The limit on open files is reached; the message names it."""


class WaitInterruptedError(Error, RuntimeError, status=Status.ERR_INTERRUPTED):
    """A signal, such as Ctrl-C, has ended a collective on this rank: its communicator cannot be used any more."""


class LibraryError(VersionError, ImportError):
    """A shared library of Syncyte is missing, cannot be loaded, or is of another version than this package."""


# A type checker reads the names here: it does not follow a list that is computed.
__all__ = [
    "ArgumentError", "BusyError", "ChecksumError", "DtypeError", "Error", "FileFormatError", "HandleError",
    "InternalError", "LibraryError", "LimitError", "MPIError", "MismatchError", "MissingFileError", "NotFoundError",
    "NotInitializedError", "OutOfMemoryError", "OutOfRangeError", "PeerDiedError", "ShapeError", "StorageError",
    "UnsupportedError", "VersionError", "WaitInterruptedError", "WaitTimeoutError",
]  # fmt: skip

# Statuses that other ranks get for an exception of another library; the first class that matches counts.
_BUILTINS: tuple[tuple[type[BaseException], int], ...] = (
    (IndexError, Status.ERR_INDEX),
    (KeyError, Status.ERR_NOT_FOUND),
    (TypeError, Status.ERR_TYPE),
    (NotImplementedError, Status.ERR_UNSUPPORTED),
    (ValueError, Status.ERR_ARGUMENT),
    (MemoryError, Status.ERR_MEMORY),
    (TimeoutError, Status.ERR_TIMEOUT),
    (OSError, Status.ERR_IO),
)


def from_status(status: int, message: str, fields: ErrorFields | None = None) -> Error:
    """Returns the exception for a status; `message` is the text of syncyte_last_error()."""
    error = _classes.get(status, Error)(message)
    error.status, error.fields = status, fields or ErrorFields()
    return error


def status_of(error: BaseException) -> int:
    """Returns the status that matches an exception best."""
    if isinstance(error, Error):
        return int(error.status)
    return next((int(status) for cls, status in _BUILTINS if isinstance(error, cls)), int(Status.ERR_INTERNAL))
