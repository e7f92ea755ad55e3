# SPDX-License-Identifier: BSD-3-Clause
"""Checks the Spack recipe.

check_recipe.py REPOSITORY                loads it with stand-ins that have the names of Spack's package API
check_recipe.py REPOSITORY --with-spack   audits and concretizes it by the command in SYNCYTE_SPACK, else status 77
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import types
from contextlib import contextmanager
from pathlib import Path

# Names of `from spack.package import *` (package API v2.0 to v2.2) that the recipe uses. Names of build systems, for
# example generator, are not among them.
DIRECTIVES = ["conflicts", "depends_on", "extends", "license", "requires", "variant", "version"]
HELPERS = ["SkipTest", "join_path", "which"]
SPECS = ["syncyte", "syncyte+torch", "syncyte+tests", "syncyte~fortran~hdf5~python~ucx"]


class Recorder:
    """Stand-ins for the directives; `said` has their calls."""

    def __init__(self) -> None:
        self.said: list[tuple[str, tuple, dict]] = []

    def directive(self, name: str):
        def say(*arguments, **options) -> None:
            self.said.append((name, arguments, options))

        return say

    @contextmanager
    def when(self, condition: str):
        self.said.append(("when", (condition,), {}))
        yield


def stand_in(name: str, **names) -> None:
    module = types.ModuleType(name)
    vars(module).update(names)
    sys.modules[name] = module


def load(recipe: Path) -> tuple[type, Recorder]:
    recorder = Recorder()
    helpers = dict.fromkeys(HELPERS, object)
    directives = {name: recorder.directive(name) for name in DIRECTIVES}
    stand_in("spack")
    stand_in("spack.package", when=recorder.when, **directives, **helpers)
    for package in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        stand_in(package)
    systems = "spack_repo.builtin.build_systems"
    stand_in(
        f"{systems}.cmake",
        CMakeBuilder=type("CMakeBuilder", (), {}),
        CMakePackage=type("CMakePackage", (), {}),
        generator=recorder.directive("generator"),
    )
    stand_in(f"{systems}.cuda", CudaPackage=type("CudaPackage", (), {}))
    spec = importlib.util.spec_from_file_location("package", recipe)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Syncyte, recorder


def check_loads(repository: Path) -> None:
    package, recorder = load(repository / "packages/syncyte/package.py")
    said = {(name, arguments[0]) for name, arguments, _ in recorder.said}
    wanted = [("generator", "ninja"), ("depends_on", "mpi@3.1:"), ("depends_on", "ucx@1.13:+thread_multiple")]
    missing = [each for each in wanted if each not in said]
    if missing or not hasattr(package, "cmake_args"):
        sys.exit(f"the recipe does not say {missing}")


def check_with_spack(repository: Path) -> None:
    spack = os.environ.get("SYNCYTE_SPACK")
    if not spack:
        print("SYNCYTE_SPACK names no Spack: skipped")
        sys.exit(77)
    command = [spack, "-c", f"repos:syncyte:{repository}"]
    for arguments in (["audit", "packages", "syncyte"], *(["spec", spec] for spec in SPECS)):
        print("+", *command, *arguments, flush=True)
        if subprocess.run([*command, *arguments], check=False).returncode != 0:
            sys.exit(f"spack {' '.join(arguments)} failed")


if __name__ == "__main__":
    check = check_with_spack if sys.argv[2:] == ["--with-spack"] else check_loads
    check(Path(sys.argv[1]).resolve())
