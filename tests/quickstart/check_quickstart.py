#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests a copy of cmake/quickstart.sh in a private folder, with stand-ins for the programs that it starts."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv.pop(1)).resolve()
HERE = Path(__file__).resolve().parent
LOCK = """# What is used directly
alpha==1.0 \\
    --hash=sha256:1a --hash=sha256:1b
beta==2.0 \\
    --hash=sha256:2a
# Their dependencies
gamma==3.0 \\
    --hash=sha256:3a
"""
STUB_TOOL = '#!/bin/sh\nprintf \'%s: %s %s\\n\' "$PWD" "$(basename "$0")" "$*" >>"$STUB_LOG"\n'


class Quickstart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.root, self.else_where, self.log = self.folder / "clone", self.folder / "elsewhere", self.folder / "log"
        self.else_where.mkdir()
        for build in ("build", "build-first/build", "build-mpich/build", "build-openmpi5/build"):  # as cmake would
            (self.root / build).mkdir(parents=True)
        for part in ("cmake/quickstart", "cmake/mpi", "examples/tsunami/driver"):
            shutil.copytree(SOURCE / part, self.root / part, ignore=shutil.ignore_patterns("__pycache__"))
        for part in ("cmake/quickstart.sh", "examples/tsunami/demo.py", "CMakePresets.json"):
            shutil.copy(SOURCE / part, self.root / part)
        (self.root / "cmake/requirements.lock").write_text(LOCK)
        tools = self.folder / "tools"
        tools.mkdir()
        for name in ("cmake", "ctest"):
            (tools / name).write_text(STUB_TOOL)
            (tools / name).chmod(0o755)
        self.python = tools / "python-stub"
        shutil.copy(HERE / "stub_python.sh", self.python)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SYNCYTE_")},
            "PATH": f"{tools}:{os.environ['PATH']}",
            "STUB_LOG": str(self.log),
            "STUB_REAL_PYTHON": sys.executable,
            "SYNCYTE_PYTHON": str(self.python),
            "SYNCYTE_SKIP_PACKAGES": "1",
        }

    def run_it(self, *arguments, status=0, cwd=None, **environment):
        """Runs quickstart. Returns its output, stdout and stderr together; asked() has the calls of its stand-ins."""
        self.log.write_text("")
        run = subprocess.run(
            [self.root / "cmake/quickstart.sh", *arguments],
            cwd=cwd or self.root,
            text=True,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        self.assertEqual(run.returncode, status, run.stdout)
        return run.stdout

    def asked(self, *patterns):
        """The stand-ins' calls whose line in the log contains all patterns."""
        return [line for line in self.log.read_text().splitlines() if all(pattern in line for pattern in patterns)]

    def make_foreign(self, **versions):
        """Makes a foreign environment with these packages. Returns its folder, and variables that make them visible."""
        venv, site = self.folder / "foreign", self.folder / "site"
        (venv / "bin").mkdir(parents=True)
        shutil.copy(self.python, venv / "bin/python")
        for name, version in versions.items():
            info = site / f"{name}-{version}.dist-info"
            info.mkdir(parents=True)
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        return {"SYNCYTE_VENV": str(venv), "PYTHONPATH": str(site)}

    # The Python environment.

    def test_second_setup_installs_nothing(self):
        self.run_it("setup")
        self.assertTrue(self.asked("-m venv"))
        self.assertTrue(self.asked("pip install"))
        self.assertIn("is complete", self.run_it("setup"))
        self.assertFalse(self.asked("python"))

    def test_pip_takes_only_files_whose_hashes_are_in_the_lock(self):
        for arguments, lock in ((["setup"], "requirements"), (["test", "--mpi=mpich"], "mpi/mpich")):
            with self.subTest(lock=lock):
                self.run_it(*arguments)
                self.assertTrue(
                    self.asked("pip install", f"--require-hashes --requirement {self.root}/cmake/{lock}.lock")
                )

    def test_every_package_of_the_locks_has_hashes(self):
        for lock in (SOURCE / "cmake").rglob("*.lock"):
            text = re.sub(r"^#.*\n", "", lock.read_text(), flags=re.MULTILINE)
            package = r"[\w.-]+==[\w.]+ \\\n   ( --hash=sha256:[0-9a-f]{64})+\n"
            self.assertRegex(text, rf"\A({package})+\Z", lock.name)

    def test_new_lock_file_is_installed_into_the_same_environment(self):
        self.run_it("setup")
        (self.root / "cmake/requirements.lock").write_text(LOCK.replace("1.0", "1.1"))
        self.run_it("setup")
        self.assertTrue(self.asked("pip install"))
        self.assertFalse(self.asked("-m venv"))

    def test_interrupted_environment_is_made_anew(self):
        for where in ("venv", "pip"):
            for name in ("", str(self.folder / f"mine-{where}")):
                with self.subTest(where=where, SYNCYTE_VENV=name):
                    own = {"SYNCYTE_VENV": name} if name else {}
                    shutil.rmtree(self.root / ".venv", ignore_errors=True)
                    self.run_it("setup", status=2 if where == "venv" else 1, STUB_INTERRUPT=where, **own)
                    (Path(name or self.root / ".venv") / "torn").touch()
                    self.assertIn("made anew", self.run_it("setup", **own))
                    self.assertTrue(self.asked("-m venv"))
                    self.assertTrue(self.asked("pip install"))
                    self.assertFalse((Path(name or self.root / ".venv") / "torn").exists())
                    self.assertIn("is complete", self.run_it("setup", **own))

    def test_environment_without_pip_that_we_did_not_make_is_completed(self):
        (self.root / ".venv/bin").mkdir(parents=True)
        shutil.copy(self.python, self.root / ".venv/bin/python")
        (self.root / ".venv/kept").touch()
        self.assertIn("has no pip", self.run_it("setup"))
        self.assertTrue(self.asked("pip install"))
        self.assertTrue((self.root / ".venv/kept").exists())

    def test_foreign_environment_is_checked_and_left_alone(self):
        venv = self.make_foreign(alpha="1.0", beta="2.5+cpu")
        output = self.run_it("setup", **venv)
        self.assertIn("used as it is", output)
        self.assertIn("beta 2.5+cpu (2.0)", output)
        self.assertNotIn("alpha", output)
        self.assertFalse(self.asked("python"))

    def test_foreign_environment_that_lacks_a_package(self):
        output = self.run_it("setup", status=2, **self.make_foreign(alpha="1.0"))
        self.assertIn("lacks beta:", output)
        self.assertFalse(self.asked("python"))

    def test_folder_with_something_else_is_no_environment(self):
        (self.else_where / "thesis.tex").touch()
        output = self.run_it("setup", status=2, SYNCYTE_VENV=str(self.else_where))
        self.assertIn("holds no Python environment", output)
        self.assertEqual(os.listdir(self.else_where), ["thesis.tex"])

    def test_environment_that_cannot_be_made(self):
        (self.folder / "file").touch()
        output = self.run_it("setup", status=2, SYNCYTE_VENV=str(self.folder / "file/venv"))
        self.assertIn("cannot be made", output)

    def test_relative_environment_is_the_callers(self):
        self.run_it("setup", cwd=self.else_where, SYNCYTE_VENV="venvs/mine")
        self.assertTrue((self.else_where / "venvs/mine/bin/python").exists())
        self.run_it("build", cwd=self.else_where, SYNCYTE_VENV="venvs/mine")
        self.assertTrue(self.asked(f"-DPython3_EXECUTABLE={self.else_where}/venvs/mine/bin/python"))

    def test_named_python_is_never_passed_over(self):
        old = self.folder / "old"
        old.write_text("#!/bin/sh\necho 3.9\n")
        old.chmod(0o755)
        self.assertIn("no Python that can be run", self.run_it("setup", status=2, SYNCYTE_PYTHON="/usr/bin/python9"))
        self.assertIn("expected 3.11 or newer", self.run_it("setup", status=2, SYNCYTE_PYTHON=str(old)))
        self.assertFalse(self.asked("python"))

    # The package of the build.

    def build_with_package(self, **environment):
        """Runs a build that has made the Python package. Returns quickstart's output."""
        package = self.root / "build/python/syncyte"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text("from_build = True\n")
        return self.run_it("build", **environment)

    def test_own_environment_imports_the_build(self):
        self.build_with_package()
        path = (self.root / ".venv/site/syncyte-build.pth").read_text()
        for environment, imports in (({}, True), ({"SYNCYTE_WITHOUT_BUILD": "1"}, False)):
            run = subprocess.run(
                [sys.executable, "-S", "-c", path + "import syncyte; assert syncyte.from_build"],
                env={**self.environment, **environment, "PYTHONPATH": ""},
                capture_output=True,
            )
            self.assertEqual(run.returncode == 0, imports, run.stderr)

    def test_foreign_environment_is_told_the_path(self):
        output = self.build_with_package(**self.make_foreign(alpha="1.0", beta="2.0"))
        self.assertIn(f"export PYTHONPATH={self.root}/build/python", output)
        self.assertEqual(list(self.folder.rglob("*.pth")), [])

    # Options and what is started with them.

    def test_wrong_options_are_told_before_anything_is_done(self):
        for arguments, environment, message in (
            (["demo", "--resolutoin", "2"], {}, "--resolutoin"),
            (["demo", "--lead-time", "601"], {}, "not a multiple"),
            (["build", "--fast"], {}, "takes no options"),
            (["build"], {"SYNCYTE_JOBS": "abc"}, "SYNCYTE_JOBS is 'abc'"),
            (["build"], {"SYNCYTE_JOBS": "0"}, "SYNCYTE_JOBS is '0'"),
            (["tets"], {}, "unknown command 'tets'"),
            (["test", "--mpi=intel"], {}, "--mpi is 'intel': expected mpich|openmpi5"),
            (["test", "--mpi="], {}, "--mpi is '': expected mpich|openmpi5"),
            (["test", "--mpi", "mpich"], {}, "--mpi has no value: expected --mpi=mpich|openmpi5"),
            (["build", "--mpi=mpich"], {}, "takes no options"),
        ):
            with self.subTest(arguments=arguments, **environment):
                self.assertIn(message, self.run_it(*arguments, status=2, **environment))
                self.assertFalse(self.asked(""))

    def test_help_does_nothing_else(self):
        for arguments in (["-h"], ["demo", "-h"], ["demo", "--help"], ["test", "-h"], ["build", "--help"]):
            with self.subTest(arguments=arguments):
                output = self.run_it(*arguments)
                self.assertIn("Usage: cmake/quickstart.sh", output)
                self.assertEqual("--train-seconds" in output, arguments[0] == "demo")
                self.assertFalse(self.asked(""))

    def test_demo_runs_in_the_callers_folder(self):
        self.run_it("demo", "--output", "results", cwd=self.else_where)
        self.assertTrue(
            self.asked(
                f"{self.else_where}: python {self.root}/examples/tsunami/demo.py",
                f"--build {self.root}/build --output results",
            )
        )
        self.assertTrue(self.asked("cmake", f"-S {self.root}", f"-B {self.root}/build"))

    def test_labels_to_leave_out_are_joined(self):
        for arguments, excluded in (
            (["-LE", "torch"], "slow|ranks|roots|wheel|slurm|spack|torch_cuda|torch"),
            (["-L", "slow", "-LE", "torch"], "torch"),
            (["--label-exclude", "a|b", "-j", "2"], "slow|ranks|roots|wheel|slurm|spack|torch_cuda|a|b"),
        ):
            with self.subTest(arguments=arguments):
                self.run_it("test", *arguments)
                (line,) = self.asked(": ctest ")
                self.assertEqual(line.count("-LE") + line.count("--label-exclude"), 1)
                self.assertIn(f"--label-exclude {excluded} ", line)

    # The first example.

    def run_first(self, printed, **more):
        """Runs the command first with a lock file of three packages and with stand-ins that make and run programs, of
        which mpirun prints a text."""
        packages = {"torch": "1a", "numpy": "2a", "mpi4py": "3a"}
        lock = [f"{name}==1.0 \\\n    --hash=sha256:{value}\n" for name, value in packages.items()]
        (self.root / "cmake/requirements.lock").write_text("# Used directly\n" + "".join(lock))
        (self.root / "examples/first_steps").mkdir(exist_ok=True)
        for name in ("writer.f90", "reader.py"):
            (self.root / "examples/first_steps" / name).touch()
        (self.root / "README.md").write_text("prints `the promise`: Fortran's\n")
        (self.root / "build-first/syncyte/bin").mkdir(parents=True, exist_ok=True)
        (self.root / "build-first/syncyte/bin/syncyte-env.sh").touch()
        for name in ("mpif90", "pkg-config", "mpirun"):
            tool = self.folder / "tools" / name
            tool.write_text(STUB_TOOL + (f"echo '{printed}'\n" if name == "mpirun" else ""))
            tool.chmod(0o755)
        return self.run_it("first", **more)

    def test_first_needs_neither_torch_nor_hdf5(self):
        folder = self.root / "build-first"
        self.assertIn(f"source {folder}/syncyte/bin/syncyte-env.sh", self.run_first("the promise", SYNCYTE_VENV="mine"))
        self.assertTrue(self.asked(f"-m venv {folder}/environment"))
        self.assertTrue(self.asked("pip install", f"--requirement {folder}/requirements.lock"))
        names = [
            line.split("==")[0] for line in (folder / "requirements.lock").read_text().splitlines() if "==" in line
        ]
        self.assertEqual(names, ["numpy", "mpi4py"])
        (line,) = self.asked(": cmake -S", f"-B {folder}/build ", "--preset release")
        for part in ("TORCH", "HDF5", "UCX", "CUDA"):
            self.assertIn(f"-DSYNCYTE_{part}=OFF", line)
        self.assertTrue(self.asked(f"{folder}/example: mpirun -n 3 syncyte-mpmd"))

    def test_first_fails_unless_the_example_prints_what_readme_promises(self):
        self.assertIn("has not printed: the promise", self.run_first("another line", status=2))

    def test_first_needs_fewer_system_packages(self):
        for name in ("dpkg-query", "apt-get", "sudo"):
            tool = self.folder / "tools" / name
            tool.write_text(STUB_TOOL)
            tool.chmod(0o755)
        shutil.copy(SOURCE / "cmake/system-packages.txt", self.root / "cmake")
        for command, others in (("first", False), ("setup", True)):
            with self.subTest(command=command):
                self.run_it(command, status=2, SYNCYTE_SKIP_PACKAGES="0")  # apt-get has installed nothing
                (line,) = self.asked("apt-get ", "install") or self.asked("sudo ", "install")
                self.assertIn(" libopenmpi-dev", line)
                for name in ("libhdf5-openmpi-dev", "libgtest-dev"):
                    self.assertEqual(name in line, others)

    # Another MPI.

    def test_another_mpi_has_an_environment_and_a_build_of_its_own(self):
        for mpi, wheel in (("mpich", "mpich=="), ("openmpi5", "openmpi==")):
            with self.subTest(mpi=mpi):
                folder = self.root / f"build-{mpi}"
                self.run_it("test", f"--mpi={mpi}", SYNCYTE_VENV=str(self.folder / "mine"))
                lock = self.root / f"cmake/mpi/{mpi}.lock"
                self.assertIn(wheel, lock.read_text())
                self.assertTrue(self.asked(f"-m venv {folder}/environment"))
                self.assertTrue(self.asked("pip install", f"--requirement {lock}"))
                (line,) = self.asked(": cmake -S")
                for argument in (
                    f"-B {folder}/build ",
                    f"-DMPI_C_COMPILER={folder}/environment/bin/mpicc ",
                    f"-DMPIEXEC_EXECUTABLE={folder}/environment/bin/mpirun ",
                    "-DSYNCYTE_PYTHON=OFF ",
                    f"-DPython3_EXECUTABLE={folder}/environment/bin/python ",
                ):
                    self.assertIn(argument, line + " ")
                self.assertTrue(self.asked(f"cmake --build {folder}/build ", "--target core_tests"))
                self.assertFalse((self.folder / "mine").exists())
                self.assertFalse(self.asked(f"{self.root}/build/"))

    def test_another_mpi_runs_the_tests_of_the_core_that_are_asked_for(self):
        self.run_it("test", "-L", "window", "--mpi=mpich", "-R", "locks")
        (line,) = self.asked(": ctest ")
        self.assertIn(f"--test-dir {self.root}/build-mpich/build ", line)
        self.assertIn("--label-exclude slow|ranks|roots|wheel|slurm|spack|torch_cuda ", line)
        self.assertTrue(line.endswith("--label-regex ^(core|memory|window|tensor|capi)$ -L window -R locks"), line)

    def test_another_mpi_is_installed_once(self):
        self.run_it("test", "--mpi=mpich")
        output = self.run_it("test", "--mpi=mpich")
        self.assertIn("build-mpich/environment is complete", output)
        self.assertFalse(self.asked("pip"))
        self.run_it("test")
        self.assertTrue(self.asked("pip install", "--requirement", "cmake/requirements.lock"))
        self.assertTrue(self.asked(f"ctest --test-dir {self.root}/build "))

    def test_long_tests_only_where_they_are_asked_for(self):
        for arguments, excluded in (
            ([], True),
            (["-L", "slow"], False),
            (["--label-regex", "ranks|docs"], False),
            (["-L", "cuda"], False),
            (["-L", "python"], True),
            (["-R", "slow"], True),
        ):
            with self.subTest(arguments=arguments):
                self.run_it("test", *arguments)
                (line,) = self.asked(": ctest ")
                self.assertEqual("--label-exclude slow|ranks|roots|wheel|slurm|spack|torch_cuda" in line, excluded)
                self.assertTrue(line.endswith(" ".join(arguments)))


if __name__ == "__main__":
    unittest.main()
