# SPDX-License-Identifier: BSD-3-Clause
"""A failed test in Python says what is wrong, no test module needs another one, and tests are named in one style.

    python_tests.py ROOT      prints each violation as FILE:LINE: TEXT and answers 1 if there is one

A violation is an assertion of conditions joined by `and`, an import from a module test_*, or a capital letter in the
name of a test in C++.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import units


def asserted(node: ast.AST) -> ast.expr | None:
    """The condition of an assert statement or an assertTrue() of unittest."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "assertTrue":
        return node.args[0]
    return node.test if isinstance(node, ast.Assert) else None


def violations(root: Path) -> Iterator[str]:
    for path in sorted((root / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            condition = asserted(node)
            if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
                yield f"{path.relative_to(root)}:{condition.lineno}: joins conditions by `and`; assert each of them"
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for name in units.imported_names(node, ()):
                    if any(part.startswith("test_") for part in name):
                        yield f"{path.relative_to(root)}:{node.lineno}: imports {'.'.join(name)}; move it to a helper"


def misnamed(root: Path) -> Iterator[str]:
    for path in sorted((root / "tests").rglob("*.cpp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\bTEST(_[FP])?\(\w*[A-Z]|\bTEST(_[FP])?\(\w+, \w*[A-Z]", line):
                yield f"{path.relative_to(root)}:{number}: a test is named in words_with_underscores"


def main() -> int:
    root = Path(sys.argv[1])
    found = [*violations(root), *misnamed(root)]
    print("\n".join(found) or "every assertion has one condition, no test module is imported, names have one style")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
