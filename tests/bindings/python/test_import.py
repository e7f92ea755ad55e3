# SPDX-License-Identifier: BSD-3-Clause
"""Importing the package, finding the library, refusing a library of another version. Each case is a separate
process."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from operators import needs_operators
from syncyte._declarations import ABI_VERSION as ABI
from syncyte._declarations import VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH

LIBRARY = os.environ["SYNCYTE_TEST_LIBRARY"]
VERSION = (VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH)
CACHE = f"{'.'.join(map(str, VERSION))}-{os.uname().machine}"  # nodes of two architectures may share a home
COMPILER = os.environ.get("SYNCYTE_CC", "cc")

FAKE = """
#include <stdint.h>
int32_t NAME(int32_t* major, int32_t* minor, int32_t* patch, int32_t* abi) {
  *major = MAJOR; *minor = MINOR; *patch = 5; *abi = ABI;
  return 0;
}
"""


def run(code, *, check=True, **environment):
    """Runs Python code with the package, in a process without MPI's environment; PYTHONPATH: before this one's."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SYNCYTE_")}
    env.pop("LD_LIBRARY_PATH", None)  # otherwise an installed library would replace the one that a test has removed
    if "PYTHONPATH" in environment:
        environment["PYTHONPATH"] = os.pathsep.join([environment["PYTHONPATH"], os.environ["PYTHONPATH"]])
    env.update(environment)
    done = subprocess.run([sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, timeout=60)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.strip() if check else done.stderr


def test_a_job_needs_no_home_that_can_be_written():
    use = "import syncyte\ntable = syncyte.WholeTensor.zeros((3, 2), 'float32')\nprint(int(table[2].sum()))"
    assert run(use, HOME="/proc") == "0"


def build(folder, source, *flags):
    path = folder / "libfake.so"
    (folder / "fake.c").write_text(source)
    subprocess.run([COMPILER, "-shared", "-fPIC", *flags, "-o", path, folder / "fake.c"], check=True, timeout=60)
    return str(path)


def fake(folder, name, major, minor, abi):
    """A library that is nothing but its version."""
    return build(folder, FAKE, f"-DNAME={name}_version", f"-DMAJOR={major}", f"-DMINOR={minor}", f"-DABI={abi}")


def test_import_brings_neither_torch_nor_mpi():
    output = run(
        "import sys, syncyte\n"
        "print([name for name in ('torch', 'mpi4py', 'h5py') if name in sys.modules])\n"
        "print('libmpi' in open('/proc/self/maps').read(), 'libsyncyte' in open('/proc/self/maps').read())\n"
        "print(syncyte.initialized(), syncyte.COMM_WORLD)"
    )
    assert output.splitlines() == ["[]", "False False", "False <syncyte.COMM_WORLD: not started>"]


def test_loading_the_library_does_not_initialize_mpi():
    output = run(
        "import ctypes, syncyte\n"
        "from syncyte import _library\n"
        f"assert _library.core().output('syncyte_version')[:3] == {VERSION}\n"
        "assert not syncyte.initialized()\n"
        "assert syncyte.memory.empty((3, 4), 'float32').shape == (3, 4)\n"
        "path = next(line.split()[-1] for line in open('/proc/self/maps') if 'libmpi.so' in line)\n"
        "flag = ctypes.c_int(-1)\n"
        "ctypes.CDLL(path).MPI_Initialized(ctypes.byref(flag))\n"
        "print(flag.value)"
    )
    assert output == "0"


def test_symbols_stay_private():
    output = run(
        "import ctypes\nfrom syncyte import _library\n_library.core()\n"
        "print(hasattr(ctypes.CDLL(None), 'syncyte_init_abi'))"
    )
    assert output == "False"


def test_environment_names_the_library(tmp_path):
    copy = tmp_path / "libelsewhere.so"
    shutil.copy(LIBRARY, copy)
    code = "from syncyte import _library\nprint(_library.core().path)"
    assert run(code, SYNCYTE_LIBRARY=str(copy)) == str(copy)
    assert run(code) == str(pathlib.Path(os.path.realpath(LIBRARY)).with_name(f"libsyncyte.so.{ABI}"))
    message = run(code, check=False, SYNCYTE_LIBRARY=str(tmp_path / "missing.so"))
    assert "SYNCYTE_LIBRARY" in message
    assert "no such file" in message


def test_a_library_on_top_uses_the_loaded_copy(tmp_path):
    library = os.environ.get("SYNCYTE_TEST_HDF5_LIBRARY")
    if not library:
        pytest.skip("built without HDF5")
    copy = tmp_path / "libsyncyte.so"
    shutil.copy(LIBRARY, copy)
    loaded = "{line.split()[-1] for line in open('/proc/self/maps') if 'libsyncyte.so' in line}"
    code = f"from syncyte import _library\n_library.hdf5()\nprint(*{loaded})"
    assert run(code, SYNCYTE_LIBRARY=str(copy), SYNCYTE_HDF5_LIBRARY=library) == str(copy)


def test_package_folder_then_loader(tmp_path):
    import syncyte

    package = tmp_path / "syncyte"
    shutil.copytree(os.path.dirname(syncyte.__file__), package, ignore=shutil.ignore_patterns("_location.py"))
    code = "from syncyte import _library\nprint(_library.core().path)"
    assert run(code, PYTHONPATH=str(tmp_path), LD_LIBRARY_PATH=os.path.dirname(LIBRARY)) == f"libsyncyte.so.{ABI}"
    message = run(code, check=False, PYTHONPATH=str(tmp_path))
    assert "LibraryError" in message
    assert "SYNCYTE_LIBRARY" in message
    assert "PYTHONPATH=build/python" in message
    shutil.copy(LIBRARY, package / "libsyncyte.so")
    assert run(code, PYTHONPATH=str(tmp_path)) == str(package / "libsyncyte.so")


OTHER_VERSIONS = [(VERSION[0] + 1, VERSION[1], ABI), (VERSION[0], VERSION[1] - 1, ABI), (*VERSION[:2], ABI + 98)]


@pytest.mark.parametrize("version", OTHER_VERSIONS)
def test_library_of_another_version_is_refused(tmp_path, version):
    path = fake(tmp_path, "syncyte", *version)
    code = (
        "import syncyte\n"
        "for _ in range(2):\n"
        "    try:\n"
        "        syncyte.COMM_WORLD.rank\n"
        "    except ImportError as error:\n"
        "        assert isinstance(error, syncyte.Error)\n"
        "        assert error.status == syncyte.Status.ERR_VERSION\n"
        "        print(error)"
    )
    lines = run(code, SYNCYTE_LIBRARY=path).splitlines()
    major, minor, abi = version
    assert len(lines) == 2
    assert path in lines[0]
    assert f"{major}.{minor}.5 (ABI {abi})" in lines[0]
    assert f"{'.'.join(map(str, VERSION))} (ABI {ABI})" in lines[0]


@pytest.mark.parametrize(
    "name, use", [("hdf5", "from syncyte import _library; _library.hdf5()"), ("torch", "import syncyte.torch")]
)
def test_libraries_on_top_are_of_the_same_version_too(tmp_path, name, use):
    if name == "torch":
        pytest.importorskip("torch")
    code = f"import syncyte\ntry:\n    {use}\nexcept syncyte.LibraryError as error:\n    print(error)"
    variable = f"SYNCYTE_{name.upper()}_LIBRARY"
    path = fake(tmp_path, f"syncyte_{name}", *VERSION[:2], ABI - 1)
    message = run(code, SYNCYTE_LIBRARY=LIBRARY, **{variable: path})
    assert path in message
    assert f"(ABI {ABI - 1})" in message
    assert f"set {variable} to the right file" in message


def test_a_missing_mpi_is_named_with_the_cure(tmp_path):
    mpi = tmp_path / "libmpi_gone.so"
    subprocess.run([COMPILER, "-shared", "-o", mpi, "-x", "c", "/dev/null"], check=True, timeout=60)
    path = build(tmp_path, "int something;", "-Wl,--no-as-needed", mpi)
    mpi.unlink()
    message = run("import syncyte; syncyte.init()", check=False, SYNCYTE_LIBRARY=path)
    assert "libmpi_gone.so" in message
    assert "load that MPI's module or install its package" in message


def other_mpi(folder):
    """A library that says to be the MPI that Syncyte was not built for."""
    ours = run("from syncyte import _library; print(_library.mpi_version())")
    name = "MPICH Version: 4.2.1" if ours.startswith("Open MPI") else "Open MPI v4.1.4"
    source = "int MPI_Get_library_version(char* t, int* n) { *n = sprintf(t, NAME); return 0; }"
    return name, build(folder, source, "-include", "stdio.h", f'-DNAME="{name}"')


def test_a_program_of_another_mpi_is_refused(tmp_path):
    name, path = other_mpi(tmp_path)
    message = run("import syncyte; syncyte.init()", check=False, LD_PRELOAD=path)
    assert "VersionError: init failed: libsyncyte was built for" in message
    assert f"this process calls {name}: compile and start the program with the MPI" in message


@pytest.mark.parametrize(
    "use", ["syncyte.COMM_WORLD.rank", "syncyte.COMM_SELF.rank; syncyte.Comm.from_mpi4py(MPI.COMM_WORLD)"]
)
def test_mpi4py_of_another_mpi_is_refused(use):
    # Only an installation of two MPIs has both libraries in a process; here mpi4py only says so.
    before, _, last = use.rpartition("; ")
    code = (
        f"import syncyte\nfrom mpi4py import MPI\n{before}\n"
        "MPI.Get_library_version = lambda: 'Another MPI v7, package: none'\n"
        f"try:\n    {last}\nexcept syncyte.LibraryError as error:\n    print(error)"
    )
    message = run(code)
    assert message.startswith("mpi4py has loaded Another MPI v7, but libsyncyte")
    assert "MPI4PY_LIBMPI" in message


# mpirun's variables count before Slurm's, and only the launcher's rank 0 warns.
LAUNCHERS = [
    ({"PMI_RANK": "0", "PMI_SIZE": "3"}, True),
    ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "3"}, True),
    ({"ROLE_RANK": "0", "ROLE_WORLD_SIZE": "3"}, True),
    ({"RANK": "0", "WORLD_SIZE": "3"}, False),  # a rank's `python -m syncyte` sets them also for its child processes
    ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "3", "PMI_RANK": "1", "PMI_SIZE": "3"}, False),
    ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "3", "PMI_RANK": "0", "PMI_SIZE": "1"}, False),
]


@pytest.mark.parametrize("variables, warned", LAUNCHERS)
def test_ranks_that_the_launcher_leaves_alone_are_warned_of(variables, warned):
    message = run("import syncyte; assert syncyte.COMM_WORLD.size == 1; 1 / 0", check=False, **variables)
    assert ("3 ranks were started" in message) == warned, message
    assert ("`srun --mpi=list`" in message) == warned


@needs_operators
def test_packages_that_import_torch_are_imported_on_first_use():
    pytest.importorskip("torch")
    loaded = "syncyte.nn.WholeEmbedding, syncyte.torch.DataParallel, syncyte.compat.install"
    assert run(f"import sys, syncyte\nprint('torch' in sys.modules)\n{loaded}") == "False"


def test_a_library_of_another_torch_says_what_to_do(tmp_path):
    pytest.importorskip("torch")
    path = build(tmp_path, "void of_another_torch(void); void call(void) { of_another_torch(); }", "-Wl,-z,now")
    code = "import syncyte\ntry:\n    import syncyte.torch\nexcept syncyte.LibraryError as error:\n    print(error)"
    message = run(code, SYNCYTE_LIBRARY=LIBRARY, SYNCYTE_TORCH_LIBRARY=path)
    assert "of another torch than this one" in message
    assert "build Syncyte for this one (-DSYNCYTE_TORCH=ON)" in message
    assert "of_another_torch" in message


@needs_operators
def test_a_library_that_loads_into_another_torch_is_refused():
    pytest.importorskip("torch")
    code = (
        "import torch, syncyte\ntorch.__version__ = '2.5.99+cpu'\ntry:\n    import syncyte.torch\n"
        "except syncyte.LibraryError as error:\n    print(error)"
    )
    message = run(code)
    assert "of another torch than this one (2.5.99+cpu)" in message
    assert " is of torch 2." in message


@needs_operators
def test_a_build_tree_takes_no_library_that_pip_has_built(tmp_path):
    torch = pytest.importorskip("torch")
    folder = tmp_path / "syncyte" / CACHE / f"torch-{torch.__version__}"
    folder.mkdir(parents=True)
    shutil.copy(fake(tmp_path, "syncyte_torch", *VERSION[:2], ABI), folder / "libsyncyte_torch.so")
    code = "import syncyte.torch\nprint([line for line in open('/proc/self/maps') if 'libsyncyte_torch' in line])"
    assert str(tmp_path) not in run(code, XDG_CACHE_HOME=str(tmp_path))


def test_torch_libraries_are_kept_where_they_can_be_written(tmp_path):
    import syncyte

    package = tmp_path / "prefix" / "lib" / "syncyte"
    shutil.copytree(os.path.dirname(syncyte.__file__), package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "_location.py").write_text("PREFIX = '../..'\n")
    sources = tmp_path / "prefix/share/syncyte/torch"
    sources.mkdir(parents=True)
    (sources / "CMakeLists.txt").touch()
    (tmp_path / "prefix/lib/torch-9").touch()  # no folder can be made there, by root neither
    code = "from syncyte import _build_torch\nprint(_build_torch._target('9'))"
    home = {"PYTHONPATH": str(package.parent), "HOME": str(tmp_path / "home")}
    assert run(code, **home) == str(tmp_path / f"home/.cache/syncyte/{CACHE}/torch-9")
    message = run(code, check=False, **{**home, "HOME": "/proc"})
    assert "build-torch: no folder for the library" in message
    assert "/proc/.cache" in message
    assert "Set XDG_CACHE_HOME to a folder of yours" in message
    assert "~" not in run("from syncyte import _build_torch\nprint(_build_torch.folders('9'))", **{**home, "HOME": "~"})


def test_metadata_and_prefix_of_a_build_tree():
    version = run("import importlib.metadata, syncyte; print(importlib.metadata.version('syncyte'))")
    assert version == ".".join(map(str, VERSION))
    message = run("from syncyte.__main__ import main; raise SystemExit(main(['--prefix']))", check=False)
    assert "belongs to a build tree" in message
    message = run("from syncyte.__main__ import main; raise SystemExit(main(['build-torch']))", check=False)
    assert "has no sources of libsyncyte_torch" in message


def test_another_library_is_refused(tmp_path):
    path = fake(tmp_path, "another", 0, 1, ABI)
    message = run("from syncyte import _library; _library.core()", check=False, SYNCYTE_LIBRARY=path)
    assert f"{path} is not libsyncyte: it has no function syncyte_version" in message


def test_newer_minor_version_is_fine(tmp_path):
    path = fake(tmp_path, "syncyte", 0, 7, ABI)
    code = (
        "import syncyte\n"
        "from syncyte import _library\n"
        "assert _library.core().path\n"
        "try:\n"
        "    syncyte.memory.stats()\n"
        "except syncyte.LibraryError as error:\n"
        "    print(error)"
    )
    assert "lacks syncyte_memory_stats" in run(code, SYNCYTE_LIBRARY=path)


def test_what_is_no_library_is_refused(tmp_path):
    code = "import syncyte\ntry:\n    syncyte.init()\nexcept syncyte.LibraryError as error:\n    print(error)"
    text = tmp_path / "text.so"
    text.write_text("not a library")
    assert "cannot load" in run(code, SYNCYTE_LIBRARY=str(text))
    other = build(tmp_path, "int something;")
    assert "no function syncyte_version" in run(code, SYNCYTE_LIBRARY=other)


def test_before_init_and_after_finalize():
    output = run(
        "import ctypes, syncyte\n"
        "from syncyte import _library\n"
        "try:\n"
        "    _library.core().syncyte_comm_world(ctypes.byref(ctypes.c_void_p()))\n"
        "except syncyte.NotInitializedError as error:\n"
        "    print('before')\n"
        "syncyte.init('serialized')\n"
        "part = syncyte.COMM_WORLD.dup()\n"
        "syncyte.finalize()\n"
        "syncyte.finalize()\n"
        "for use in (part.barrier, syncyte.COMM_WORLD.barrier, syncyte.thread_level):\n"
        "    try:\n"
        "        use()\n"
        "    except RuntimeError as error:\n"
        "        print(type(error).__name__)"
    )
    assert output.splitlines() == ["before"] + ["NotInitializedError"] * 3


def test_an_old_python_is_named():
    code = "import sys\nsys.version_info = (3, 10, 12)\nsys.version = '3.10.12 (main)'\nimport syncyte"
    message = run(code, check=False)
    assert "ImportError: Syncyte needs Python 3.11 or newer; this is 3.10.12" in message


def test_missing_numpy_is_named():
    code = "import sys\nsys.path[:] = [entry for entry in sys.path if '-packages' not in entry]\nimport syncyte"
    message = run(code, check=False)
    assert "ModuleNotFoundError: Syncyte needs numpy, which" in message
    assert sys.executable in message


def test_what_was_perhaps_meant():
    code = "import syncyte\nif {}:\n    syncyte.install_excepthook()\nsyncyte.WhoelTensor"
    for hook in (False, True):
        message = run(code.format(hook), check=False)
        assert message.lower().count("did you mean") == 1, message
        assert "'WholeTensor'?" in message, message
    assert run("import syncyte\nprint(hasattr(syncyte, 'anything'), hasattr(syncyte, '__wrapped__'))") == "False False"


def test_no_second_start():
    output = run(
        "import syncyte\n"
        "syncyte.init()\n"
        "syncyte.init()\n"
        "syncyte.finalize()\n"
        "for _ in range(2):\n"
        "    try:\n"
        "        syncyte.init()\n"
        "    except syncyte.NotInitializedError as error:\n"
        "        print(syncyte.initialized(), 'finalized' in str(error))"
    )
    assert output.splitlines() == ["False True"] * 2


def test_mpi_finalized_first():
    output = run(
        "from mpi4py import MPI\n"
        "import syncyte\n"
        "assert syncyte.COMM_WORLD.size == 1\n"
        "MPI.Finalize()\n"
        "try:\n"
        "    syncyte.COMM_WORLD.barrier()\n"
        "except syncyte.NotInitializedError as error:\n"
        "    print(syncyte.initialized(), error)"
    )
    assert output.startswith("False")
    assert "finalized" in output


def test_wrong_thread_level():
    message = run("import syncyte\nsyncyte.init('many')", check=False)
    assert "ArgumentError" in message
    assert "'many'" in message


def test_a_thread_that_may_not_call_mpi():
    output = run(
        "import threading, syncyte\n"
        "syncyte.init('funneled')\n"
        "world = syncyte.COMM_WORLD\n"
        "def communicate():\n"
        "    try:\n"
        "        world.barrier()\n"
        "    except NotImplementedError as error:\n"
        "        print('thread level is funneled' in str(error), world.rank)\n"
        "thread = threading.Thread(target=communicate)\n"
        "thread.start()\n"
        "thread.join()\n"
        "world.barrier()"
    )
    assert output == "True 0"


def test_forked_child_and_threads_at_exit():
    output = run(
        "import os, threading, syncyte\n"
        "array = syncyte.memory.empty((100000,), 'float64')\n"
        "assert syncyte.COMM_WORLD.size == 1\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    del array\n"
        "    raise SystemExit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "def drop(box):\n"
        "    box.clear()\n"
        "box = [array]\n"
        "del array\n"
        "thread = threading.Thread(target=drop, args=(box,))\n"
        "thread.start()\n"
        "thread.join()\n"
        "print(syncyte.memory.stats().in_use)\n"
        "left = syncyte.memory.empty((100000,), 'float64')"
    )
    assert output == "0"


def test_public_names_are_documented():
    import syncyte

    for name in syncyte.__all__:
        assert getattr(syncyte, name).__doc__, name
    for cls in (syncyte.Comm, syncyte.WholeTensor, syncyte.Window, syncyte.checkpoint.Checkpoint):
        for name in dir(cls):
            if not name.startswith("_"):
                assert getattr(cls, name).__doc__, f"{cls.__name__}.{name}"


@pytest.mark.parametrize("first", ["h5py", "syncyte"])
def test_h5py_with_another_hdf5(tmp_path, first):
    library = os.environ.get("SYNCYTE_TEST_HDF5_LIBRARY")
    if not library:
        pytest.skip("built without HDF5")
    ours = "syncyte.checkpoint.save(path, {'ours': numpy.arange(3)})\n"
    theirs = "import h5py\n"
    output = run(
        f"import numpy, syncyte\npath = {str(tmp_path / 'file.h5')!r}\n"
        + (theirs + ours if first == "h5py" else ours + theirs)
        + "with h5py.File(path) as file:\n    print(file['ours'][...].tolist())\n"
        "print(syncyte.checkpoint.load(path, torch=False)['ours'].tolist())",
        SYNCYTE_HDF5_LIBRARY=library,
    )
    assert output.splitlines() == ["[0, 1, 2]"] * 2


HALF_IMPORTED = """
import sys, threading
import numpy, syncyte
from syncyte import dtypes

sys.torch_begins, sys.torch_may_end = threading.Event(), threading.Event()
thread = threading.Thread(target=lambda: __import__("torch"))
thread.start()
assert sys.torch_begins.wait(20)
assert "torch" in sys.modules
worker = syncyte.Store(4, 2).worker()
worker.push([1], numpy.ones((1, 2), numpy.float32))
print(worker.pull([1]).tolist(), syncyte.COMM_WORLD.allreduce(numpy.ones(1)).tolist(), dtypes.is_compiling())
tensor = syncyte.WholeTensor((2,), "float32")
print(tensor.gather([0]).tolist(), tensor[1:].tolist(), dtypes.as_dtype("int8").name, dtypes.loaded_torch())
sys.torch_may_end.set()
thread.join()
print(dtypes.loaded_torch() is sys.modules["torch"], dtypes.is_torch_tensor(sys.modules["torch"].Tensor()))
"""


def test_a_module_that_another_thread_is_importing_does_not_count(tmp_path):
    (tmp_path / "torch.py").write_text(
        "import sys\nsys.torch_begins.set()\nassert sys.torch_may_end.wait(20)\nclass Tensor: pass\nclass dtype: pass\n"
        "class compiler:\n    is_compiling = staticmethod(lambda: False)\n"
    )
    output = run(HALF_IMPORTED, PYTHONPATH=str(tmp_path), SYNCYTE_LIBRARY=LIBRARY)
    assert output.splitlines() == ["[[1.0, 1.0]] [1.0] False", "[0.0] [0.0] INT8 None", "True True"]
