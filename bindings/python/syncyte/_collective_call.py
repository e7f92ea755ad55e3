"""A collective whose local checks have passed: the arguments of its C function, and its result."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _arrays
from ._buffers import Buffer, as_buffer


class CollectiveCall(NamedTuple):
    """The call of a collective, common to its blocking and its non-blocking form."""

    arguments: tuple[Any, ...]  #: arguments of the C function after the communicator
    arrays: tuple[Buffer, ...]  #: arrays that the C library reads and writes until the end
    result: Any
    written: Buffer | None = None  #: the caller's array that the call writes, if any

    def finish(self) -> Any:
        if self.written is not None:
            self.written.written()
        return self.result


def call_into(
    out: Any, source: Buffer, shape: tuple[int, ...], *arguments: Any, contiguous: bool = True
) -> CollectiveCall:
    """Makes a call that writes `out`, or a new array like source with another shape, as its last argument."""
    result = _arrays.empty_like(source, shape) if out is None else out
    target = as_buffer(result, "out", writable=True, contiguous=contiguous, expected=source.dtype)
    return CollectiveCall(
        (*arguments, None, target.reference), (source, target), result, None if out is None else target
    )
