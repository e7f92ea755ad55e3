# SPDX-License-Identifier: BSD-3-Clause
"""Runs Python programs one after another in one job, which imports torch only once. Rank 0 prints a JSON list: for each
program, the output of each rank.

    mpirun -n 3 python -m syncyte run_one_after_another.py FIRST.py SECOND.py ...
"""

import contextlib
import io
import json
import runpy
import sys

from mpi4py import MPI

texts = []
for path in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(path, run_name="__main__")
    texts.append("".join(MPI.COMM_WORLD.allgather(printed.getvalue())))
if MPI.COMM_WORLD.rank == 0:
    print(json.dumps(texts))
