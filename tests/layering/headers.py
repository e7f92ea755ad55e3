# SPDX-License-Identifier: BSD-3-Clause
"""Each public C header has an include guard, compiles alone, as C11 and as C++20, without a warning, and has no struct
with bytes that are no member's.

tests/cxx compiles the C++ headers.

    headers.py FOLDER --cc CC --cxx CXX [--mpi-include FOLDER ...]

FOLDER is the include folder of an installation. Only headers whose name says mpi may need MPI's header.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only"]


def compile_alone(command: list[str], folder: Path, header: Path) -> str | None:
    """The compiler's errors for a source file that includes `header` and nothing else, twice."""
    name = header.relative_to(folder).as_posix()
    source = f'#include "{name}"\n#include "{name}"\nint main(void) {{ return 0; }}\n'
    result = subprocess.run([*command, *STRICT, f"-I{folder}", "-"], input=source, capture_output=True, text=True)
    return None if result.returncode == 0 else f"{name} with {' '.join(command)}:\n{result.stderr}"


def unnamed_bytes(command: list[str], folder: Path, header: Path) -> list[str]:
    """The places of structs with padding: a later member there would read what older callers have left undefined. A
    member `reserved` names the bytes."""
    name = header.relative_to(folder).as_posix()
    result = subprocess.run([*command, "-Wpadded", "-fsyntax-only", f"-I{folder}", "-"], input=f'#include "{name}"\n',
                            capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})  # fmt: skip
    places = re.findall(r"^(\S+?:\d+):.*warning: padding struct", result.stderr, re.MULTILINE)
    return [
        f"{place}: the struct has bytes here that are no member's" for place in places if place.startswith(str(header))
    ]


def has_guard(header: Path) -> bool:
    """Does the header's first directive ask whether the header was included before?"""
    directive = re.search(r"^#.*", header.read_text(), re.MULTILINE)
    return directive is not None and re.match(r"#ifndef \w+_H$|#pragma once$", directive[0]) is not None


def check(arguments: argparse.Namespace) -> tuple[int, list[str]]:
    folder = Path(arguments.folder).resolve()
    as_c = [arguments.cc, "-std=c11", "-x", "c"]
    as_cxx = [arguments.cxx, "-std=c++20", "-x", "c++"]
    mpi = [flag for path in arguments.mpi_include for flag in ("-isystem", path)]
    errors, count = [], 0
    for header in sorted(folder.rglob("*.h")):
        errors += [] if has_guard(header) else [f"{header.relative_to(folder)}: no include guard"]
        for command in (as_c, as_cxx):
            count += 1
            error = compile_alone(command + (mpi if "mpi" in header.stem else []), folder, header)
            errors += [error] if error else []
        errors += unnamed_bytes(as_c, folder, header)
    return count, errors


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--mpi-include", nargs="*", default=[])
    count, errors = check(parser.parse_args())
    print("\n".join(errors) or f"{count} compilations without a word")
    return 1 if errors or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
