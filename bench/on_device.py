# SPDX-License-Identifier: BSD-3-Clause
"""What measurements on CUDA devices share. Without a device they print nothing.

SYNCYTE_BENCH_SMALL=1: small sizes and no goals, for the stand-in of tests.
"""

import os
from collections.abc import Callable

import torch

from paired import WORLD

SMALL = "SYNCYTE_BENCH_SMALL" in os.environ
ROUNDS = 2 if SMALL else 11


def start() -> bool:
    """Chooses this rank's device; returns whether there is one."""
    if not torch.cuda.is_available():
        return False
    if "SYNCYTE_TEST_HOST_OPS" in os.environ:
        torch.ops.load_library(os.environ["SYNCYTE_TEST_HOST_OPS"])
    torch.cuda.set_device(WORLD.rank % torch.cuda.device_count())
    return True


def goal(value: float) -> float | None:
    return None if SMALL else value


def waited(work: Callable[[], object]) -> Callable[[], None]:
    """The work, once the device has done it."""

    def run() -> None:
        work()
        torch.cuda.current_stream().synchronize()

    return run


def idle() -> None:
    pass


def expect_equal(found: torch.Tensor, wanted: torch.Tensor, name: str) -> None:
    if not torch.equal(found.cpu(), wanted.cpu()):
        raise AssertionError(f"{name}: the two sides differ")
