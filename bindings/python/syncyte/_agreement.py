"""A communicator's ranks, and the agreement that passes an error on one rank to all of them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from . import _declarations as c
from . import _library
from ._checks import as_index
from ._handles import Handle
from ._types import Result
from .errors import DtypeError, status_of


class Agreement(Handle):
    """The ranks of a syncyte.Comm, and their agreement."""

    _rank: int | None
    _size: int | None

    @property
    def rank(self) -> int:
        """This process's number, 0 to size - 1. Local."""
        if self._rank is None:
            number = ctypes.c_int32()
            _library.core().syncyte_comm_rank(self.handle, ctypes.byref(number))
            self._rank = number.value
        return self._rank

    @property
    def size(self) -> int:
        """Number of ranks. Local."""
        if self._size is None:
            number = ctypes.c_int32()
            _library.core().syncyte_comm_size(self.handle, ctypes.byref(number))
            self._size = number.value
        return self._size

    @property
    def check(self) -> str:
        """Check level (SYNCYTE_CHECK): "off", "on" or "full". Local."""
        level = ctypes.c_int32()
        _library.core().syncyte_comm_check_level(self.handle, ctypes.byref(level))
        return ("off", "on", "full")[level.value]

    # Errors that Python finds on one rank.

    def _tell(self, error: BaseException, operation: str, lifecycle: bool = False) -> None:
        """Passes an error to the other ranks' agreement, for a collective that this rank cannot begin."""
        if not lifecycle and self.check == "off":
            return  # without an agreement, only this rank gets the error
        lib, status = _library.core(), status_of(error)
        lib.syncyte_error_set(status, str(error).encode("utf-8", "replace"))
        lib.unchecked("syncyte_comm_agree")(self.handle, status, operation.encode(), 0, None)

    def _prepare(self, operation: str, prepare: Callable[[], Result], lifecycle: bool = False) -> Result:
        """Runs a collective's local checks; if they fail, all ranks get the error."""
        try:
            return prepare()
        except Exception as error:
            self._tell(error, operation, lifecycle)
            raise

    # Collectives that move no data.

    def agree(self, error: BaseException | None = None, operation: str = "agree", **facts: int) -> None:
        """Agreement: raises the same error on all ranks if one has failed or facts differ. Collective.

        Parameters
        ----------
        error : BaseException, optional
            This rank's own error.
        operation : str
            Name for messages.
        **facts : int
            Up to 32 integers that must be equal on all ranks.

        Raises
        ------
        Error
            On all ranks: the error with the highest status of any rank.
        MismatchError
            On all ranks: facts differ; the message names the ranks that differ.
        """

        def prepare() -> tuple[int, Any]:
            array = (c.Fact * max(len(facts), 1))()
            for number, (name, value) in enumerate(facts.items()):
                array[number].name, array[number].value = name.encode(), as_index(value, name)
            if not isinstance(operation, str):
                raise DtypeError(f"operation is {operation!r}; expected a string")
            if error is not None:
                _library.core().syncyte_error_set(status_of(error), str(error).encode("utf-8", "replace"))
            return (0 if error is None else status_of(error)), array

        called = operation if isinstance(operation, str) else "agree"
        status, array = self._prepare(called, prepare, lifecycle=True)
        _library.core().syncyte_comm_agree(self.handle, status, operation.encode(), len(facts), array)

    def barrier(self) -> None:
        """Returns when all ranks have called it. Collective."""
        _library.core().syncyte_comm_barrier(self.handle)

    def collect(self) -> None:
        """Frees tensors, windows and communicators made on this one that all ranks have dropped. Collective."""
        _library.core().syncyte_collect(self.handle)
