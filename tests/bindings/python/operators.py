# SPDX-License-Identifier: BSD-3-Clause
"""Whether this build has PyTorch operators: an environment may have torch, and its Syncyte none."""

import importlib
import importlib.util

import pytest

import syncyte


def _are_here() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    try:
        importlib.import_module("syncyte.torch")
    except syncyte.LibraryError:
        return False
    return True


ARE_HERE = _are_here()
needs_operators = pytest.mark.skipif(not ARE_HERE, reason="this build has no PyTorch operators")
