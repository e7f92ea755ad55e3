# SPDX-License-Identifier: BSD-3-Clause
"""Compares the library with the committed description of its binary interface, and with that of the last release where
that has the same ABI number; or writes the description anew.

    abi.py check LIBRARY --headers FOLDER... [--baselines FOLDER]
    abi.py update LIBRARY --headers FOLDER... [--baselines FOLDER]

The folder `released` of the baselines has the last release's description. New functions are no change here, and since a
release structs that begin with struct_size may get further members at their end. Answers 77 (skipped), with the reason,
where abidiff is missing or no description for this machine's architecture was committed.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

SKIPPED = 77


def baseline(arguments: argparse.Namespace) -> Path:
    name = Path(arguments.library).name.split(".so")[0]
    return Path(arguments.baselines) / f"{name}-{platform.machine()}.abi"


def describe(arguments: argparse.Namespace, output: Path) -> None:
    """Describes only the public headers' declarations, without paths of this machine and without needed libraries."""
    folders = [word for folder in arguments.headers for word in ("--headers-dir", folder)]
    subprocess.run(
        [
            "abidw",
            *folders,
            "--drop-private-types",
            "--exported-interfaces-only",
            "--no-corpus-path",
            "--no-comp-dir-path",
            "--no-show-locs",
            "--out-file",
            str(output),
            arguments.library,
        ],
        check=True,
    )
    text = re.sub(r" path='[^']*/([^'/]+)'", r" path='\1'", output.read_text())
    output.write_text(re.sub(r"  <elf-needed>.*?</elf-needed>\n", "", text, flags=re.DOTALL))


def soname(description: Path) -> str:
    return description.read_text().partition(" soname='")[2].partition("'")[0]


def structs(description: ElementTree.ElementTree) -> dict[str, ElementTree.Element]:
    return {each.get("name"): each for each in description.iter("class-decl") if each.find("data-member") is not None}


def without_growth(before: Path, now: Path, output: Path) -> None:
    """Writes `now` without the last members that structs which begin with struct_size have got since `before`: old
    programs pass the smaller size, beyond which functions read nothing."""
    old, description = structs(ElementTree.parse(before)), ElementTree.parse(now)
    for name, struct in structs(description).items():
        members = struct.findall("data-member")
        if name not in old or members[0].find("var-decl").get("name") != "struct_size":
            continue
        for added in members[len(old[name].findall("data-member")) :]:
            struct.remove(added)
        struct.set("size-in-bits", old[name].get("size-in-bits"))
    description.write(output)


def differ(before: Path, now: Path) -> bool:
    """Prints the changes between two descriptions that are made in the same way: a comparison with the library itself
    hides changes of structs, because the description does not say in which header they are."""
    result = subprocess.run(["abidiff", "--no-added-syms", str(before), str(now)], capture_output=True, text=True)
    print(result.stdout + result.stderr)
    return result.returncode != 0


def compare(arguments: argparse.Namespace) -> int:
    before = baseline(arguments)
    released = before.parent / "released" / before.name
    with tempfile.TemporaryDirectory(prefix="syncyte-abi-") as folder:
        now = Path(folder) / "now.abi"
        describe(arguments, now)
        if differ(before, now):
            print(
                "The binary interface has changed. If that is meant: raise SYNCYTE_ABI_VERSION where old programs would"
                "\nbreak, say so in CHANGELOG.md, and write the description anew with"
                "\n`cmake --build build --target abi_baseline`."
            )
            return 1
        if released.exists() and soname(released) == soname(now):
            old_part = Path(folder) / "old_part.abi"
            without_growth(released, now, old_part)
            if differ(released, old_part):
                print(
                    f"Programs of the last release, which load {soname(now)}, would break: raise SYNCYTE_ABI_VERSION."
                )
                return 1
    print("the binary interface is as it was")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=["check", "update"])
    parser.add_argument("library")
    parser.add_argument("--headers", required=True, nargs="+")
    parser.add_argument("--baselines", default=str(Path(__file__).parent / "abi"))
    arguments = parser.parse_args()
    if not shutil.which("abidiff") or not shutil.which("abidw"):
        print("skipped: abidiff is not installed (package abigail-tools)")
        return SKIPPED
    if arguments.action == "update":
        describe(arguments, baseline(arguments))
        return 0
    if not baseline(arguments).exists():
        print(f"skipped: no description for {platform.machine()} ({baseline(arguments).name}) was committed")
        return SKIPPED
    return compare(arguments)


if __name__ == "__main__":
    sys.exit(main())
