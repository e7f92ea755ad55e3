# SPDX-License-Identifier: BSD-3-Clause
"""The line that names a source's license; it is the first line, or the second behind one that must be first."""

from __future__ import annotations

from pathlib import Path

_NAME = "SPDX-License-Identifier: BSD-3-Clause"
_BY_SUFFIX = dict.fromkeys([".cpp", ".hpp"], f"// {_NAME}\n")
_BY_SUFFIX |= dict.fromkeys([".c", ".h", ".map"], f"/* {_NAME} */\n")  # users may compile the C headers as C90
_BY_SUFFIX |= dict.fromkeys([".f90", ".f", ".inc", ".methods"], f"! {_NAME}\n")
_BY_SUFFIX |= dict.fromkeys(
    [".py", ".cmake", ".sh", ".csh", ".fish", ".sbatch", ".conf", ".pc", ".schemas", ".toml", ".ini"], f"# {_NAME}\n"
)


def license_line(path: Path) -> str:
    """The line that a file of this name holds; empty where files of its kind hold none."""
    name = path.name.removesuffix(".in")
    return _BY_SUFFIX[".cmake"] if name == "CMakeLists.txt" else _BY_SUFFIX.get(Path(name).suffix, "")


def with_license(path: Path, text: str) -> str:
    """The file's text with its line, which is added if it is not there."""
    line = license_line(path)
    first, newline, rest = text.partition("\n")
    if not text or not line or text.startswith(line) or rest.startswith(line):
        return text
    return first + newline + line + rest if first.startswith("#!") else line + text
