# SPDX-License-Identifier: BSD-3-Clause
"""The programs of test_adapm_programs.py on AdaPM, two nodes: they expect of Syncyte what AdaPM does.

SYNCYTE_ADAPM_SOURCE names AdaPM's folder, whose bindings/ holds the built extension, as for bench/adapm_peer.py."""

import os

import pytest

import adapm_programs as programs

SOURCE = os.environ.get("SYNCYTE_ADAPM_SOURCE", "")
RUNS = [("dynamic_allocation",), ("locality",), ("many_keys",), *(("sampling", *each) for each in programs.SAMPLINGS)]
# Only with "all": with "relocation_only" an assertion of AdaPM (coloc_kv_worker.h) fails in the program locality.


@pytest.mark.skipif(not SOURCE, reason="SYNCYTE_ADAPM_SOURCE names no folder of AdaPM with built bindings")
@pytest.mark.parametrize("run", RUNS, ids="-".join)
def test_adapm_does_what_is_expected_of_syncyte(run):
    name, *options = run
    assert programs.run_on_adapm(SOURCE, 2, name, "all", *options) == ""
