#!/usr/bin/env python3
"""Takes the programs out of a page (one block each of python, cpp and c), compiles and runs them on three ranks, and
compares what they print with what the page promises."""

import argparse
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "python"))

from mpi_harness.job import environment  # noqa: E402
from mpi_harness.program import mpirun_line  # noqa: E402


def blocks_of(page: str) -> dict[str, str]:
    found = re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)
    if sorted(language for language, _ in found) != ["c", "cpp", "python"]:
        sys.exit(f"the page has blocks of {[language for language, _ in found]}; expected one each of c, cpp, python")
    return dict(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("page", "folder", "cc", "cxx", "mpiexec", "library"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--include", action="append", required=True)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    with open(options.page, encoding="utf-8") as file:
        page = file.read()
    promised = re.search(r"programs print\s`(.*?)`", page).group(1)
    link = [*(f"-I{folder}" for folder in options.include), options.library,
            f"-Wl,-rpath,{os.path.dirname(options.library)}"]
    compilers = {"c": [options.cc, "-std=c11"], "cpp": [options.cxx, "-std=c++20"]}
    failed = False
    for language, text in blocks_of(page).items():
        source = f"program.{language}"
        with open(os.path.join(options.folder, source), "w", encoding="utf-8") as file:
            file.write(text)
        line = [sys.executable, "-m", "syncyte", source]
        if language in compilers:
            line = [f"./program_{language}"]
            subprocess.run([*compilers[language], source, "-o", line[0], *link], cwd=options.folder, check=True)
        run = subprocess.run(mpirun_line([options.mpiexec, "-n"], 3, line), cwd=options.folder,
                             env=environment({}), stdout=subprocess.PIPE, text=True, timeout=100)
        print(f"{language}: status {run.returncode}, printed {run.stdout.strip()!r}")
        failed |= run.returncode != 0 or run.stdout.splitlines() != [promised]
    if failed:
        sys.exit(f"expected status 0 and the line: {promised}")


if __name__ == "__main__":
    main()
