"""Fixtures of the Python package's tests."""

import pytest


@pytest.fixture(scope="session")
def world():
    """Communicator of all ranks; the first use starts Syncyte."""
    import syncyte

    return syncyte.COMM_WORLD
