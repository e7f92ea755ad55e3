# SPDX-License-Identifier: BSD-3-Clause
"""Every function that writes to a caller's buffer is called with constant memory in a test that expects a refusal.

    read_only.py GENERATOR TEST... --compiler CC

GENERATOR is bindings/generate, which reads the headers: a function writes to a `const syncyte_buffer_t*` whose
direction is out; a load's are in its entries. TEST are the tests' sources.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def writers(generator: Path, compiler: str) -> set[str]:
    sys.path.insert(0, str(generator))
    from generate import CORE, HDF5, ROOT
    from parse import parse_headers

    core = ROOT / "capi/include"
    headers = [
        *parse_headers(compiler, core, CORE, []),
        *parse_headers(compiler, ROOT / "bindings/hdf5/include", HDF5, [core]),
    ]
    return {
        function.name
        for header in headers
        for function in header.functions
        for each in function.parameters
        if each.type.name == "syncyte_buffer_t" and each.type.const and "out" in each.direction
    } | {"syncyte_checkpoint_load"}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("generator", type=Path)
    parser.add_argument("tests", type=Path, nargs="+")
    parser.add_argument("--compiler", default="cc")
    given = parser.parse_args()
    found = writers(given.generator, given.compiler)
    tested = "".join(test.read_text() for test in given.tests)
    missing = sorted(name for name in found if f"{name}(" not in tested)
    print("\n".join(f"{name}: no test gives it constant memory" for name in missing) or f"{len(found)} functions")
    return 1 if missing or len(found) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
