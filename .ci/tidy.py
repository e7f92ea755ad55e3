# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy, with the checks of .clang-tidy, on the sources of src, capi and bindings and the headers of include.

    tidy.py ROOT BUILD      prints the findings and answers 1 if there is one; BUILD is a configured build folder

The sources of a folder are read as one, which takes far less time. Where this finds something, such as a name
that two sources define, each source is read on its own.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDERS = ["src", "capi/src", "bindings"]
HEADERS = "tests/cxx"  # in the build folder: a source for each header of include/


def groups(root: Path, build: Path) -> dict[tuple[Path, str, str], list[Path]]:
    """The sources of each folder that have the same command, which is part of the key with its own folder."""
    folders = [*(root / each for each in FOLDERS), build / HEADERS]
    found: dict[tuple[Path, str, str], list[Path]] = {}
    seen: set[Path] = set()  # tests compile some sources once more
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file, command = Path(entry["file"]), entry["command"].partition(" -o ")[0]
        if file.suffix == ".cpp" and file not in seen and any(file.is_relative_to(each) for each in folders):
            seen.add(file)
            found.setdefault((file.parent, command, entry["directory"]), []).append(file)
    return found


def main() -> int:
    root, build = (Path(argument).resolve() for argument in sys.argv[1:])
    tidy = [str(Path(sys.executable).parent / "clang-tidy"), "--quiet", f"--config-file={root}/.clang-tidy"]

    def findings(source: Path, command: str, folder: str) -> str:
        flags = shlex.split(command)[1:]
        run = subprocess.run([*tidy, str(source), "--", *flags], cwd=folder, capture_output=True, text=True)
        return (run.stdout or run.stderr) if run.returncode else ""

    def findings_of_group(group: tuple[tuple[Path, str, str], list[Path]]) -> str:
        (_, command, folder), sources = group
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as together:
            together.writelines(f'#include "{source}"\n' for source in sources)
            together.flush()
            if not findings(Path(together.name), command, folder):
                return ""
        return "".join(findings(source, command, folder) for source in sources)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = "".join(pool.map(findings_of_group, groups(root, build).items()))
    print(found or "no findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
