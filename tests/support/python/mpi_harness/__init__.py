# SPDX-License-Identifier: BSD-3-Clause
"""Runs test programs under mpirun, watches their ranks, and keeps one verdict per test (standard library only)."""
