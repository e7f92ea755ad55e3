# SPDX-License-Identifier: BSD-3-Clause
"""docs/environment.md has the table of src/base/settings.hpp, and no other file of the libraries names a variable.
Names of choices are those of their enum, and no other file repeats a default.

settings.py ROOT [--write]
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

_SETTING = re.compile(r"constexpr (?:setting|auto) (\w+) =\s*a_(\w+)(?:<(\w+)>)?\((.*?)\);", re.DOTALL)
_ARGUMENT = re.compile(r'\{(.*?)\}|((?:"[^"]*"\s*)+)|([\d.]+)', re.DOTALL)
_TABLE = re.compile(r"(\| variable \| value .*\n\|-.*\n)((?:\|.*\n)+)")
_READ = re.compile(r'(?:environment\w*|getenv)\(\s*"(SYNCYTE_\w+)"')
_DEFAULT_OF_READ = re.compile(r"environment\w*\([\w:]*settings::(\w+)\)\s*\.value_or\(\s*[\"\d]")
# Places that may not say what holds if a variable is unset.
_TEXTS = ["README.md", "docs/*.md", "capi/include/syncyte/*.h", "include/syncyte/*.hpp", "bindings/python/syncyte/*.py"]


def _text(literals: str) -> str:
    """The value of one or several string literals."""
    return "".join(re.findall(r'"([^"]*)"', literals))


def _value(kind: str, given: str) -> str:
    """What the variable may be; `given`: the choices, or the least number of seconds."""
    if kind == "choice":
        return ", ".join(f"`{each}`" for each in re.findall(r'"(\w+)"', given))
    least = f", at least {given}" if kind == "seconds" and given != "0" else ""
    return {"seconds": "seconds", "bytes": "a size", "numbers": "numbers", "text": "text"}[kind] + least


def rows(header: str) -> list[str]:
    """The table's rows, sorted by the variables' names."""
    found = []
    for _, kind, _, arguments in _SETTING.findall(header):
        name, *given, otherwise, meaning = (match[0] for match in _ARGUMENT.finditer(arguments))
        value = _value(kind, given[0] if given else "")
        found.append(f"| `{_text(name)}` | {value} | {_text(otherwise)} | {_text(meaning)} |\n")
    return sorted(found, key=lambda row: row.split("`")[1])


def others(root: Path) -> list[str]:
    """Reads of variables that the table does not have."""
    files = [path for folder in ("src", "capi/src", "bindings/torch/src", "bindings/hdf5/src")
             for path in sorted((root / folder).rglob("*.[ch]pp"))]  # fmt: skip
    found = [f"{path.relative_to(root)} reads {name}: describe it in src/base/settings.hpp"
             for path in files for name in _READ.findall(path.read_text())]  # fmt: skip
    return found + [f"{path.relative_to(root)} has a default of {name}, which stands in src/base/settings.hpp"
                    for path in files for name in _DEFAULT_OF_READ.findall(path.read_text())]  # fmt: skip


def repeated(root: Path, header: str) -> list[str]:
    """Texts that say what holds if a variable is unset: "SYNCYTE_CACHE, otherwise ..."."""
    names = "|".join(re.findall(r'\("(SYNCYTE_\w+)"', header.replace("\n", "").replace(" ", "")))
    repeats = re.compile(rf"\b({names})\b[^.\n]{{0,30}}\b(?:default|otherwise|unset)\b")
    paths = [path for pattern in _TEXTS for path in sorted(root.glob(pattern)) if path.name != "environment.md"]
    return [f"{path.relative_to(root)} repeats a default of {name}; docs/environment.md has it"
            for path in paths for name in repeats.findall(path.read_text())]  # fmt: skip


def enums(header: str) -> list[str]:
    """Choices whose names differ from the values of their enum."""
    values = dict(re.findall(r"enum class (\w+) \{ (.*) \};", header))
    return [f"src/base/settings.hpp: the choices of {name} differ from the values of {enum}"
            for name, kind, enum, arguments in _SETTING.findall(header) if kind == "choice"
            and re.findall(r'"(\w+)"', arguments[arguments.index("{") : arguments.index("}")])
            != values.get(enum, "").split(", ")]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--write", action="store_true", help="write the page's table instead of comparing it")
    given = parser.parse_args()
    page = given.root / "docs/environment.md"
    header = (given.root / "src/base/settings.hpp").read_text()
    wanted = rows(header)
    written = _TABLE.sub(lambda match: match[1] + "".join(wanted), page.read_text())
    if given.write:
        page.write_text(written)
        return 0
    problems = others(given.root) + repeated(given.root, header) + enums(header)
    listed = re.findall(r"&(\w+)", header[header.index(" all{") :])
    if sorted(listed) != sorted(name for name, *_ in _SETTING.findall(header)):
        problems.append("src/base/settings.hpp: `all` has not all settings, or has one twice")
    if written != page.read_text():
        problems.append("docs/environment.md differs from src/base/settings.hpp; settings.py --write renews its table")
    print("\n".join(problems) or f"{len(wanted)} settings")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
