# SPDX-License-Identifier: BSD-3-Clause
"""Runs torch's own tests of torch.distributed (DistributedTest, which its wheel contains) on the ranks of this job.

torch starts processes for each test; here the ranks run one test after another. A test that fails must be one of
EXCUSED; one of EXCUSED that passes is an error too. Without the package expecttest the program is skipped.

    mpirun -n 3 python torch_distributed_suite.py [part of a test's name]
"""

from __future__ import annotations

import datetime
import importlib.util
import os
import shutil
import sys
import tempfile
import unittest

import numpy as np

import syncyte

if importlib.util.find_spec("expecttest") is None:
    print("skipped: torch's tests need the package expecttest")
    sys.exit(77)

WORLD = syncyte.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size


def folder_of_rank_0() -> str:
    """torch's tests write files that all ranks read."""
    path = np.zeros(256, np.uint8)
    if RANK == 0:
        made = tempfile.mkdtemp().encode()
        path[: len(made)] = np.frombuffer(made, np.uint8)
    return bytes(WORLD.bcast(path)).rstrip(b"\0").decode()


FOLDER = folder_of_rank_0()
os.environ.update(RANK=str(RANK), WORLD_SIZE=str(SIZE), BACKEND="syncyte", TEMP_DIR=FOLDER)

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch.testing._internal import common_distributed  # noqa: E402

import syncyte.distributed  # noqa: E402

for _feature in ("ddp", "subgroup"):
    common_distributed.DistTestCases.backend_feature[_feature] |= {"syncyte"}

from torch.testing._internal.common_utils import TestCase  # noqa: E402
from torch.testing._internal.distributed import distributed_test  # noqa: E402

GPU = "needs a GPU"
KNOWN = "torch's test prepares a model for gloo, mpi and nccl alone"
EXCUSED = {
    "test_SyncBatchNorm_process_group": "needs the package torchvision",
    "test_accumulate_gradients_no_sync": KNOWN,
    "test_accumulate_gradients_no_sync_allreduce_hook": KNOWN,
    "test_accumulate_gradients_no_sync_allreduce_with_then_hook": KNOWN,
    "test_accumulate_gradients_no_sync_grad_is_view": KNOWN,
    "test_all_to_all_cuda": GPU,
    "test_all_to_all_cuda_complex": GPU,
    "test_all_to_all_full_group_cuda": GPU,
    "test_batch_isend_irecv_mixed_backend_err": GPU,
    "test_batch_isend_irecv_op_err": GPU,
    "test_ddp_logging_data_cpu": "torch calls every backend that it does not contain 'custom'",
    "test_sparse_all_reduce_sum": "sparse tensors are not supported",
}
if SIZE < 4:
    EXCUSED["test_new_subgroups_with_group_param"] = "needs four ranks"
AT_LEAST = 90  # tests pass on three or four ranks; fewer mean that something skips them
SKIPS = {each.exit_code: each.message for each in common_distributed.TEST_SKIPS.values()}


class Suite(TestCase, distributed_test.DistributedTest._DistTestBase):
    """torch's tests, each in a process group of its own."""

    rank, world_size = RANK, SIZE

    def setUp(self) -> None:
        super().setUp()
        WORLD.barrier()
        dist.init_process_group("syncyte", init_method="syncyte://", timeout=datetime.timedelta(seconds=20))

    def tearDown(self) -> None:
        super().tearDown()
        if dist.is_initialized():
            dist.destroy_process_group()
        WORLD.barrier()

    def _barrier(self, *_: object, **__: object) -> None:
        WORLD.barrier()


def skips_by_exit(test):
    """torch's tests skip by ending their process with a status that says why."""

    def run(self) -> None:
        try:
            test(self)
        except SystemExit as end:
            raise unittest.SkipTest(SKIPS.get(end.code, f"exit {end.code}")) from None

    return run


def main(part: str) -> int:
    torch.set_num_threads(1)
    for folder in ("barrier", "test_dir", "init_dir"):
        os.makedirs(os.path.join(FOLDER, folder), exist_ok=True)
    names = [name for name in unittest.TestLoader().getTestCaseNames(Suite) if part in name]
    for name in names:
        setattr(Suite, name, skips_by_exit(getattr(Suite, name)))
    with open(os.devnull, "w") as nowhere:
        runner = unittest.TextTestRunner(verbosity=2, stream=sys.stdout if RANK == 0 else nowhere)
        result = runner.run(unittest.TestSuite(Suite(name) for name in names))
    failed = {test._testMethodName: trace for test, trace in result.failures + result.errors}
    skipped = {test._testMethodName for test, _ in result.skipped}
    passed = set(names) - set(failed) - skipped
    wrong = [f"{name} failed: {trace}" for name, trace in failed.items() if name not in EXCUSED]
    anywhere = WORLD.allreduce(np.array([name in failed for name in names], np.int32), "max")
    wrong += [f"{name} is excused, and passes" for name, fails in zip(names, anywhere, strict=True)
              if name in EXCUSED and not fails and name not in skipped]  # fmt: skip
    if not part and len(passed) < AT_LEAST:
        wrong.append(f"only {len(passed)} tests passed; expected {AT_LEAST}")
    print(f"rank {RANK}: {len(passed)} passed, {len(skipped)} skipped, {len(failed)} failed: {sorted(failed)}")
    for line in wrong:
        print(f"rank {RANK}: {line}", flush=True)
    if RANK == 0:
        shutil.rmtree(FOLDER)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:], *[""] * (1 - len(sys.argv[1:]))))
