#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the hashes below each `name==version` of lock files anew, after a version was changed by hand.

    renew_hashes.py --index https://HOST/simple cmake/requirements.lock ...

They are those of the registry's wheels for the systems that requirements.lock names, and of the source archive. Needs
the package packaging.
"""

from __future__ import annotations

import argparse
import json
import re
import urllib.request
from pathlib import Path

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

PACKAGE = re.compile(r"^([\w.-]+)==([\w.]+) \\\n .*\n", re.MULTILINE)
PYTHONS = ("cp311", "cp312", "cp313")
MACHINES = ("x86_64", "aarch64")


def fits(tag) -> bool:
    """Whether a wheel of this tag can be installed on one of the systems."""
    python = tag.interpreter == "py3" or tag.interpreter in PYTHONS
    stable = tag.abi == "abi3" and tag.interpreter in {f"cp3{minor}" for minor in range(2, 14)}
    linux = "linux" in tag.platform and "musl" not in tag.platform and tag.platform.endswith(MACHINES)
    return (stable or (python and not tag.abi.endswith("t"))) and (tag.platform == "any" or linux)


def files(index: str, name: str) -> list[dict]:
    address = f"{index.rstrip('/')}/{canonicalize_name(name)}/"
    request = urllib.request.Request(address, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["files"]


def hashes(index: str, name: str, version: str) -> list[str]:
    found = []
    for file in files(index, name):
        filename, digest = file["filename"], file["hashes"]["sha256"]
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise SystemExit(f"{name}: the registry's SHA-256 of {filename} is {digest!r}")
        if filename.endswith(".whl"):
            try:
                project, of, _, tags = parse_wheel_filename(filename)
            except InvalidWheelFilename:
                continue
            if project == canonicalize_name(name) and str(of) == version and any(map(fits, tags)):
                found.append(digest)
        elif filename.endswith(suffix := f"-{version}.tar.gz") and (
            canonicalize_name(filename.removesuffix(suffix)) == canonicalize_name(name)
        ):
            found.append(digest)
    if not found:
        raise SystemExit(f"{name} {version}: the registry has no file for the systems of the lock")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", required=True, help="the registry's simple index")
    parser.add_argument("locks", nargs="+", type=Path)
    arguments = parser.parse_args()

    def renewed(package: re.Match) -> str:
        lines = " ".join(f"--hash=sha256:{digest}" for digest in hashes(arguments.index, *package.groups()))
        return f"{package[1]}=={package[2]} \\\n    {lines}\n"

    for lock in arguments.locks:
        lock.write_text(PACKAGE.sub(renewed, lock.read_text()))


if __name__ == "__main__":
    main()
