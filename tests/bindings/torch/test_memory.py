"""Memory of the process over 10,000 forward and backward passes of every collective."""

import gc
import os

import pytest
import torch

from test_safety import OPERATIONS

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Bytes."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


def run(operation, times: int) -> None:
    x = torch.ones(4, 4, dtype=torch.float64, requires_grad=True)
    for _ in range(times):
        x.grad = None
        operation(x).sum().backward()


@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_grows(name):
    run(OPERATIONS[name], 500)
    before = resident()
    run(OPERATIONS[name], 10_000)
    assert resident() - before < 512 * 1024  # 50 bytes an iteration
