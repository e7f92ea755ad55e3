# SPDX-License-Identifier: BSD-3-Clause
"""Writes the metadata of the Python package for an installation by CMake, from pyproject.toml.

dist_info.py PYPROJECT VERSION FOLDER

pip writes the same for a package that it installs itself. Format: PyPA's "Recording installed projects" and
"Core metadata specifications". There is no RECORD: pip lists the package, and leaves its removal to CMake or Spack.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def metadata(project: dict[str, Any], version: str) -> Iterator[str]:
    """The lines of METADATA."""
    yield "Metadata-Version: 2.4"
    yield f"Name: {project['name']}"
    yield f"Version: {version}"
    yield f"Summary: {project['description']}"
    yield f"License-Expression: {project['license']}"
    yield f"Requires-Python: {project['requires-python']}"
    for requirement in project["dependencies"]:
        yield f"Requires-Dist: {requirement}"
    for extra, requirements in project["optional-dependencies"].items():
        yield f"Provides-Extra: {extra}"
        for requirement in requirements:
            yield f'Requires-Dist: {requirement}; extra == "{extra}"'


def entry_points(project: dict[str, Any]) -> Iterator[str]:
    """The lines of entry_points.txt."""
    groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
    for group, entries in groups.items():
        yield f"[{group}]"
        for name, value in entries.items():
            yield f"{name} = {value}"


def main(pyproject: str, version: str, folder: str) -> None:
    project = tomllib.loads(Path(pyproject).read_text())["project"]
    files = {
        "METADATA": metadata(project, version),
        "entry_points.txt": entry_points(project),
        "INSTALLER": iter(["cmake"]),
    }
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        Path(folder, name).write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
