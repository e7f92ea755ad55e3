# SPDX-License-Identifier: BSD-3-Clause
"""Python objects that own a handle of the C interface, call its functions, and release it when they are destroyed."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from . import _library
from ._renamed import new_name
from .errors import HandleError

if TYPE_CHECKING:
    from ._buffers import Buffer


def _release(function: str, handle: int, process: int) -> None:
    # Local and without MPI, so it may run in a garbage collector, on any thread. A forked child owns nothing.
    if os.getpid() == process:
        _library.core().unchecked(function)(handle)


def release_with(owner: object, function: str, handle: int) -> weakref.finalize:
    """Calls the library's `function(handle)` when `owner` is destroyed, but not at exit."""
    finalizer = weakref.finalize(owner, _release, function, handle, os.getpid())
    finalizer.atexit = False
    return finalizer


class Access(NamedTuple):
    """The call of an operation of a tensor, store or halo, common to its blocking and its started form."""

    arrays: tuple[Buffer, ...]  #: arrays that the C library uses until the end
    arguments: tuple[Any, ...]  #: arguments of the C function after the handle
    result: Any
    written: Buffer | None = None  #: the caller's array that the access writes, if any

    def finish(self) -> Any:
        if self.written is not None:
            self.written.mark_written()
        return self.result


class Handle:
    """Owns one reference to an object of the C library, which the function syncyte_KIND_release drops."""

    kind = ""  #: the object's kind in the names of C functions, such as "comm", "tensor" or "store_worker"

    def _own(self, handle: int) -> None:
        self._handle: int | None = handle
        self._finalizer = release_with(self, f"syncyte_{self.kind}_release", handle)

    @property
    def handle(self) -> int:
        """The C handle, for calls of libraries on top; this object owns it. Raises HandleError once freed."""
        return self.__dict__.get("_handle") or self._raise_freed()

    def _raise_freed(self) -> NoReturn:
        raise HandleError(f"this {type(self).__name__} has been freed")

    def _run(self, name: str, call: Any) -> Any:
        """Calls the function syncyte_KIND_name. call: an Access, or an object with its arguments and finish()."""
        getattr(_library.core(), f"syncyte_{self.kind}_{name}")(self.handle, *call.arguments)
        return call.finish()

    @property
    def _is_freed(self) -> bool:
        return self.__dict__.get("_handle") is None

    def free(self) -> None:
        """Drops this object's reference. Local; a collective point frees the memory (see syncyte.Comm.collect)."""
        if not self._is_freed:
            self._handle = None
            self._finalizer()

    if not TYPE_CHECKING:  # a type checker reports names that do not exist

        def __getattr__(self, name: str) -> NoReturn:
            new = new_name(type(self), name)
            if new is not None:
                public = next(each.__name__ for each in type(self).__mro__ if not each.__name__.startswith("_"))
                raise AttributeError(f"{public}.{name} is now {new}", name=name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} belongs to its process and cannot be pickled; save its contents: the local "
            f"rows, or all of a tensor with syncyte.checkpoint.save(). Forked workers share its memory "
            f"(multiprocessing_context='fork')"
        )

    def __copy__(self) -> Any:
        raise TypeError(
            f"a {type(self).__name__} spans ranks and cannot be copied by one of them: use the same one in both "
            f"places, or let all ranks make another and copy the local rows"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.__copy__()
