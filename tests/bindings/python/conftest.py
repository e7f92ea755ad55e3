"""What the tests of the Python package share."""

import pytest


@pytest.fixture(scope="session")
def world():
    """All ranks; the first use starts Syncyte."""
    import syncyte

    return syncyte.COMM_WORLD
