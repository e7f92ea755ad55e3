# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on disk: the lines that rank 0 writes, one small file per test for CTest, and a JUnit file."""

import json
import os
import re
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
JOB = "(job)"  # the entry for failures outside of tests


@dataclass
class Result:
    """Verdict of one test."""

    test: str
    verdict: str
    seconds: float = 0.0
    message: str = ""


def entry_of(test: str) -> str:
    """Name of a test's entry in CTest: the cases of a GoogleTest with values share one."""
    suite, dot, name = test.rpartition(".")
    return suite + dot + name.split("/")[0] if "::" not in test else test


def by_entry(results: list[Result]) -> list[Result]:
    """One result for each entry: the worst verdict, the total time and the messages of its cases."""
    entries: dict[str, Result] = {}
    for result in results:
        entry = entries.setdefault(entry_of(result.test), Result(entry_of(result.test), SKIPPED))
        entry.verdict = max(entry.verdict, result.verdict, key=[SKIPPED, PASSED, FAILED].index)
        entry.seconds += result.seconds
        is_case = result.message and result.test != entry.test
        entry.message += f"{result.test}:\n{result.message}\n" if is_case else result.message
    return list(entries.values())


def file_name(test: str) -> str:
    """Name of a test's verdict file; characters with a meaning in a shell or CMake are encoded."""
    return re.sub(r"[^A-Za-z0-9._-]", lambda match: f"+{ord(match.group()):x}+", test)


def read_lines(path: str) -> list[Result]:
    """Results that rank 0 has written, without a last line that a crash has cut off."""
    found = []
    if not os.path.exists(path):
        return found
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.endswith("\n"):
                found.append(Result(**json.loads(line)))
    return found


def append_line(path: str, result: Result) -> None:
    """Adds one result to the lines of a run."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(vars(result)) + "\n")


def write_verdicts(folder: str, results: list[Result]) -> None:
    os.makedirs(folder, exist_ok=True)
    for result in results:
        with open(os.path.join(folder, file_name(result.test)), "w", encoding="utf-8") as file:
            file.write(f"{result.verdict} {result.test} ({result.seconds:.3f} s)\n{result.message}")


def _clean(text: str) -> str:
    return re.sub(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD]", "?", text)


def write_junit(path: str, suite: str, results: list[Result]) -> None:
    failures = sum(result.verdict == FAILED for result in results)
    skips = sum(result.verdict == SKIPPED for result in results)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuite name={quoteattr(suite)} tests="{len(results)}" failures="{failures}" skipped="{skips}">')
    for result in results:
        classname, _, name = result.test.rpartition("." if "::" not in result.test else "::")
        head = f"  <testcase classname={quoteattr(suite + '.' + classname)} name={quoteattr(name)}"
        lines.append(f'{head} time="{result.seconds:.6f}">')
        if result.verdict != PASSED:
            kind = "failure" if result.verdict == FAILED else "skipped"
            text = _clean(result.message)
            lines.append(f"    <{kind} message={quoteattr(text[:200])}>{escape(text)}</{kind}>")
        lines.append("  </testcase>")
    lines.append("</testsuite>\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
