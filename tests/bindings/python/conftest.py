# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the Python package's tests."""

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "thorough: only in the runs of CTest's labels ranks and slow")


@pytest.fixture(scope="session")
def world():
    """Communicator of all ranks; the first use starts Syncyte."""
    import syncyte

    return syncyte.COMM_WORLD
