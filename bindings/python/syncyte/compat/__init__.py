"""Modules with the interfaces of other libraries, for their users' programs.

``python -m syncyte.compat script.py`` runs a script that says ``import mpi4torch``; so does :func:`install` within a
program.
"""

from __future__ import annotations

import importlib
import sys

__all__ = ["install"]

_MODULES = ("mpi4torch",)


def install() -> None:
    """Makes ``import mpi4torch`` mean syncyte.compat.mpi4torch, in this process. Local; imports torch."""
    for name in _MODULES:
        sys.modules[name] = importlib.import_module(f"{__name__}.{name}")
