# SPDX-License-Identifier: BSD-3-Clause
"""Checks the Spack recipe without Spack: loads it with stand-ins that have the names of Spack's package API, compares
what it passes to CMake with CMake's options, and the labels that it leaves out with those of the default run.

check_recipe.py SOURCE
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import types
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

RECIPE = "spack/spack_repo/syncyte/packages/syncyte/package.py"
# Names of `from spack.package import *` (package API v2.0 to v2.2) that the recipe uses. Names of build systems, for
# example generator, are not among them.
DIRECTIVES = ["conflicts", "depends_on", "extends", "license", "variant", "version"]
HELPERS = ["SkipTest", "join_path", "which", "working_dir"]

OPTION = re.compile(
    r"^\s*(?:(?:option|find_program)\((SYNCYTE_\w+)|set\((SYNCYTE_\w+) .*CACHE (?!INTERNAL))", re.MULTILINE
)
VARIANTS = ["fortran", "hdf5", "python", "torch", "ucx", "cuda"]  # SYNCYTE_<NAME> switches each
NOT_PASSED = {
    "SYNCYTE_CUDA_COMPILER": "found by CUDA_HOME, which Spack's package of CUDA sets",
    "SYNCYTE_SANITIZE": "for tests of Syncyte itself",
    "SYNCYTE_WERROR": "a warning of a newer compiler must not end a user's build",
}


class Recorder:
    """Stand-ins for the directives; `said` has their calls."""

    def __init__(self) -> None:
        self.said: list[tuple[str, tuple, dict]] = []

    def directive(self, name: str):
        def say(*arguments, **options) -> None:
            self.said.append((name, arguments, options))

        return say


class Spec:
    """A spec with the given variants and no others."""

    def __init__(self, variants: set[str]):
        self.variants = variants

    def satisfies(self, text: str) -> bool:
        if text == "cuda_arch=none":
            return True
        wanted, *others = re.findall(r"([+~])(\w+)", text)
        assert not others, f"one variant at a time: {text}"
        return (wanted[1] in self.variants) == (wanted[0] == "+")


class Package:
    """Stands for CMakePackage: the arguments of CMake as pairs."""

    run_tests = False
    spec: Spec

    def define(self, name: str, value: object) -> tuple[str, object]:
        return name, value

    def define_from_variant(self, name: str, variant: str) -> tuple[str, object]:
        return name, self.spec.satisfies(f"+{variant}")


def stand_in(name: str, **names) -> None:
    module = types.ModuleType(name)
    vars(module).update(names)
    sys.modules[name] = module


def load(recipe: Path) -> tuple[types.ModuleType, Recorder]:
    recorder = Recorder()
    helpers = dict.fromkeys(HELPERS, object)
    directives = {name: recorder.directive(name) for name in DIRECTIVES}
    stand_in("spack")
    stand_in("spack.package", default_args=lambda **_: nullcontext(), **directives, **helpers)
    for package in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        stand_in(package)
    systems = "spack_repo.builtin.build_systems"
    generator = recorder.directive("generator")
    stand_in(f"{systems}.cmake", CMakeBuilder=object, CMakePackage=Package, generator=generator)
    stand_in(f"{systems}.cuda", CudaPackage=type("CudaPackage", (), {"cuda_arch_values": ["90"]}))
    spec = importlib.util.spec_from_file_location("package", recipe)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.python_purelib = "site-packages"  # Spack gives it to a recipe that depends on Python
    return module, recorder


def missing_directives(recorder: Recorder) -> Iterator[str]:
    said = {(name, arguments[0]) for name, arguments, _ in recorder.said}
    wanted = [("generator", "ninja"), ("depends_on", "mpi@3.1:"), ("depends_on", "ucx@1.13:+thread_multiple")]
    wanted += [("variant", name) for name in VARIANTS if name != "cuda"]  # CudaPackage has that one
    for name, argument in wanted:
        if (name, argument) not in said:
            yield f'does not say {name}("{argument}")'


def options_of_cmake(source: Path) -> set[str]:
    files = [*(source / "cmake").glob("*.cmake"), *(source / "bindings").glob("*/CMakeLists.txt")]
    return {name for file in files for names in OPTION.findall(file.read_text()) for name in names if name}


def arguments_for(package: type, variants: set[str]) -> dict[str, object]:
    recipe = package()
    recipe.spec = Spec(variants)
    return {name: value for name, value in recipe.cmake_args() if name.startswith("SYNCYTE_")}


def wrong_options(package: type, options: set[str]) -> Iterator[str]:
    """Options that only one of CMake and the recipe has, and variants that do not switch theirs."""
    passed = set(arguments_for(package, set(VARIANTS)))
    for name in passed - options:
        yield f"passes {name}, which is no option of CMake"
    for name in options - passed - set(NOT_PASSED):
        yield f"does not pass CMake's option {name}; NOT_PASSED in check_recipe.py has those without need"
    for name in set(NOT_PASSED) & passed | set(NOT_PASSED) - options:
        yield f"{name} should not be in NOT_PASSED"
    for variant in VARIANTS:
        option = f"SYNCYTE_{variant.upper()}"
        for variants, wanted in ({variant}, True), (set(VARIANTS) - {variant}, False):
            value = arguments_for(package, variants).get(option)
            if value not in (wanted, "ON" if wanted else "OFF"):
                yield f"passes {option}={value} where the variants are {sorted(variants)}"


def left_out(source: Path, recipe: types.ModuleType) -> Iterator[str]:
    """Runs check() on an object that has what Spack's has there: of the builder, its folder alone."""
    (default, *_) = json.loads((source / "CMakePresets.json").read_text())["testPresets"]
    labels = default["filter"]["exclude"]["label"]
    called: list[str] = []
    recipe.make_jobs = 2
    recipe.working_dir = lambda folder: nullcontext()
    recipe.which = lambda command, required: lambda *arguments: called.extend([command, *arguments])
    recipe.Syncyte.check(types.SimpleNamespace(build_directory="build"))
    if called[:3] != ["ctest", "-LE", labels]:
        yield f"check() does not leave out the labels {labels}, as CMakePresets.json does: {called}"


def main() -> int:
    source = Path(sys.argv[1])
    recipe, recorder = load(source / RECIPE)
    errors = [
        *missing_directives(recorder),
        *wrong_options(recipe.Syncyte, options_of_cmake(source)),
        *left_out(source, recipe),
    ]
    for error in errors:
        print(f"the recipe {error}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
