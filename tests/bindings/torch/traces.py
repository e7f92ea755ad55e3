# SPDX-License-Identifier: BSD-3-Clause
"""What the trace hook tells."""

import contextlib

from syncyte import _declarations as c
from syncyte import _library


@contextlib.contextmanager
def traced_operations():
    """Context manager: the names of the operations that run within it, recorded by the trace hook."""
    seen = []
    hook = c.TraceFn(lambda event, context: seen.append(event.contents.operation.decode()))
    _library.core().syncyte_trace_set(hook, None)
    try:
        yield seen
    finally:
        _library.core().syncyte_trace_set(c.TraceFn(), None)
