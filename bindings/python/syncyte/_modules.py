# SPDX-License-Identifier: BSD-3-Clause
"""Modules that the program may have imported, and that Syncyte does not import itself."""

from __future__ import annotations

import sys
from typing import Any


def loaded(name: str) -> Any:
    """Returns a module that is imported; None if it is not, or while a thread is still importing it."""
    module = sys.modules.get(name)
    is_partial = getattr(getattr(module, "__spec__", None), "_initializing", False)  # as the import system marks it
    return None if is_partial else module
