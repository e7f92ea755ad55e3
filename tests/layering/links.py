"""Links of the pages lead to files, and paths of sources that they name exist.

links.py ROOT
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")
PATH = re.compile(r"`((?:src|capi|include|cmake)/[\w./-]+)`")
PLACEHOLDER = re.compile(r"/[A-Z]+\b")  # src/X


def dead(page: Path, root: Path) -> list[str]:
    """The links and paths of a page that lead nowhere."""
    text = BLOCK.sub("", page.read_text())
    links = [link for link in LINK.findall(CODE.sub("", text)) if not (page.parent / link).exists()]
    paths = [path for path in PATH.findall(text) if not PLACEHOLDER.search(path) and not (root / path).exists()]
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
