# SPDX-License-Identifier: BSD-3-Clause
"""The version stands in project(... VERSION) of CMakeLists.txt; all other places that name it say the same.

    version.py ROOT

A release has its date in CHANGELOG.md and, the newest one, in CITATION.cff; the Spack recipe offers only releases.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

HEADING = re.compile(r"^## (\S+) \((unreleased|\d{4}-\d{2}-\d{2})\)$", re.MULTILINE)
RECIPE = "spack/spack_repo/syncyte/packages/syncyte/package.py"
USERS = ["docs/building.md", "examples/**/CMakeLists.txt", "tests/install/**/CMakeLists.txt"]


def found(pattern: str, path: Path) -> list[str]:
    return re.findall(pattern, path.read_text(), re.MULTILINE)


def stated(root: Path) -> Iterator[tuple[str, str]]:
    """Files that name the whole version, and what they name."""
    for name, pattern in [
        ("capi/include/syncyte/base.h", r"^#define SYNCYTE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$"),
        ("bindings/python/syncyte/_declarations.py", r"^VERSION_(?:MAJOR|MINOR|PATCH) = (\d+)\b"),
        ("CITATION.cff", r"^version: (\S+)$"),
        ("pyproject.toml", r'^version = "(\S+)"$'),
    ]:
        yield name, ".".join(found(pattern, root / name))
    yield "CHANGELOG.md", next(iter(HEADING.findall((root / "CHANGELOG.md").read_text())), ("",))[0]


def problems(root: Path) -> Iterator[str]:
    (version,) = found(r"^project\(syncyte VERSION (\S+)", root / "CMakeLists.txt")
    for name, other in stated(root):
        if other != version:
            yield f"{name}: version '{other}', expected {version} as in CMakeLists.txt"
    minor = version.rpartition(".")[0]
    for path in (path for pattern in USERS for path in root.glob(pattern)):
        for other in found(r"find_package\(syncyte (\d+\.\d+) ", path):
            if other != minor:
                yield f"{path.relative_to(root)}: find_package(syncyte {other}), expected {minor}"
    dates = dict(HEADING.findall((root / "CHANGELOG.md").read_text()))
    released = [date for date in [dates.get(version)] if date != "unreleased"]
    if (dated := found(r"^date-released: (\S+)$", root / "CITATION.cff")) != released:
        yield f"CITATION.cff: date-released is {dated}, expected {released} as in CHANGELOG.md"
    for other in found(r'version\("(\d[^"]*)"', root / RECIPE):
        if dates.get(other, "unreleased") == "unreleased":
            yield f"{RECIPE}: version {other} has no date in CHANGELOG.md"


def main() -> int:
    errors = list(problems(Path(sys.argv[1])))
    print("\n".join(errors) or "all places name one version")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
