# SPDX-License-Identifier: BSD-3-Clause
"""The graph of units: which file of a folder includes or imports which. It has no cycle.

    units.py ROOT       prints each cycle and answers 1 if there is one

A unit is a header with the source of the same name, or a Python module. Python's imports inside functions count, and
those for type checkers.
"""

from __future__ import annotations

import ast
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path

import layers

Graph = dict[str, set[str]]

# Root folders of C++ includes, and Python packages.
SOURCES = ["src", "capi/src", "bindings/torch/src", "bindings/hdf5/src"]
PACKAGES = ["bindings/python/syncyte"]


def unit_of(path: Path, root: Path) -> str:
    return path.relative_to(root).with_suffix("").as_posix()


def cpp_graph(root: Path, folder: str) -> Graph:
    """Units of a folder, named by their paths in it, and the units that each includes."""
    base = root / folder
    graph: Graph = {}
    for path in layers.sources(base):
        included = graph.setdefault(unit_of(path, base), set())
        for _, name, is_quoted in layers.includes(path):
            target = layers.owned(root, path, name, [folder]) if is_quoted else None
            if target is not None and target.startswith(folder + "/"):
                included.add(unit_of(root / target, base))
    return {unit: {other for other in included if other != unit} for unit, included in graph.items()}


def imported_names(node: ast.ImportFrom | ast.Import, parents: tuple[str, ...]) -> list[list[str]]:
    """Absolute names that a statement of a module imports, split at dots. `parents`: the packages around the module."""
    if isinstance(node, ast.Import):
        return [alias.name.split(".") for alias in node.names]
    start = list(parents[: len(parents) - node.level + 1]) if node.level > 0 else []
    module = node.module.split(".") if node.module else []
    return [[*start, *module, alias.name] for alias in node.names]


def imported_modules(path: Path, package: Path) -> Iterator[str]:
    """Modules of the package that a file imports, as paths in the package without suffix."""
    parents = (package.name, *path.parent.relative_to(package).parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        for first, *rest in imported_names(node, parents):
            if first != package.name or not rest:  # the package itself is imported before each of its modules
                continue
            name = Path(*rest)
            for candidate in (name, name.parent, name.parent / "__init__"):
                if (package / candidate).with_suffix(".py").is_file():
                    yield candidate.as_posix()
                    break


def python_graph(root: Path, folder: str) -> Graph:
    package = root / folder
    return {
        unit_of(path, package): set(imported_modules(path, package)) - {unit_of(path, package)}
        for path in sorted(package.rglob("*.py"))
    }


def cycles(graph: Graph) -> Iterator[list[str]]:
    """One cycle for each strongly connected group of units; a group's other cycles show after this one is removed."""
    rest = {unit: set(others) for unit, others in graph.items()}
    while True:
        try:
            graphlib.TopologicalSorter(rest).prepare()
            return
        except graphlib.CycleError as error:
            found = error.args[1][::-1]
            yield found
            for unit in set(found):
                rest.pop(unit)
            for others in rest.values():
                others.difference_update(found)


def all_graphs(root: Path) -> dict[str, Graph]:
    graphs = {folder: cpp_graph(root, folder) for folder in SOURCES}
    graphs |= {folder: python_graph(root, folder) for folder in PACKAGES}
    return graphs


def main() -> int:
    found = [
        f"{folder}: {' -> '.join(cycle)}"
        for folder, graph in all_graphs(Path(sys.argv[1]).resolve()).items()
        for cycle in cycles(graph)
    ]
    print("\n".join(found) or "no unit includes or imports itself by way of others")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
