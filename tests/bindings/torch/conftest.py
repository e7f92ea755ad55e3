# SPDX-License-Identifier: BSD-3-Clause
import getpass
import os
import tempfile
import time
from pathlib import Path

import pytest
import torch

from backends import EAGER, INDUCTOR

torch.set_num_threads(1)


def pytest_configure():
    """Removes libraries that killed compilers have left: torch would load such an empty file instead of compiling."""
    default = Path(tempfile.gettempdir(), f"torchinductor_{getpass.getuser()}")
    cache = Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR", default))
    for library in cache.glob("*/*.so"):
        status = library.stat()
        if status.st_size == 0 and time.time() - status.st_mtime > 600:
            library.unlink(missing_ok=True)


@pytest.fixture
def comm():
    import syncyte

    return syncyte.COMM_WORLD


@pytest.fixture
def world():
    """mpi4torch's communicator of all ranks."""
    import syncyte.compat.mpi4torch as mpi4torch

    return mpi4torch.COMM_WORLD


@pytest.fixture
def generator(comm):
    """A generator of random numbers, different on every rank."""
    return torch.Generator().manual_seed(7 + comm.rank)


@pytest.fixture(params=[EAGER, "aot_eager", INDUCTOR])
def compiled(request):
    """Compiles a function into one graph, by each backend."""
    torch._dynamo.reset()
    return lambda function: torch.compile(function, fullgraph=True, backend=request.param)
