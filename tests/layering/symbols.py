# SPDX-License-Identifier: BSD-3-Clause
"""Exported symbols of a shared library are exactly what its headers declare; its name ends in the number of the ABI.

    symbols.py LIBRARY --base base.h [--headers FOLDER ...] [--prefix P ...] [--uses FOLDER ...] [--nm NM] [--readelf R]

--base     the header that defines SYNCYTE_ABI_VERSION, in which the library's SONAME ends
--headers  the library exports each function marked SYNCYTE_EXPORT there and nothing else
--prefix   instead: each exported name starts with one of these (Fortran modules, libraries without a C header)
--uses     each syncyte_ symbol that it takes from elsewhere is declared in these folders' headers
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
ABI = re.compile(r"#define SYNCYTE_ABI_VERSION (\d+)")
SONAME = re.compile(r"\(SONAME\).*\[(.*)\]")
SEARCH_PATH = re.compile(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]")
DECLARATION = re.compile(r"\bSYNCYTE_EXPORT\b[^;{()]*?\b(\w+)\s*\(")


def declared(folders: list[str]) -> set[str]:
    """Names of the functions marked SYNCYTE_EXPORT in the headers below `folders`."""
    names: set[str] = set()
    for folder in folders:
        for header in sorted(Path(folder).rglob("*.h")):
            text = "\n".join(
                line for line in COMMENT.sub("", header.read_text()).splitlines() if not line.lstrip().startswith("#")
            )
            names.update(DECLARATION.findall(text))
    return names


def symbols(nm: str, library: str, kind: str) -> set[str]:
    """Dynamic symbols; `kind` is --defined-only or --undefined-only. Names of versions (type A) are left out."""
    output = subprocess.run([nm, "-D", "--format=posix", kind, library], check=True, capture_output=True, text=True)
    fields = [line.split() for line in output.stdout.splitlines() if line.strip()]
    return {field[0].split("@")[0] for field in fields if len(field) > 1 and field[1] != "A"}


def check_dynamic_section(arguments: argparse.Namespace) -> list[str]:
    """Checks the library's name, and that it does not search the current folder for other libraries."""
    (abi,) = ABI.findall(arguments.base.read_text())
    section = subprocess.run(
        [arguments.readelf, "-d", arguments.library], check=True, capture_output=True, text=True
    ).stdout
    (name,) = SONAME.findall(section)
    errors = [] if name.endswith(f".so.{abi}") else [f"its SONAME is {name}; expected one that ends in .so.{abi}"]
    for path in SEARCH_PATH.findall(section):
        if not all(folder.startswith(("/", "$ORIGIN")) for folder in path.split(":")):
            errors.append(f"its search path is '{path}': an empty or relative folder is searched from the current one")
    return errors


def check(arguments: argparse.Namespace) -> list[str]:
    errors = check_dynamic_section(arguments)
    exported = symbols(arguments.nm, arguments.library, "--defined-only")
    if arguments.headers:
        wanted = declared(arguments.headers)
        if not wanted:
            errors.append(f"no declaration found in {', '.join(arguments.headers)}")
        errors += [f"exported but not declared: {name}" for name in sorted(exported - wanted)]
        errors += [f"declared but not exported: {name}" for name in sorted(wanted - exported)]
    else:
        errors += [
            f"exported, but starts with none of {', '.join(arguments.prefix)}: {name}"
            for name in sorted(exported)
            if not name.startswith(tuple(arguments.prefix))
        ]
    if arguments.uses:
        public = declared(arguments.uses)
        used = {
            name for name in symbols(arguments.nm, arguments.library, "--undefined-only") if name.startswith("syncyte_")
        }
        errors += [f"uses {name}, which no public header declares" for name in sorted(used - public)]
    return errors


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--headers", nargs="*", default=[])
    parser.add_argument("--prefix", nargs="*", default=[])
    parser.add_argument("--uses", nargs="*", default=[])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--readelf", default="readelf")
    errors = check(parser.parse_args())
    print("\n".join(errors) or "exports what it declares")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
