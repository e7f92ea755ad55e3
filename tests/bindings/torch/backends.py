# SPDX-License-Identifier: BSD-3-Clause
"""Backends of torch.compile. The default run uses aot_eager, which traces, functionalises and differentiates as
inductor does. It uses inductor in a few tests only, because inductor takes seconds for a graph."""

import pytest

EAGER = pytest.param("eager", marks=pytest.mark.thorough)
INDUCTOR = pytest.param("inductor", marks=pytest.mark.thorough)
