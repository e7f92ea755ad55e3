# SPDX-License-Identifier: BSD-3-Clause
"""Finds the tests of a program and writes the file that declares them to CTest."""

import ast
import os
import shlex
import subprocess
from dataclasses import dataclass

from . import results as store
from .job import environment

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Declaration:
    """The runs of one program, for CTest."""

    name: str
    folder: str
    launch: list[str]  # command that runs the tests; --ranks, --folder and --thorough are added
    ranks: list[int]  # of the default run
    more_ranks: list[int]  # with the label ranks
    labels: list[str]
    timeout: float
    slots: int
    cost: float
    tests: list[str]  # of the default run
    all_tests: list[str]  # with the tests marked thorough


def gtest_names(program: str) -> list[str]:
    """Names of the tests in a GoogleTest program, without the disabled ones."""
    command, env = [program, "--gtest_list_tests"], environment({})
    listing = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, env=env)
    names, suite = [], ""
    for line in listing.stdout.splitlines():
        text = line.split("#")[0].rstrip()
        if line.startswith("  "):
            names.append(suite + text.strip())
        elif text.endswith("."):
            suite = text
    return [name for name in names if "DISABLED_" not in name]


def pytest_names(files: list[str], thorough: bool) -> list[str]:
    """Names of the test functions in pytest files, read from the source without an import.

    The cases of a parametrised function share its name and one verdict. Functions marked thorough are left out unless
    `thorough` is true.
    """
    names = []
    for path in files:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read(), path)
        base = os.path.basename(path)
        names += [f"{base}::{name}" for name in _test_functions(tree, thorough)]
    return names


def _test_functions(tree: ast.Module, thorough: bool) -> list[str]:
    def is_test(node: ast.stmt) -> bool:
        return isinstance(node, FUNCTIONS) and node.name.startswith("test") and (thorough or not _is_thorough(node))

    names = []
    for node in tree.body:
        if is_test(node):
            names.append(node.name)
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            names += [f"{node.name}::{item.name}" for item in node.body if is_test(item)]
    return names


def _is_thorough(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(mark, ast.Attribute) and mark.attr == "thorough" for mark in node.decorator_list)


def _quoted(words: list[str]) -> str:
    return " ".join(f"[==[{word}]==]" for word in words)


def _properties(test: str, **values: str) -> str:
    pairs = " ".join(f"{key} {value}" for key, value in values.items())
    return f"set_tests_properties([==[{test}]==] PROPERTIES {pairs})\n"


def _declare_run(declaration: Declaration, ranks: int) -> str:
    run = f"{declaration.name}.np{ranks}"
    folder = os.path.join(declaration.folder, f"np{ranks}")
    is_more = ranks in declaration.more_ranks
    labels = f'"{";".join(declaration.labels + ["ranks"] * is_more)}"'
    is_thorough = is_more or "slow" in declaration.labels
    command = declaration.launch + ["--thorough"] * is_thorough + ["--ranks", str(ranks), "--folder", folder]
    setup, fixture = f"{run}.run", f"[==[{run}]==]"
    text = f"add_test([==[{setup}]==] {_quoted(command)})\n"
    text += _properties(
        setup,
        FIXTURES_SETUP=fixture,
        LABELS=labels,
        TIMEOUT=f"{declaration.timeout:g}",
        PROCESSORS=str(declaration.slots),
        COST=f"{declaration.cost:g}",
    )
    # Each verdict is read by a small process, because there are thousands. A missing or empty file is a failure.
    tests = map(store.entry_of, declaration.all_tests if is_thorough else declaration.tests)
    for test in [*dict.fromkeys(tests), store.JOB]:
        verdict = os.path.join(folder, "verdicts", store.file_name(test))
        full = f"{run}/{test}"
        text += f"add_test([==[{full}]==] {_quoted(['cat', verdict])})\n"
        text += _properties(
            full,
            FIXTURES_REQUIRED=fixture,
            LABELS=labels,
            TIMEOUT="30",
            PASS_REGULAR_EXPRESSION=f'"^{store.PASSED} "',
            SKIP_REGULAR_EXPRESSION=f'"^{store.SKIPPED} "',
        )
    return text


def write(declaration: Declaration, output: str) -> None:
    """Writes the CTest declarations."""
    os.makedirs(declaration.folder, exist_ok=True)
    if not declaration.all_tests:
        raise SystemExit(f"{declaration.name}: no tests found")
    text = f"# The tests of {declaration.name}; written by {shlex.quote(os.path.basename(__file__))}.\n"
    text += "".join(_declare_run(declaration, ranks) for ranks in declaration.ranks + declaration.more_ranks)
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
