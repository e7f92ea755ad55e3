"""AdaPM's own example, where somebody has it: SYNCYTE_ADAPM_EXAMPLE is its bindings/example.py. It starts processes of
its own; here every rank of the job is one of its nodes, twenty times in a row."""

import os
import runpy

from syncyte import COMM_WORLD, compat

compat.install()
example = runpy.run_path(os.environ["SYNCYTE_ADAPM_EXAMPLE"])
for _ in range(20):
    example["init_node"](COMM_WORLD.rank, COMM_WORLD.size)
if COMM_WORLD.rank == 0:
    print("twenty times in a row", flush=True)
