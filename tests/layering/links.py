# SPDX-License-Identifier: BSD-3-Clause
"""Links of the pages lead to files and to headings that are there, and the paths of this repository that they name
exist: from its root or from the page's folder. `a.{hpp,cpp}` names two files.

links.py ROOT
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
PATH = re.compile(r"`((?:src|capi|include|cmake|bindings|tests|bench|docs|examples|spack|tools)/[\w./{},-]+)`")
BRACES = re.compile(r"(.*)\{(.*)\}(.*)")
PLACEHOLDER = re.compile(r"/[A-Z]+\b")  # src/X


def expanded(path: str) -> list[str]:
    """The paths that one with braces stands for."""
    found = BRACES.fullmatch(path)
    return [found[1] + each + found[3] for each in found[2].split(",")] if found else [path]


def leads_somewhere(target: Path, anchor: str) -> bool:
    if not anchor or not target.exists():
        return target.exists()
    headings = HEADING.findall(BLOCK.sub("", target.read_text()))
    return anchor in [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]


def dead(page: Path, root: Path) -> list[str]:
    """The links and paths of a page that lead nowhere."""
    text = BLOCK.sub("", page.read_text())
    links = [
        link + (anchor and f"#{anchor}")
        for link, anchor in LINK.findall(CODE.sub("", text))
        if not leads_somewhere(page.parent / link if link else page, anchor)
    ]
    named = [path for found in PATH.findall(text) if not PLACEHOLDER.search(found) for path in expanded(found)]
    paths = [path for path in named if not any((folder / path).exists() for folder in [root, page.parent])]
    return [f"{page.relative_to(root)}: {each}" for each in links + paths]


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    folders = ["", "bench", "bindings", "docs", "examples", "spack", "tests"]
    pages = [page for name in folders for page in (root / name).glob("**/*.md" if name else "*.md")]
    errors = [each for page in sorted(pages) for each in dead(page, root)]
    print("\n".join(errors) or f"{len(pages)} pages without a dead link")
    return 1 if errors or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
