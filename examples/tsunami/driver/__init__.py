# SPDX-License-Identifier: BSD-3-Clause
"""Modules of demo.py."""
