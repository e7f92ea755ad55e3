#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Python programs of pages on the ranks of this job, and compares what they print with the pages' promises.

mpirun -n 3 python -m syncyte check_page.py PAGE.md ...
"""

import contextlib
import io
import os
import sys

from mpi4py import MPI

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pages import python_programs

for page in sys.argv[1:]:
    for program, promised in python_programs(page):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(program, page, "exec"), {"__name__": "__main__"})
        text = "".join(MPI.COMM_WORLD.allgather(printed.getvalue())).strip()
        if text != promised:
            sys.exit(f"{page}: printed {text!r}; promised {promised!r}")
