"""Fixtures of the Python package's tests."""

import pytest


@pytest.fixture(scope="session")
def world():
    """All ranks; the first use starts Syncyte."""
    import syncyte

    return syncyte.COMM_WORLD
