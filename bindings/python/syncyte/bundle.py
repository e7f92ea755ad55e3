# SPDX-License-Identifier: BSD-3-Clause
"""Bundles: fields with layouts, whose halos travel together."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from . import _library, dtypes
from ._buffers import Buffer, as_buffer, descriptions
from ._checks import as_int64, as_text, check_kind, integers, wrong
from ._handles import Handle
from ._requests import Request, _Started, drop, start
from .comm import Comm
from .errors import ArgumentError
from .layout import Layout, block_buffers

__all__ = ["Bundle"]

# A mask that the C library refuses, in place of arguments that are wrong in Python: the neighbours get an error.
_REFUSED = 1, (ctypes.c_int32 * 1)(-1)


class Bundle(Handle):
    """Fields of one communicator, each with a layout, whose halos travel together.

    A rank sends one message to each of its neighbours, diagonal ones included, for all fields: cells, nodes and faces,
    of any element types and ghost widths. Arrays are used in place. The operations are messages between neighbours; all
    ranks of the communicator call them in the same order, those without a block too. A bundle has at most one operation
    in flight; several bundles may have one each.
    """

    kind = "bundle"

    def __init__(self, comm: Comm):
        """Makes a bundle without fields. Collective.

        Parameters
        ----------
        comm : Comm
            The communicator of the fields' layouts.
        """
        check_kind(comm, Comm, "comm", "a syncyte.Comm")
        self._comm = comm
        self._arrays: dict[str, list[Buffer]] = {}
        self._elements: dict[str, int] = {}
        self._torch_operations = 0  # of syncyte.torch; neighbours compare it
        # The last operation that was started, and whose it is: None if nobody can wait for it.
        self._before: tuple[Callable[[], Request[None] | None], _Started] | None = None
        self._own(_library.core().output("syncyte_bundle_create", comm.handle))

    def _retained(self) -> Bundle:
        """Another reference, which free() of the caller's object leaves. It knows the fields' names alone."""
        _library.core().syncyte_bundle_retain(self.handle)
        made = Bundle.__new__(Bundle)
        made._comm, made._arrays = self._comm, {name: [] for name in self._arrays}
        made._own(self.handle)
        return made

    @property
    def comm(self) -> Comm:
        """The communicator."""
        return self._comm

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields, in the order in which they were added."""
        return tuple(self._arrays)

    def __getitem__(self, name: str) -> Any:
        """This rank's array of a field; a list if it has several blocks, None if it has none."""
        arrays = [buffer.array for buffer in self._arrays[name]]
        return None if not arrays else arrays[0] if len(arrays) == 1 else arrays

    def __repr__(self) -> str:
        freed = ", freed" if self._is_freed else ""
        return f"<syncyte.Bundle of {', '.join(self.fields) or 'no fields'}, over {self._comm!r}{freed}>"

    def add(self, name: str, layout: Layout, arrays: Any, *, dtype: Any = None) -> None:
        """Adds a field, whose arrays later calls use in place. Collective; name, layout and element type must be equal.

        Parameters
        ----------
        name : str
            Its name, which no other field of the bundle has.
        layout : Layout
            A layout of the bundle's communicator.
        arrays : array, sequence of arrays, or None
            This rank's array, one for each of its blocks, or None if it has no block; ghosts included, any strides.
        dtype : element type, optional
            Needed on a rank without a block.
        """

        def prepare() -> tuple[Any, ...]:
            key = as_text(name, "name", "a text without a zero").encode()
            check_kind(layout, Layout, "layout", "a syncyte.Layout")
            buffers = block_buffers(arrays, layout._info(self._comm.rank).blocks, "arrays", True)
            if not buffers and dtype is None:
                raise wrong(ArgumentError, "dtype", None, "an element type, because this rank has no array")
            self._finish_dropped()
            return key, buffers, buffers[0].dtype if dtype is None else dtypes.as_dtype(dtype)

        key, buffers, element = self._comm._prepare("bundle_add", prepare, always=True)
        self._add(key, layout, element, buffers, descriptions(buffers))

    def _add(self, key: bytes, layout: Layout, element: int, buffers: list[Buffer], descriptions: Any) -> None:
        _library.core().syncyte_bundle_add(self.handle, key, layout.handle, element, len(buffers), descriptions)
        name = key.decode()
        self._arrays[name] = buffers
        self._elements[name] = element

    def set_arrays(self, name: str, arrays: Any) -> None:
        """Takes other arrays for a field. Local.

        Parameters
        ----------
        name : str
            Name of the field.
        arrays : array, sequence of arrays, or None
            As of add(), of the same element type.
        """
        if name not in self._arrays:
            raise wrong(ArgumentError, "name", repr(name), f"one of {', '.join(self.fields)}")
        self._finish_dropped()
        buffers = block_buffers(arrays, len(self._arrays[name]), "arrays", True)
        _library.core().syncyte_bundle_set_arrays(self.handle, name.encode(), len(buffers), descriptions(buffers))
        self._arrays[name] = buffers

    def _chosen(self, only: Any) -> list[str]:
        if only is None:
            return list(self.fields)
        names = [only] if isinstance(only, str) else list(only)
        for name in names:
            if name not in self._arrays:
                raise wrong(ArgumentError, "only", repr(name), f"names of fields: {', '.join(self.fields)}")
        return names

    def _current(self, name: str, writable: bool) -> list[Buffer]:
        """The buffers of a field, whose memory is where it was: torch's `data`, resize_() and others move it."""
        buffers = self._arrays[name]
        for buffer in buffers:
            now = as_buffer(buffer.array, name, writable=writable, contiguous=False).description
            now.read_only = buffer.description.read_only
            if bytes(now) != bytes(buffer.description):
                raise wrong(ArgumentError, f"the array of field {name!r}", "moved, or of another shape or strides",
                            "the memory that add() or set_arrays() got")  # fmt: skip
        return buffers

    def _checked_buffers(self, writable: bool) -> list[Buffer]:
        """The buffers of all fields, for a caller that reads or writes them."""
        self._finish_dropped()
        return [buffer for name in self.fields for buffer in self._current(name, writable)]

    def _finish_dropped(self) -> None:
        """Waits for the operation that was started last if nobody else can: all ranks have started it."""
        if self._before is None:
            return
        request, started = self._before
        if started.handle and request() is None:
            started.complete()
        if not started.handle:
            self._before = None

    def _arguments(self, operation: str, depth: Any, only: Any, *outputs: Any) -> tuple[list[Buffer], tuple[Any, ...]]:
        """The buffers that an operation writes, and its arguments. Tells the neighbours if they are wrong."""
        self._finish_dropped()
        has_depth = not operation.endswith("sum")
        try:
            names = self._chosen(only)
            flags = integers(ctypes.c_int32, [int(name in names) for name in self.fields] or [0], "only")
            buffers = [buffer for name in names for buffer in self._current(name, True)]
            mask = (0, None) if only is None else (len(self.fields), flags)
            return buffers, (*([as_int64(depth, "depth")] if has_depth else []), *mask)
        except Exception:
            _library.call_refused(
                f"syncyte_bundle_{operation}", self.handle, *([0] if has_depth else []), *_REFUSED, *outputs
            )
            raise

    def _call(self, operation: str, depth: Any, only: Any) -> None:
        buffers, arguments = self._arguments(operation, depth, only)
        kept = list(self._arrays.values())  # another thread may set other arrays
        getattr(_library.core(), f"syncyte_bundle_{operation}")(self.handle, *arguments)
        for buffer in buffers:
            buffer.mark_written()
        del kept

    def _start(self, operation: str, depth: Any, only: Any) -> Request[None]:
        refused = ctypes.c_void_p()
        try:
            buffers, arguments = self._arguments(operation, depth, only, refused)
        finally:
            if refused.value is not None:
                self._before = (lambda: None), drop(refused.value, None)

        def finish() -> None:
            for buffer in buffers:
                buffer.mark_written()

        arrays = list(self._arrays.values())
        request = start(f"syncyte_bundle_{operation}", self.handle, *arguments, arrays=arrays, finish=finish)
        if request._started is not None:
            self._before = weakref.ref(request), request._started
        return request

    def exchange(self, depth: int = 0, only: str | Sequence[str] | None = None) -> None:
        """Fills the ghosts, and the copies of shared points that are not right. All ranks of the communicator call it.

        Parameters
        ----------
        depth : int
            Ghosts at each end of an axis, at most those of the widest field; 0: all.
        only : str or sequence of str, optional
            Names of the fields that take part; None: all.

        Raises
        ------
        MismatchError
            A neighbour calls another operation, or with another depth or mask.
        ArgumentError
            Here and on the neighbours: a wrong depth or name.
        """
        self._call("exchange", depth, only)

    def accumulate(self, depth: int = 0, only: str | Sequence[str] | None = None) -> None:
        """Adjoint of exchange(): adds the ghosts to the points that they copy, and sets them to 0.

        Parameters and errors as of exchange().
        """
        self._call("accumulate", depth, only)

    def sum(self, only: str | Sequence[str] | None = None) -> None:
        """Replaces each point that several blocks store by the sum of their copies, equal on all of them.

        Copies are added in ascending order of ranks everywhere. Ghosts are neither read nor written.

        Parameters
        ----------
        only : str or sequence of str, optional
            Names of the fields that take part; None: all.

        Raises
        ------
        MismatchError, ArgumentError
            As of exchange().
        """
        self._call("sum", 0, only)

    def iexchange(self, depth: int = 0, only: str | Sequence[str] | None = None) -> Request[None]:
        """Starts to fill the ghosts, and does not wait; arrays may not be written, nor read in ghosts, until the end.

        Parameters and errors as of exchange().

        Returns
        -------
        Request
            The request; its result is None.
        """
        return self._start("iexchange", depth, only)

    def iaccumulate(self, depth: int = 0, only: str | Sequence[str] | None = None) -> Request[None]:
        """Starts accumulate(), and does not wait; until the end the arrays must not be used.

        Parameters, result and errors as of iexchange().
        """
        return self._start("iaccumulate", depth, only)

    def isum(self, only: str | Sequence[str] | None = None) -> Request[None]:
        """Starts sum(), and does not wait; until the end the arrays must not be used.

        Parameters, result and errors as of iexchange().
        """
        return self._start("isum", 0, only)
