# SPDX-License-Identifier: BSD-3-Clause
"""Draws the house: the folders with their units, and which folder includes which, by Graphviz (dot and tred).

    house.py ROOT FILE.svg           draws it
    house.py ROOT FILE.svg --check   exits with 1 if the file's folders or units are not those of the tree

Arrows that follow from others are left out.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import layers
import units

# Folders on top of the C interface, and the folders that hold their sources.
USERS = {
    "include": "include",
    "fortran": "bindings/fortran",
    "torch": "bindings/torch/src",
    "hdf5": "bindings/hdf5/src",
    "python": "bindings/python/syncyte",
}
CTYPES = ("python", "capi")  # an arrow without an include: Python calls the C interface by ctypes


def folders(root: Path) -> dict[str, list[str]]:
    """Names of the folders, each with its units."""
    found: dict[str, set[str]] = {}
    for unit in units.cpp_graph(root, "src"):
        folder_name, _, name = unit.partition("/")
        if not name.startswith("generated/"):
            found.setdefault(folder_name, set()).add(name)
    found["capi"] = set(units.cpp_graph(root, "capi/src"))
    for user, folder in USERS.items():
        paths = [path for path in (root / folder).rglob("*") if path.suffix in layers.SOURCE | {".py", ".f90", ".F90"}]
        names = {path.relative_to(root / folder).as_posix().rsplit(".", 1)[0] for path in paths}
        found[user] = {name for name in names if not name.startswith(("generated/", "examples/"))}
    return {folder_name: sorted(names) for folder_name, names in found.items()}


def arrows(root: Path) -> set[tuple[str, str]]:
    found = {CTYPES}
    for unit, included in units.cpp_graph(root, "src").items():
        found |= {(unit.split("/")[0], other.split("/")[0]) for other in included}
    for path in layers.sources(root / "capi/src"):
        for _, name, _ in layers.includes(path):
            if (root / "src" / name).is_file():
                found.add(("capi", name.split("/")[0]))
    for user, folder in USERS.items():
        for path in layers.sources(root / folder):
            for _, name, _ in layers.includes(path):
                if (root / "capi/include" / name).is_file():
                    found.add((user, "capi"))
                elif user != "include" and name.endswith(".hpp") and (root / "include" / name).is_file():
                    found.add((user, "include"))
                elif user != "hdf5" and (root / "bindings/hdf5/include" / name).is_file():
                    found.add((user, "hdf5"))
    return {(folder_name, other) for folder_name, other in found if folder_name != other}


def shown(names: list[str]) -> list[str]:
    """Lines of a folder's box: its units, or the first of them and the number of the others."""
    return names if len(names) <= 24 else [*names[:23], f"and {len(names) - 23} more"]


def label(folder_name: str, names: list[str]) -> str:
    """A title, and the units in columns."""
    height = 6
    lines = shown(names)
    columns = [lines[start : start + height] for start in range(0, len(lines), height)]
    left = '<BR ALIGN="LEFT"/>'
    cells = "".join(
        f'<TD ALIGN="LEFT" VALIGN="TOP">{left.join(map(html.escape, column))}{left}</TD>' for column in columns
    )
    return (
        f'<<TABLE BORDER="0" CELLSPACING="2"><TR><TD COLSPAN="{len(columns)}"><B>{folder_name}</B></TD></TR>'
        f"<TR>{cells}</TR></TABLE>>"
    )


def text(root: Path) -> str:
    """The house in Graphviz's language."""
    lines = [
        "digraph house {",
        "rankdir=TB; nodesep=0.25; ranksep=0.35;",
        'node [shape=box, fontname="Helvetica", fontsize=9, style=filled, fillcolor="#f5f5f0"];',
        'edge [color="#606060", arrowsize=0.6];',
    ]
    lines += [f"{folder_name} [label={label(folder_name, names)}];" for folder_name, names in folders(root).items()]
    lines += [f"{folder_name} -> {other};" for folder_name, other in sorted(arrows(root))]
    return "\n".join([*lines, "}"])


def check(root: Path, drawing: str) -> int:
    drawn = [html.unescape(text) for text in re.findall("<text[^>]*>([^<]*)</text>", drawing)]
    wanted = [text for folder, names in folders(root).items() for text in [folder, *shown(names)]]
    differences = sorted(set(drawn) ^ set(wanted))
    if differences:
        print(f"not in both the tree and the drawing: {', '.join(differences)}; run the target house")
    return int(bool(differences))


def main() -> int:
    root, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    if sys.argv[3:] == ["--check"]:
        return check(root, output.read_text())
    reduced = subprocess.run(["tred"], input=text(root), capture_output=True, text=True, check=True)
    drawn = subprocess.run(["dot", "-Tsvg"], input=reduced.stdout, capture_output=True, text=True, check=True)
    output.write_text(drawn.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
