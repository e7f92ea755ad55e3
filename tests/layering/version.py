# SPDX-License-Identifier: BSD-3-Clause
"""The version stands in project(... VERSION) of CMakeLists.txt; all other places that name it say the same.

    version.py ROOT

A release has its date in CHANGELOG.md and, the newest one, in CITATION.cff, and the description of its binary interface
in tests/layering/abi/released; the Spack recipe offers only releases, by commits of their version.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HEADING = re.compile(r"^## (\S+) \((unreleased|\d{4}-\d{2}-\d{2})\)$", re.MULTILINE)
PROJECT = r"^project\(syncyte VERSION (\S+)"
RECIPE = "spack/spack_repo/syncyte/packages/syncyte/package.py"
USERS = ["docs/building.md", "examples/**/CMakeLists.txt", "tests/install/**/CMakeLists.txt"]


def found(pattern: str, path: Path) -> list[str]:
    return re.findall(pattern, path.read_text(), re.MULTILINE)


def stated(root: Path) -> Iterator[tuple[str, str]]:
    """Files that name the whole version, and what they name."""
    for name, pattern in [
        ("capi/include/syncyte/base.h", r"^#define SYNCYTE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$"),
        ("bindings/python/syncyte/_declarations.py", r"^VERSION_(?:MAJOR|MINOR|PATCH) = (\d+)\b"),
        ("README.md", r"^\*\*Version (\S+)\.\*\*"),
        ("CITATION.cff", r"^version: (\S+)$"),
        ("pyproject.toml", r'^version = "(\S+)"$'),
    ]:
        yield name, ".".join(found(pattern, root / name))
    yield "CHANGELOG.md", next(iter(HEADING.findall((root / "CHANGELOG.md").read_text())), ("",))[0]


def version_of(root: Path, commit: str) -> str | None:
    """The version of a commit; none where it does not exist, and None in a copy without git or of the last commits."""
    git = ["git", "-C", root]
    asked = subprocess.run([*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True, check=False)
    if asked.stdout.strip() != "false":
        return None
    shown = subprocess.run([*git, "show", f"{commit}:CMakeLists.txt"], capture_output=True, text=True, check=False)
    return next(iter(re.findall(PROJECT, shown.stdout, re.MULTILINE)), "none")


def problems(root: Path) -> Iterator[str]:
    (version,) = found(PROJECT, root / "CMakeLists.txt")
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
    if set(dates.values()) - {"unreleased"} and not list((root / "tests/layering/abi/released").glob("*.abi")):
        yield "tests/layering/abi/released: the last release's binary interface is not there"
    for other, commit in re.findall(r'version\("(\d[^"]*)", commit="(\w+)"', (root / RECIPE).read_text()):
        if dates.get(other, "unreleased") == "unreleased":
            yield f"{RECIPE}: version {other} has no date in CHANGELOG.md"
        elif (of_commit := version_of(root, commit)) not in (None, other):
            yield f"{RECIPE}: version {other} is pinned to commit {commit}, which is of version {of_commit}"


def main() -> int:
    errors = list(problems(Path(sys.argv[1])))
    print("\n".join(errors) or "all places name one version")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
