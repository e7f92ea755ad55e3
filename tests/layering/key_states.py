# SPDX-License-Identifier: BSD-3-Clause
"""Draws the states of a key of the parameter store, at its home and at another node, by Graphviz (dot).

    key_states.py ROOT FILE.svg           draws it
    key_states.py ROOT FILE.svg --check   exits with 1 if the picture disagrees with the tables of states in src/kv

An arrow's text is the message that came, or what happened, and behind the colon what is sent then. Each arrow names the
cells of the tables that it shows, with words that they must have.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HOME, AGENT, MESSAGES = "src/kv/key_directory.hpp", "src/kv/node_agent.hpp", "src/kv/move_operation.hpp"
TITLES = {HOME: "at the home of the key", AGENT: "at another node"}


class Cell(NamedTuple):
    """A cell of a table, by the beginning of its row's name, and words of it."""

    row: str
    column: str
    words: str


class Arrow(NamedTuple):
    begin: str
    end: str
    text: str
    cells: tuple[Cell, ...]


def arrow(begin: str, end: str, text: str, *cells: tuple[str, str, str]) -> Arrow:
    return Arrow(begin, end, text, tuple(Cell(*each) for each in cells))


LOCALIZES, INTENDS = "another node localizes it", "another node intends it"
ARROWS = {
    HOME: (
        arrow("at home", "away", "acquire, intend: grant",
              (LOCALIZES, "at home", "grant"), (INTENDS, "at home", "the same")),
        arrow("at home", "shared", "intend, others use it too:\ngrant copy", (INTENDS, "at home", "or grant copy")),
        arrow("at home", "at home", "acquire, intend,\nrefused: refuse", (LOCALIZES, "at home", "refused if damaged")),
        arrow("away", "recalled", "acquire: recall", (LOCALIZES, "away", "a wish; recall")),
        arrow("away", "asked back", "intend: ask back", (INTENDS, "away", "a wish; ask back")),
        arrow("asked back", "away", "keep: refuse",
              ("keep by the holder", "asked back", "away; wishes by intent are refused")),
        arrow("asked back", "recalled", "acquire: recall", (LOCALIZES, "asked back", "")),
        arrow("away", "at home", "give back", ("give back by the holder", "away", "at home")),
        arrow("asked back", "at home", "give back", ("give back by the holder", "asked back", "at home")),
        arrow("asked back", "shared", "share: grant copy", ("share by the holder", "away", "shared")),
        arrow("recalled", "at home", "give back", ("give back by the holder", "recalled", "as asked back")),
        arrow("recalled", "away", "give back,\nanother node waits:\ngrant",
              ("give back by the holder", "asked back", "or to the first wish")),
        arrow("away", "lost", "the holder dies,\ngive back none", ("death of the holder's agent", "away", "lost")),
        arrow("recalled", "lost", "the same: refuse",
              ("death of the holder's agent", "asked back", "lost; wishes are refused")),
        arrow("lost", "at home", "set, adopt last"),
        arrow("shared", "at home", "end copy, the last one", ("end of the copy", "its copy is recalled", "no copy"),
              ("death of the node's agent", "the node has a copy", "no copy")),
        arrow("shared", "shared", "intend: grant copy", ("a node intends it", "the node has no copy", "grant copy")),
        arrow("shared", "shared", "pushes, changes: refresh",
              ("pushes to the copy", "the node has a copy", "all are stale"),
              ("the copy is stale", "the node has a copy", "refresh")),
        arrow("shared", "shared", "nodes change it in turn: recall;\nintend, soon after: put off",
              ("nodes change the key in turn", "the node has a copy", "recalled"),
              ("nodes change the key in turn", "the node has no copy", "put off")),
        arrow("shared", "shared", "acquire: recall",
              ("a node localizes it", "the node has no copy", "all copies are recalled")),
        arrow("shared", "shared", "set: invalidate",
              ("set by any worker", "the node has a copy", "all copies are recalled")),
    ),
    AGENT: (
        arrow("none", "asked", "a worker localizes it: acquire\na worker intends it: intend",
              ("a worker localizes it", "none", "acquire: asked"), ("a worker intends it", "none", "intend: asked")),
        arrow("asked", "none", "refuse, put off", ("refuse", "asked", "none"), ("put off", "asked", "as refuse")),
        arrow("asked", "main copy here", "grant", ("grant", "asked", "main copy here")),
        arrow("asked", "copy here", "grant copy", ("grant copy", "asked", "copy here")),
        arrow("main copy here", "none", "recall, ask back, or memory is\nneeded: give back, give back none",
              ("recall", "main copy here", "given back"), ("ask back, no worker", "main copy here", "given back"),
              ("the agent needs memory", "main copy here", "given back")),
        arrow("main copy here", "copy here", "ask back, a worker\nintends it: share",
              ("ask back, a worker", "main copy here", "share: copy here")),
        arrow("main copy here", "main copy here", "ask back, where keys only move,\na worker intends it: keep",
              ("ask back, a worker", "main copy here", "where keys only move, keep")),
        arrow("copy here", "none", "recall, the last window closes,\nor memory is needed: end copy",
              ("recall", "copy here", "ended"), ("the last window closes", "copy here", "ended"),
              ("the agent needs memory", "copy here", "ended")),
        arrow("copy here", "asked",
              "invalidate, a worker intends it: end copy, intend\na worker localizes it: end copy, acquire",
              ("invalidate", "copy here", "intend if a worker intends it: asked"),
              ("a worker localizes it", "copy here", "ended; acquire: asked")),
        arrow("copy here", "copy here", "a worker pushes: pushes", ("a worker pushes", "copy here", "pushes")),
        arrow("copy here", "copy here", "refresh", ("refresh", "copy here", "fresh")),
    ),
}  # fmt: skip
NOT_DRAWN = {"give back none", "end copy none", "renew", "renewed"}  # as those without "none"; no key's state changes
ADDED_STATES = {HOME: {"shared", "lost"}, AGENT: set()}  # no columns of the tables


def tables(header: str) -> dict[tuple[str, str], str]:
    """The cells of all tables in a header's comments, by row and column; a column's name stands in one table only."""
    found: dict[tuple[str, str], str] = {}
    columns: list[str] = []
    for line in re.findall(r"^/// \|(.*)\|$", header, re.MULTILINE):
        name, *cells = (cell.strip() for cell in line.split("|"))
        if not name:
            columns = cells
        elif not name.startswith("---"):
            found |= {(name, column): cell for column, cell in zip(columns, cells, strict=True)}
    return found


def states(header: str) -> list[str]:
    """The columns of a header's first table."""
    first = re.search(r"^/// \| \|(.*)\|$", header, re.MULTILINE)
    return [name.strip() for name in first[1].split("|")] if first else []


def messages(header: str) -> list[str]:
    """Names of the messages between homes and agents that change the state of a key, as texts."""
    body = re.search(r"// To a home rank, at.*?(?=// To the agent of the worker's own node)", header, re.DOTALL)
    names = [name.replace("_", " ") for name in re.findall(r"^\s*(\w+) =", body[0], re.MULTILINE)] if body else []
    return [name for name in names if name not in NOT_DRAWN]


def disagreements(file: str, header: str) -> Iterator[str]:
    cells = tables(header)
    drawn = {state for each in ARROWS[file] for state in (each.begin, each.end)}
    if drawn != (wanted := {*states(header), *ADDED_STATES[file]}):
        yield f"{file}: not in both the table and the picture: {', '.join(sorted(drawn ^ wanted))}"
    for each in ARROWS[file]:
        for row, column, words in each.cells:
            rows = [name for name, of in cells if of == column and name.startswith(row)]
            if not any(words in cells[name, column] for name in rows):
                yield f"{file}: the table does not say {words!r} for {row!r} in the state {column!r}; the picture does"


def missing_messages(header: str) -> Iterator[str]:
    texts = " ".join(each.text for arrows in ARROWS.values() for each in arrows).replace("\n", " ")
    for message in messages(header):
        if not re.search(rf"\b{message}\b", texts):
            yield f"{MESSAGES}: the picture lacks the message {message!r}"


def text() -> str:
    """The picture in Graphviz's language."""
    lines = [
        "digraph key_states {",
        "rankdir=TB; nodesep=0.5; ranksep=0.75;",
        'fontname="Helvetica"; fontsize=12;',
        'node [shape=box, style="rounded,filled", fillcolor="#f5f5f0", fontname="Helvetica", fontsize=12];',
        'edge [color="#606060", arrowsize=0.7, fontname="Helvetica", fontsize=10];',
    ]
    for number, (file, title) in enumerate(TITLES.items()):
        names = list(dict.fromkeys(state for each in ARROWS[file] for state in (each.begin, each.end)))
        lines.append(f'subgraph cluster_{number} {{ label="{title}"; color="#c0c0c0"; margin=28;')
        lines += [f'"{number} {name}" [label="{name}"];' for name in names]
        loops: dict[str, list[str]] = {}
        for each in ARROWS[file]:
            label = each.text.replace("\n", "\\n")
            if each.begin == each.end:
                loops.setdefault(each.begin, []).append(label)
            else:
                lines.append(f'"{number} {each.begin}" -> "{number} {each.end}" [label=" {label} "];')
        for name, labels in loops.items():
            label = "\\n".join(labels)
            lines.append(f'"{number} {name}" -> "{number} {name}" [label=" {label} "];')
        lines.append("}")
    return "\n".join([*lines, "}"])


def words(drawing: str) -> list[str]:
    return sorted(html.unescape(" ".join(re.findall("<text[^>]*>([^<]*)</text>", drawing))).split())


def check(root: Path, drawing: str) -> int:
    problems = [each for file in TITLES for each in disagreements(file, (root / file).read_text())]
    problems += missing_messages((root / MESSAGES).read_text())
    wanted = [*TITLES.values(), *(each.text for arrows in ARROWS.values() for each in arrows)]
    for file in TITLES:
        wanted += {state for each in ARROWS[file] for state in (each.begin, each.end)}
    if words(drawing) != sorted(" ".join(wanted).split()):
        problems.append("the drawing is not that of this script; run the target key_states")
    print("\n".join(problems) or f"{sum(map(len, ARROWS.values()))} arrows")
    return int(bool(problems))


def main() -> int:
    root, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    if sys.argv[3:] == ["--check"]:
        return check(root, output.read_text())
    drawn = subprocess.run(["dot", "-Tsvg"], input=text(), capture_output=True, text=True, check=True)
    output.write_text(drawn.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
