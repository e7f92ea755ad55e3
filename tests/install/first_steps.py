"""What a new user types: the commands of examples/first_steps/README.md and of README.md, as they stand there, in a
shell that has read the installation's environment, and has the Python environment's bin folder in its PATH.

    first_steps.py --prefix P --source REPOSITORY --work W --bin FOLDER ...
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from consume import MPI_ENVIRONMENT, fresh


def commands(page: Path, mark: str) -> str:
    """The block of a page that contains `mark`."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    found = [block for block in blocks if mark in block]
    if len(found) != 1:
        sys.exit(f"{page} has {len(found)} blocks with {mark}; expected one")
    return found[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--bin", nargs="*", default=[])
    options = parser.parse_args()
    folder = fresh(options.work)
    for file in (options.source / "examples/first_steps").iterdir():
        shutil.copy(file, folder)
    readme = options.source / "README.md"
    script = "\n".join([f"source '{options.prefix}/bin/syncyte-env.sh'", "set -ex",
                        commands(options.source / "examples/first_steps/README.md", "cmake -B build"),
                        commands(readme, "mpif90 writer.f90")])
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("LD_LIBRARY_PATH", "PYTHONPATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH")
                   and not name.startswith("SYNCYTE_")}
    environment.update(MPI_ENVIRONMENT, PATH=":".join([*options.bin, environment["PATH"]]), OMP_NUM_THREADS="1")
    run = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=230)
    print(run.stdout)
    promised = re.search(r"prints `(.*?)`", readme.read_text(encoding="utf-8")).group(1)
    wanted = [(promised, 2), ("rank 1 of 2 has read 0, 0, 0", 1), ("squares: 200 400 0 0 400 200 400 0 0 400", 1),
              ("2 ranks, steps 1 to 100: error", 1), ("1 ranks, steps 101 to 200: error", 1)]
    missing = [line for line, times in wanted if run.stdout.count(line) != times]
    if run.returncode != 0 or missing:
        sys.exit(f"status {run.returncode}; not printed as often as expected: {missing}")


if __name__ == "__main__":
    main()
