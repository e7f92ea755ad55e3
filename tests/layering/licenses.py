# SPDX-License-Identifier: BSD-3-Clause
"""Each source names its license in its first line (bindings/generate/license.py says how).

licenses.py ROOT          prints the sources that do not
licenses.py ROOT --add    adds the line to them
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

FOLDERS = [".ci", "bench", "bindings", "capi", "cmake", "docs", "examples", "include", "spack", "src", "tests", "tools"]


def sources(root: Path) -> list[Path]:
    found = [path for folder in FOLDERS for path in (root / folder).rglob("*")]
    made = {"__pycache__", ".spack-env"}
    return [path for path in sorted([*found, *root.glob("*")]) if path.is_file() and made.isdisjoint(path.parts)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--add", action="store_true")
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.root / "bindings" / "generate"))
    from license import license_line, with_license

    missing = []
    for path in sources(arguments.root):
        if not license_line(path):
            continue
        text = path.read_text(encoding="utf-8")
        if (complete := with_license(path, text)) != text:
            missing.append(path)
            if arguments.add:
                path.write_text(complete, encoding="utf-8")
    verb = "added" if arguments.add else "lacks"
    for path in missing:
        print(f"{path.relative_to(arguments.root)}: {verb} {license_line(path).strip()}")
    return 1 if missing and not arguments.add else 0


if __name__ == "__main__":
    sys.exit(main())
