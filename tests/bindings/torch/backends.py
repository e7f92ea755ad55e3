"""Backends of torch.compile that tests go through. The default run takes aot_eager, which traces, functionalises and
differentiates as inductor does, and inductor in a few tests: it takes seconds for a graph."""

import pytest

EAGER = pytest.param("eager", marks=pytest.mark.thorough)
INDUCTOR = pytest.param("inductor", marks=pytest.mark.thorough)
