# SPDX-License-Identifier: BSD-3-Clause
"""TorchShard's own tests, if SYNCYTE_TORCHSHARD_TESTS names the folder tests/ of its repository.

They are written for GPUs and start their own processes. Here each test runs on the ranks of one job, tensors stay on
the CPU, and a relative tolerance is added, because at 4 ranks the original does not reach 1e-6."""

import importlib
import os
import sys
import types
import unittest

import pytest
import torch
from mpi4py import MPI

FOLDER = os.environ.get("SYNCYTE_TORCHSHARD_TESTS")
if not FOLDER:
    pytest.skip("SYNCYTE_TORCHSHARD_TESTS is not set", allow_module_level=True)

from syncyte import COMM_WORLD, compat  # noqa: E402

compat.install()
import torchshard as ts  # noqa: E402


def _worker(rank, test, *_):
    if ts.distributed.is_initialized():
        ts.distributed.destroy_process_group()  # some tests rely on the end of their process for this
    ts.distributed.init_process_group(group_size=COMM_WORLD.size)
    test(rank)


def _assert_close(tensor, expected, threshold=1e-3):
    torch.testing.assert_close(tensor, expected, rtol=1e-5, atol=threshold)


def _no_devices(*given, device_ids=None, **named):
    return _data_parallel(*given, **named)


_data_parallel = torch.nn.parallel.DistributedDataParallel
torch.Tensor.cuda = lambda self, *_: self
torch.nn.Module.cuda = lambda self, *_: self
torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: COMM_WORLD.size
torch.cuda.manual_seed_all = lambda seed: None
torch.nn.parallel.DistributedDataParallel = _no_devices
torch.multiprocessing.spawn = lambda worker, args, nprocs: worker(COMM_WORLD.rank, *args)
sys.path.insert(0, FOLDER)
_testing: types.ModuleType = importlib.import_module("testing")
_testing.assertEqual, _testing.dist_worker = _assert_close, _worker


def _all_tests():
    names = sorted(name[:-3] for name in os.listdir(FOLDER) if name.startswith("test_") and name.endswith(".py"))
    loader = unittest.TestLoader()
    suites = [loader.loadTestsFromModule(importlib.import_module(name)) for name in names]
    return [test for suite in suites for case in suite for test in case]


@pytest.fixture(scope="module", autouse=True)
def processes(tmp_path_factory):
    """torch.distributed over the ranks, which the tests use too, and a working folder that all ranks share."""
    folder = MPI.COMM_WORLD.bcast(str(tmp_path_factory.mktemp("torchshard")))
    rank, size = COMM_WORLD.rank, COMM_WORLD.size
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/join", rank=rank, world_size=size)
    before = os.getcwd()
    os.chdir(folder)
    yield
    os.chdir(before)
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize("test", _all_tests(), ids=lambda test: test.id())
def test_of_torchshard(test):
    test.debug()
