"""Compares the library with the committed description of its binary interface, or writes that description anew.

    abi.py check LIBRARY --headers FOLDER... [--baselines FOLDER]
    abi.py update LIBRARY --headers FOLDER... [--baselines FOLDER]

New functions are no change here. Answers 77 (skipped), with the reason, where abidiff is missing or no description for
this machine's architecture was committed.
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


def compare(arguments: argparse.Namespace) -> int:
    # Both sides are descriptions made in the same way: comparing with the library itself hides changes of structs,
    # because the description does not say in which header they are.
    with tempfile.TemporaryDirectory(prefix="syncyte-abi-") as folder:
        now = Path(folder) / "now.abi"
        describe(arguments, now)
        result = subprocess.run(
            ["abidiff", "--no-added-syms", str(baseline(arguments)), str(now)], capture_output=True, text=True
        )
    print(result.stdout + result.stderr)
    if result.returncode == 0:
        print("the binary interface is as it was")
        return 0
    print(
        "The binary interface has changed. If that is meant: raise SYNCYTE_ABI_VERSION where old programs would break,"
        "\nsay so in CHANGELOG.md, and write the description anew with `cmake --build build --target abi_baseline`."
    )
    return 1


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
