# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of dense layers, and comparisons with their results."""

import torch


def assert_same(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)


def random(*shape: int, seed: int = 5) -> torch.Tensor:
    """Random numbers that are the same on all ranks."""
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
