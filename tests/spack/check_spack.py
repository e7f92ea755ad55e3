# SPDX-License-Identifier: BSD-3-Clause
"""Checks the recipe with the Spack that the environment variable SYNCYTE_SPACK names; status 77 if it names none.

check_spack.py concretize --source DIR --work DIR    audits the recipe and concretizes its variants
check_spack.py install --source DIR --work DIR    installs the example environment, tests it, and uses it

Syncyte comes from a clone of the source folder as it is, with what is not committed. Its dependencies stay installed in
that Spack; Syncyte does not.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support" / "python"))
from mpi_harness.job import environment

SKIP = 77
REPOSITORY = "spack/spack_repo/syncyte"
EXAMPLE = "spack/example"
SMALLEST = "syncyte@main~fortran~hdf5~python~ucx"  # @main: what is in the clone, not the newest release
SPECS = ["syncyte", "syncyte@main", SMALLEST, "syncyte@main+torch", "syncyte@main+cuda", "syncyte@main+tests"]

USE_C = """
mpicc neighbours.c -o neighbours $(pkg-config --cflags --libs syncyte)
mpirun -n 2 ./neighbours
"""
USE_ALL = f"""
{USE_C}
python -c 'import syncyte'
mpif90 writer.f90 -o writer $(pkg-config --cflags --libs syncyte-fortran)
mpirun -n 3 syncyte-mpmd -n 2 ./writer :: -n 1 python -m syncyte reader.py
"""
PRINTS_C = "rank 1 of 2 has read 0, 0, 0"
PRINTS_ALL = "rows 5, 0, 2 start with [0.0, 1.0, 2.0]"


def run(*command: str, cwd: Path) -> str:
    """Runs a command and returns what it prints; exits if it fails."""
    print("+", *command, flush=True)
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment({"SYNCYTE_WATCHDOG": "60"}, inherited),
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    print(done.stdout, flush=True)
    if done.returncode != 0:
        sys.exit(f"status {done.returncode}: {shlex.join(command)}")
    return done.stdout


def clone(source: Path, folder: Path) -> Path:
    """The source folder's files, committed as the branch main: the recipe installs the clone that it lies in."""
    shutil.rmtree(folder, ignore_errors=True)
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=source, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (source / name).is_file():  # not one that is deleted but still in the index
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, folder / name)
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    run("git", "init", "--quiet", "--initial-branch=main", cwd=folder)
    run("git", "add", "--force", ".", cwd=folder)
    run("git", *identity, "commit", "--quiet", "--message=As it is", cwd=folder)
    return folder


def concretize(spack: str, folder: Path) -> None:
    # Not a Syncyte that this Spack has installed before.
    command = [spack, "-c", f"repos:syncyte:{folder / REPOSITORY}", "-c", "concretizer:reuse:exclude:[syncyte]"]
    run(*command, "audit", "packages", "syncyte", cwd=folder)
    for spec in SPECS:
        run(*command, "spec", spec, cwd=folder)


def use(spack: str, folder: Path, script: str, prints: str) -> None:
    """Compiles and runs the first steps by the loaded package, and by the environment's view."""
    example = shlex.quote(str(folder / EXAMPLE))
    for settings in f"-e {example} load --sh syncyte", f"env activate --sh {example}":
        # Spack's shell function evaluates the same lines.
        lines = f'set -e\nlines=$({shlex.quote(spack)} {settings})\neval "$lines"\nset -x\n{script}'
        if prints not in run("bash", "-c", lines, cwd=folder / "examples/first_steps"):
            sys.exit(f"does not print: {prints}")


def install(spack: str, folder: Path) -> None:
    file = folder / EXAMPLE / "spack.yaml"
    example = file.read_text()
    for spec, script, prints in (SMALLEST, USE_C, PRINTS_C), ("syncyte@main", USE_ALL, PRINTS_ALL):
        file.write_text(example.replace("  - syncyte\n", f"  - {spec}\n"))
        # Not a Syncyte that this Spack has installed before.
        command = [spack, "-c", "concretizer:reuse:exclude:[syncyte]", "-e", EXAMPLE]
        run(*command, "install", "--show-log-on-error", cwd=folder)
        run(*command, "test", "run", "syncyte", cwd=folder)
        use(spack, folder, script, prints)
        run(*command, "uninstall", "--yes-to-all", "--remove", "syncyte", cwd=folder)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["concretize", "install"])
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    arguments = parser.parse_args()
    spack = os.environ.get("SYNCYTE_SPACK")
    if not spack:
        print("SKIPPED: SYNCYTE_SPACK names no Spack")
        sys.exit(SKIP)
    check = concretize if arguments.what == "concretize" else install
    check(spack, clone(arguments.source.resolve(), arguments.work.resolve()))


if __name__ == "__main__":
    main()
