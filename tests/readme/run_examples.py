#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles and runs README's examples by its commands, and compares their output. README has the text of the files in
examples/first_steps behind the license's line."""

import argparse
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "python"))

from mpi_harness.job import environment
from mpi_harness.program import mpirun_line


def copy_example(name: str, language: str, options: argparse.Namespace) -> None:
    """Copies a file of the examples into the folder of the run, if README has its text."""
    with open(os.path.join(options.examples, name), encoding="utf-8") as file:
        _license, program = file.readline(), file.read()
    if f"```{language}\n{program}```" not in options.text:
        sys.exit(f"{file.name} differs from README.md")
    with open(os.path.join(options.folder, name), "w", encoding="utf-8") as file:
        file.write(program)


def run(options: argparse.Namespace, ranks: int, programs: list[str], promised: str) -> None:
    done = subprocess.run(
        mpirun_line([options.mpiexec, "-n"], ranks, programs, options.mpmd),
        cwd=options.folder,
        env=environment({}),
        stdout=subprocess.PIPE,
        text=True,
        timeout=50,
    )
    print(done.stdout)
    if done.returncode != 0 or promised not in done.stdout.splitlines():
        sys.exit(f"status {done.returncode}; expected 0 and the line: {promised}")


def compile_writer(options: argparse.Namespace) -> None:
    modules = [f"-I{folder}" for folder in options.modules.split("|") if folder and "$<" not in folder]
    rpaths = [f"-Wl,-rpath,{os.path.dirname(library)}" for library in options.library]
    subprocess.run(
        [options.fortran, "writer.f90", "-o", "writer", *modules, *options.library, *rpaths],
        cwd=options.folder,
        check=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("readme", "examples", "folder", "fortran", "mpiexec", "modules"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--library", action="append", required=True)
    parser.add_argument("--mpmd", default="", help="syncyte-mpmd, for an mpirun that takes one program only")
    parser.add_argument("--torch", action="store_true", help="run the example that needs PyTorch too")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    with open(options.readme, encoding="utf-8") as file:
        options.text = file.read()
    copy_example("writer.f90", "fortran", options)
    for name in ("reader.py", "train.py"):
        copy_example(name, "python", options)
    first, step = re.findall(r"prints `(.*?)`", options.text)
    compile_writer(options)
    python = [sys.executable, "-m", "syncyte"]
    run(options, 3, ["2", "./writer", ":", "1", *python, "reader.py"], first)
    if options.torch:
        run(options, 4, [*python, "train.py"], step)


if __name__ == "__main__":
    main()
