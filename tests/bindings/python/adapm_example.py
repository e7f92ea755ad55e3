# SPDX-License-Identifier: BSD-3-Clause
"""AdaPM's bindings/example.py, unchanged, on syncyte.compat.adapm. Its nodes are ranks, as docs/from-adapm.md says.

    mpirun -n 2 python adapm_example.py

SYNCYTE_ADAPM_SOURCE names AdaPM's folder, which need not be built. Without it the exit status is 77."""

import importlib.util
import os
import sys
from types import ModuleType

SKIP = 77


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("adapm_example_itself", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def main() -> None:
    source = os.environ.get("SYNCYTE_ADAPM_SOURCE", "")
    path = os.path.join(source, "bindings", "example.py")
    if not source or not os.path.exists(path):
        print("SKIPPED: SYNCYTE_ADAPM_SOURCE names no folder of AdaPM with bindings/example.py")
        sys.exit(SKIP)
    import syncyte  # here, because it takes seconds to import torch
    from syncyte import compat

    compat.install()
    example = load(path)
    printed: list[str] = []
    example.print = printed.append
    comm = syncyte.COMM_WORLD
    example.init_node(comm.rank, comm.size)  # an exception of a worker ends the process
    workers = example.num_workers_per_node
    for worker in range(comm.rank * workers, (comm.rank + 1) * workers):
        lines = [line for line in printed if f"worker {worker} " in line or f" w{worker}:" in line]
        print(*lines, sep="\n", flush=True)
        assert any(line.startswith(f"sampled keys in w{worker}:") for line in lines), "a worker did not reach its end"


if __name__ == "__main__":
    main()
