# SPDX-License-Identifier: BSD-3-Clause
"""Programs in the documentation's pages, and the output that the pages promise."""

import re
import sys


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def same_in_each_language(path: str) -> tuple[dict[str, str], str]:
    """For a page with one program each in C, C++ and Python: the programs by language, and the line that all print."""
    page = _read(path)
    found = re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)
    if sorted(language for language, _ in found) != ["c", "cpp", "python"]:
        sys.exit(f"{path} has blocks of {[language for language, _ in found]}; expected one each of c, cpp, python")
    return dict(found), re.search(r"programs print\s`(.*?)`", page).group(1)


def python_programs(path: str) -> list[tuple[str, str]]:
    """Each Python program of a page, and the line that it prints."""
    page = _read(path)
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    promises = re.findall(r"it prints\s`(.*?)`", page) or re.findall(r"programs print\s`(.*?)`", page)
    if not programs or len(programs) != len(promises):
        sys.exit(
            f"{path} has {len(programs)} programs and {len(promises)} promises (it prints `...`); expected as many"
        )
    return list(zip(programs, promises, strict=True))
