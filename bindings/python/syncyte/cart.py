# SPDX-License-Identifier: BSD-3-Clause
"""Grids of ranks: Cartesian communicators, which Comm.cartesian() makes, and halo exchange on them."""

from .comm import Cart, Shift
from .halo import Halo

__all__ = ["Cart", "Halo", "Shift"]
