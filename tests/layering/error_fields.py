# SPDX-License-Identifier: BSD-3-Clause
"""Errors about arguments carry fields beside their text: base::expect() and base::refuse() fill them.

    error_fields.py ROOT      prints each violation as FILE:LINE: TEXT and answers 1 if there is one

A violation is a require(), fail() or error() of src/ or capi/src/ with one of the statuses of wrong arguments.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Files whose errors of these statuses are about no argument.
ALLOWED = {
    "src/base/environment.cpp": "environment variables",
    "src/kv/store.cpp": "what a store is not ready for",
    "src/reducer/bucket_reducer.cpp": "a round that has not started all buckets",
}
PLAIN = re.compile(r"\b(require|fail|error)\([^;]*?\b(SYNCYTE_ERR_(?:ARGUMENT|SHAPE|TYPE|INDEX))\b")
COMMENT = re.compile(r"//.*")


def plain_errors(path: Path) -> list[tuple[int, str]]:
    """Line number and text of each violation."""
    text = COMMENT.sub("", path.read_text())
    return [
        (text.count("\n", 0, found.start()) + 1, f"{found[1]}({found[2]}) has no fields; use expect() or refuse()")
        for found in PLAIN.finditer(text)
    ]


def violations(root: Path) -> Iterator[str]:
    for path in sorted([*(root / "src").rglob("*.[ch]pp"), *(root / "capi/src").rglob("*.[ch]pp")]):
        file, found = path.relative_to(root).as_posix(), plain_errors(path)
        if file not in ALLOWED:
            yield from (f"{file}:{number}: {text}" for number, text in found)
        elif not found:
            yield f"{file}:1: needs no exception in tests/layering/error_fields.py"


def main() -> int:
    found = list(violations(Path(sys.argv[1])))
    print("\n".join(found) or "errors about arguments have fields")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
