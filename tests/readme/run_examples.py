#!/usr/bin/env python3
"""Extracts writer.f90 and reader.py from README.md, compiles and runs them by its commands, and compares their output.
The files of the same names in examples/first_steps must be equal."""

import argparse
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "python"))

from mpi_harness.job import environment
from mpi_harness.program import mpirun_line


def block(text: str, language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    if len(found) != 1:
        sys.exit(f"README.md has {len(found)} blocks of {language}; expected one")
    return found[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("readme", "examples", "folder", "fortran", "mpiexec", "modules"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--library", action="append", required=True)
    parser.add_argument("--mpmd", default="", help="syncyte-mpmd, for an mpirun that takes one program only")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    with open(options.readme, encoding="utf-8") as file:
        text = file.read()
    for name, language in (("writer.f90", "fortran"), ("reader.py", "python")):
        with open(os.path.join(options.folder, name), "w", encoding="utf-8") as file:
            file.write(block(text, language))
        with open(os.path.join(options.examples, name), encoding="utf-8") as file:
            if file.read() != block(text, language):
                sys.exit(f"{file.name} differs from README.md")
    promised = re.search(r"prints `(.*?)`", text).group(1)

    modules = [f"-I{folder}" for folder in options.modules.split("|") if folder and "$<" not in folder]
    rpaths = [f"-Wl,-rpath,{os.path.dirname(library)}" for library in options.library]
    subprocess.run(
        [options.fortran, "writer.f90", "-o", "writer", *modules, *options.library, *rpaths],
        cwd=options.folder,
        check=True,
    )
    programs = ["2", "./writer", ":", "1", sys.executable, "-m", "syncyte", "reader.py"]
    run = subprocess.run(
        mpirun_line([options.mpiexec, "-n"], 3, programs, options.mpmd),
        cwd=options.folder,
        env=environment({}),
        stdout=subprocess.PIPE,
        text=True,
        timeout=50,
    )
    print(run.stdout)
    if run.returncode != 0 or promised not in run.stdout.splitlines():
        sys.exit(f"status {run.returncode}; expected 0 and the line: {promised}")


if __name__ == "__main__":
    main()
