# SPDX-License-Identifier: BSD-3-Clause
"""Counts hand-written lines of code: no blank lines, no comments, no docstrings, no generated files.

    lines.py ROOT             one line for each folder, and the sum of the library's
    lines.py ROOT --files     one line for each file

A folder is one of the library's sources. Programs that generate code are counted, generated code is not. Tests,
benchmarks and examples are counted separately.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from pygments.lexer import Lexer
from pygments.lexers.c_cpp import CppLexer
from pygments.lexers.fortran import FortranLexer
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, String, Text

LEXERS: dict[str, type[Lexer]] = {".py": PythonLexer, ".f90": FortranLexer, ".methods": FortranLexer}
LEXERS |= dict.fromkeys([".c", ".h", ".cpp", ".hpp", ".cu", ".cuh"], CppLexer)

# The folders of the library; a file belongs to the deepest one that contains it.
LIBRARY = [
    "include",
    "capi",
    "bindings/fortran",
    "bindings/generate",
    "bindings/hdf5",
    "bindings/python",
    "bindings/python/syncyte/compat",
    "bindings/python/syncyte/nn",
    "bindings/torch",
]
APART = ["tests", "bench", "examples"]
GENERATED = [
    "bindings/fortran/generated",
    "bindings/python/syncyte/_declarations.py",
    "capi/generated",
    "capi/include/syncyte/generated",
    "include/syncyte/generated",
    "src/base/generated",
    "bindings/torch/include/syncyte/generated",
    "bindings/torch/src/generated",
]


def holds_code(kind: object, text: str) -> bool:
    return (
        bool(text.strip())
        and kind not in String.Doc
        and kind not in Text
        and (kind not in Comment or kind in Comment.Preproc or kind in Comment.PreprocFile)
    )


def code_lines(path: Path) -> int:
    """Number of lines of a file that hold code."""
    found: set[int] = set()
    line = 0
    lexer = LEXERS[path.suffix](stripnl=False, ensurenl=False)
    for kind, text in lexer.get_tokens(path.read_text()):
        for offset, part in enumerate(text.split("\n")):
            if holds_code(kind, part):
                found.add(line + offset)
        line += text.count("\n")
    return len(found)


def is_generated(name: str) -> bool:
    return any(name == each or name.startswith(each + "/") for each in GENERATED)


def folder_of(name: str, folders: list[str]) -> str:
    return max((folder for folder in folders if name.startswith(folder + "/")), key=len)


def files(root: Path, folders: list[str]) -> list[str]:
    """Hand-written sources in some folders, relative to the root."""
    found = {
        path.relative_to(root).as_posix()
        for folder in folders
        for path in (root / folder).rglob("*")
        if path.suffix in LEXERS and path.is_file()
    }
    return sorted(name for name in found if not is_generated(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--files", action="store_true", help="one line for each file")
    arguments = parser.parse_args()
    source = sorted(
        path.relative_to(arguments.root).as_posix() for path in (arguments.root / "src").iterdir() if path.is_dir()
    )
    library = source + LIBRARY
    for folders in (library, APART):
        lines = {name: code_lines(arguments.root / name) for name in files(arguments.root, folders)}
        counts: Counter[str] = Counter()
        for name, count in lines.items():
            counts[name if arguments.files else folder_of(name, folders)] += count
        for name, count in counts.items():
            print(f"{count:7} {name}")
        print(f"{counts.total():7} {'the library' if folders is library else 'apart from it'}\n")


if __name__ == "__main__":
    main()
