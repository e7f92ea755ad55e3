# SPDX-License-Identifier: BSD-3-Clause
"""The environment of a Python test: all ranks in MPI.COMM_WORLD, a private working folder."""

import os

import pytest
from mpi4py import MPI


def test_all_ranks_take_part(comm):
    assert comm.allreduce(comm.rank) == comm.size * (comm.size - 1) // 2


def test_works_in_a_folder_of_its_own():
    if "SYNCYTE_TEST_FOLDER" not in os.environ:
        pytest.skip("run without the launcher")
    assert os.getcwd() == os.environ["SYNCYTE_TEST_FOLDER"]


@pytest.mark.parametrize("operation", [MPI.MAX, MPI.SUM])
def test_cases_share_one_entry(comm, operation):
    expected = 1 if operation == MPI.MAX else comm.size
    assert comm.allreduce(1, operation) == expected


class TestMethods:
    def test_are_found(self, comm):
        comm.barrier()
