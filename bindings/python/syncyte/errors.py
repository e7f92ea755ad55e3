"""Exceptions: one class per status of the C interface, each also derived from a built-in exception.

``except syncyte.Error`` catches all of them; ``.status`` is the code. A collective call raises the same class on all
ranks; if one rank's arguments are wrong, the message names that rank.
"""

from __future__ import annotations

from ._declarations import Status

__all__ = [
    "ArgumentError",
    "BusyError",
    "ChecksumError",
    "DtypeError",
    "Error",
    "FileFormatError",
    "HandleError",
    "InternalError",
    "LibraryError",
    "LimitError",
    "MPIError",
    "MismatchError",
    "MissingFileError",
    "NotFoundError",
    "NotInitialisedError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "PeerDiedError",
    "ShapeError",
    "StorageError",
    "UnsupportedError",
    "VersionError",
    "WaitInterruptedError",
    "WaitTimeoutError",
]


class Error(Exception):
    """Base of all errors of Syncyte."""

    status: int = Status.ERR_INTERNAL  #: code of the C interface

    def __str__(self) -> str:
        return self.args[0] if len(self.args) == 1 and isinstance(self.args[0], str) else super().__str__()


class ArgumentError(Error, ValueError):
    """An argument's value is not allowed."""

    status = Status.ERR_ARGUMENT


class HandleError(Error, ValueError):
    """The object was freed, or is null."""

    status = Status.ERR_HANDLE


class OutOfRangeError(Error, IndexError):
    """An index is out of range."""

    status = Status.ERR_INDEX


class DtypeError(Error, TypeError):
    """Unknown element type or kind of object, or the wrong one."""

    status = Status.ERR_TYPE


class ShapeError(Error, ValueError):
    """Wrong shape, size or strides."""

    status = Status.ERR_SHAPE


class MismatchError(Error, ValueError):
    """Ranks disagree."""

    status = Status.ERR_MISMATCH


class NotInitialisedError(Error, RuntimeError):
    """Syncyte or MPI is not started yet, or already finalised."""

    status = Status.ERR_NOT_INITIALISED


class OutOfMemoryError(Error, MemoryError):
    """Not enough memory on the machine, or in its cgroup."""

    status = Status.ERR_MEMORY


class UnsupportedError(Error, NotImplementedError):
    """Not available in this build, or for these arguments."""

    status = Status.ERR_UNSUPPORTED


class BusyError(Error, RuntimeError):
    """In use by another thread, or by an active request."""

    status = Status.ERR_BUSY


class PeerDiedError(Error, RuntimeError):
    """Another process died while it held a lock or changed data."""

    status = Status.ERR_PEER_DIED


class MPIError(Error, RuntimeError):
    """MPI reported an error."""

    status = Status.ERR_MPI


class StorageError(Error, OSError):
    """The operating system reported an error on a file."""

    status = Status.ERR_IO


class FileFormatError(Error, ValueError):
    """Not a file of Syncyte, or a truncated one."""

    status = Status.ERR_FORMAT


class ChecksumError(Error, ValueError):
    """Stored data is damaged."""

    status = Status.ERR_CHECKSUM


class NotFoundError(Error, KeyError):
    """No such key."""

    status = Status.ERR_NOT_FOUND


class MissingFileError(NotFoundError, FileNotFoundError):
    """No such file."""


class VersionError(Error, RuntimeError):
    """A library or file of another version."""

    status = Status.ERR_VERSION


class WaitTimeoutError(Error, TimeoutError):
    """A stated time limit passed."""

    status = Status.ERR_TIMEOUT


class InternalError(Error, RuntimeError):
    """A defect of Syncyte; please report it."""

    status = Status.ERR_INTERNAL


class LimitError(Error, OSError):
    """The limit on open files is reached; the message names it."""

    status = Status.ERR_LIMIT


class WaitInterruptedError(Error, RuntimeError):
    """A signal, such as Ctrl-C, has ended a collective on this rank: its communicator cannot be used any more."""

    status = Status.ERR_INTERRUPTED


class LibraryError(VersionError, ImportError):
    """A shared library of Syncyte is missing, cannot be loaded, or is of another version than this package."""


_CLASSES: dict[int, type[Error]] = {
    int(cls.status): cls
    for cls in (
        ArgumentError,
        HandleError,
        OutOfRangeError,
        DtypeError,
        ShapeError,
        MismatchError,
        NotInitialisedError,
        OutOfMemoryError,
        UnsupportedError,
        BusyError,
        PeerDiedError,
        MPIError,
        StorageError,
        FileFormatError,
        ChecksumError,
        NotFoundError,
        VersionError,
        WaitTimeoutError,
        InternalError,
        LimitError,
        WaitInterruptedError,
    )
}

# Statuses that other ranks get for an exception of another library: that of the first class that matches.
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


def from_status(status: int, message: str) -> Error:
    """Returns the exception for a status; `message` is the text of syncyte_last_error()."""
    error = _CLASSES.get(status, Error)(message)
    error.status = status
    return error


def status_of(error: BaseException) -> int:
    """Returns the status that matches an exception best."""
    if isinstance(error, Error):
        return int(error.status)
    return next((int(status) for cls, status in _BUILTINS if isinstance(error, cls)), int(Status.ERR_INTERNAL))
