"""Finds the tests of a program and writes the file that declares them to CTest."""

import ast
import os
import shlex
import subprocess
from dataclasses import dataclass, field

from . import results as store
from .job import environment

VERDICT_SCRIPT = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", "..", "verdict.sh"))


@dataclass
class Declaration:
    """What CTest has to know about the runs of one program."""

    name: str
    folder: str
    launch: list[str]  # command that runs all tests; --ranks and --folder are added
    ranks: list[int]
    labels: list[str]
    timeout: float
    tests: list[str] = field(default_factory=list)


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


def pytest_names(files: list[str]) -> list[str]:
    """Names of the test functions in pytest files, read from the source: nothing is imported.

    The cases of a parametrised function share its name and one verdict.
    """
    names = []
    for path in files:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read(), path)
        base = os.path.basename(path)
        names += [f"{base}::{name}" for name in _test_functions(tree)]
    return names


def _test_functions(tree: ast.Module) -> list[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = []
    for node in tree.body:
        if isinstance(node, functions) and node.name.startswith("test"):
            names.append(node.name)
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            methods = [item.name for item in node.body if isinstance(item, functions)]
            names += [f"{node.name}::{name}" for name in methods if name.startswith("test")]
    return names


def _quoted(words: list[str]) -> str:
    return " ".join(f"[==[{word}]==]" for word in words)


def _properties(test: str, **values: str) -> str:
    pairs = " ".join(f"{key} {value}" for key, value in values.items())
    return f"set_tests_properties([==[{test}]==] PROPERTIES {pairs})\n"


def _declare_run(declaration: Declaration, ranks: int) -> str:
    run = f"{declaration.name}.np{ranks}"
    folder = os.path.join(declaration.folder, f"np{ranks}")
    labels = f'"{";".join(declaration.labels)}"'
    command = declaration.launch + ["--ranks", str(ranks), "--folder", folder]
    setup, fixture = f"{run}.run", f"[==[{run}]==]"
    text = f"add_test([==[{setup}]==] {_quoted(command)})\n"
    text += _properties(
        setup, FIXTURES_SETUP=fixture, LABELS=labels, TIMEOUT=f"{declaration.timeout:g}", PROCESSORS=str(ranks)
    )
    for test in declaration.tests + [store.JOB]:
        verdict = os.path.join(folder, "verdicts", store.file_name(test))
        full = f"{run}/{test}"
        text += f"add_test([==[{full}]==] {_quoted(['/bin/sh', VERDICT_SCRIPT, verdict])})\n"
        text += _properties(full, FIXTURES_REQUIRED=fixture, LABELS=labels, SKIP_RETURN_CODE="77", TIMEOUT="30")
    return text


def write(declaration: Declaration, output: str) -> None:
    """Writes the list of the tests and the CTest declarations."""
    os.makedirs(declaration.folder, exist_ok=True)
    if not declaration.tests:
        raise SystemExit(f"{declaration.name}: no tests found")
    with open(os.path.join(declaration.folder, "tests.txt"), "w", encoding="utf-8") as file:
        file.write("".join(test + "\n" for test in declaration.tests))
    text = f"# The tests of {declaration.name}; written by {shlex.quote(os.path.basename(__file__))}.\n"
    text += "".join(_declare_run(declaration, ranks) for ranks in declaration.ranks)
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
