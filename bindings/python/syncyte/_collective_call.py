"""A collective whose local checks have passed: what its C function is given, and what the caller gets."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _arrays
from ._buffers import Buffer, as_buffer


class CollectiveCall(NamedTuple):
    """The blocking and the started form of a collective make the same call."""

    arguments: tuple[Any, ...]  #: of the C function, behind the communicator
    arrays: tuple[Buffer, ...]  #: that the C library reads and writes until the end
    result: Any
    written: Buffer | None = None  #: an array of the caller's that the call writes

    def finish(self) -> Any:
        if self.written is not None:
            self.written.written()
        return self.result


def call_into(
    out: Any, source: Buffer, shape: tuple[int, ...], *arguments: Any, contiguous: bool = True
) -> CollectiveCall:
    """The call that writes `out`, or a new array of a shape that is otherwise like source, its last argument."""
    result = _arrays.empty_like(source, shape) if out is None else out
    target = as_buffer(result, "out", writable=True, contiguous=contiguous, expected=source.dtype)
    return CollectiveCall(
        (*arguments, None, target.reference), (source, target), result, None if out is None else target
    )
