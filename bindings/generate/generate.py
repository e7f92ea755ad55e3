# SPDX-License-Identifier: BSD-3-Clause
"""Generates declarations and C functions from the C headers, and torch's operators from their schemas, or checks that
the committed ones are current.

Usage: generate.py [--check] [--compiler CC]
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

import emit_capi
import emit_core
import emit_cxx
import emit_fortran
import emit_methods
import emit_python
import emit_torch
import started
from comments import AnnotationError
from license import with_license
from methods import read_module
from model import Names
from parse import check, parse_headers
from schemas import read_operators

ROOT = Path(__file__).resolve().parents[2]
CORE = [
    "base",
    "comm",
    "collectives",
    "memory",
    "cache",
    "models",
    "messages",
    "nonblocking",
    "cart",
    "halo",
    "layout",
    "bundle",
    "reducer",
    "rows",
    "window",
    "tensor",
    "store",
]
HDF5 = ["checkpoint"]
HELPERS = ["fortran", "checkpoint_entries"]  # bindings/fortran/helpers


def generate(compiler: str) -> dict[Path, str]:
    """Text of every generated file, by its path below the root of the repository."""
    capi = ROOT / "capi" / "include"
    core = parse_headers(compiler, capi, CORE, [])
    hdf5 = parse_headers(compiler, ROOT / "bindings" / "hdf5" / "include", HDF5, [capi])
    fortran = ROOT / "bindings" / "fortran"
    includes = [capi, ROOT / "bindings" / "hdf5" / "include", fortran / "helpers"]
    helpers = parse_headers(compiler, fortran, HELPERS, includes, "helpers")
    headers = [*core, *hdf5, *helpers]
    names = Names(headers)
    check(headers, names)
    files = {Path("bindings/python/syncyte/_declarations.py"): emit_python.emit(core, hdf5, names)}
    files[Path("capi/generated/functions.cpp")] = emit_capi.emit(core, names)
    files[Path("src/base/generated/known.hpp")] = emit_core.emit(core)
    started_forms = started.emit(core)
    files |= {Path("capi/include/syncyte/generated") / name: text for name, text in started_forms.items()}
    cxx = Path("include/syncyte")
    files[cxx / "generated/enums.hpp"] = emit_cxx.enums(names)
    files[cxx / "generated/methods.hpp"] = emit_cxx.methods(core)
    torch = Path("bindings/torch")
    operators = read_operators((ROOT / torch / "operators.schemas").read_text(encoding="utf-8"))
    documented = emit_torch.docstrings(ROOT / "bindings/python/syncyte")
    files[torch / "include/syncyte/generated/operators.hpp"] = emit_torch.functions(operators, documented)
    files[torch / "src/generated/operator_table.cpp"] = emit_torch.table(operators)
    modules = [read_module(path) for path in sorted((fortran / "methods").glob("*.methods"))]
    texts = emit_fortran.emit(core, hdf5, helpers, names)
    texts |= emit_methods.emit(modules, names)
    texts["syncyte77.inc"] = emit_fortran.include(names)
    files |= {Path("bindings/fortran/generated") / name: text for name, text in texts.items()}
    return {path: with_license(path, text) for path, text in files.items()}


def _differences(files: dict[Path, str]) -> list[str]:
    lines = []
    for path, text in files.items():
        target = ROOT / path
        committed = target.read_text(encoding="utf-8") if target.exists() else ""
        lines += difflib.unified_diff(
            committed.splitlines(), text.splitlines(), f"committed/{path}", f"generated/{path}", lineterm="", n=1
        )
    folders = {path.parent for path in files if path.parent.name == "generated"}
    committed_files = {path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).glob("*")}
    return lines + [f"{path}: no header generates it" for path in sorted(committed_files - files.keys())]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the committed files instead of writing")
    parser.add_argument("--compiler", default="cc", help="C compiler whose preprocessor reads the headers")
    arguments = parser.parse_args()
    try:
        files = generate(arguments.compiler)
    except AnnotationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if arguments.check:
        lines = _differences(files)
        if lines:
            print("\n".join(lines[:200]))
            print("The files differ from what the sources give: cmake --build build --target generate", file=sys.stderr)
        return 1 if lines else 0
    for path, text in files.items():
        target = ROOT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
