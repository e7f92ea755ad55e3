# SPDX-License-Identifier: BSD-3-Clause
"""AdaPM's own example, if SYNCYTE_ADAPM_EXAMPLE names its bindings/example.py. The example starts a process per node;
here each rank of the job is a node. It runs twenty times in a row."""

import os
import runpy

from syncyte import COMM_WORLD, compat

compat.install()
example = runpy.run_path(os.environ["SYNCYTE_ADAPM_EXAMPLE"])
for _ in range(20):
    example["init_node"](COMM_WORLD.rank, COMM_WORLD.size)
if COMM_WORLD.rank == 0:
    print("twenty times in a row", flush=True)
