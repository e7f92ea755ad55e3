# SPDX-License-Identifier: BSD-3-Clause
"""Syncyte from the clone that this recipe lies in."""

import os
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakeBuilder, CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Syncyte(CMakePackage, CudaPackage):
    """One memory for all the ranks of an MPI job: simulations in Fortran or C and PyTorch models share tensors that
    span all ranks."""

    # No homepage, no maintainers: there is no public repository yet, only clones.
    git = pathlib.Path(__file__).resolve().parents[5].as_uri()

    tags = ["hpc", "mpi"]
    test_requires_compiler = True

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", commit="5bf11c0974c72476be138808db3582772a502b06")

    variant("fortran", default=True, description="Fortran module")
    variant("hdf5", default=True, description="Checkpoints in HDF5 files")
    variant("python", default=True, description="Python package")
    variant("torch", default=False, description="PyTorch operators")
    variant("ucx", default=True, description="UCX between nodes")
    variant("tests", default=False, description="Dependencies of tests, benchmarks and examples, for work on a clone")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi@3.1:")
    depends_on("fmt@9:")
    depends_on("xxhash", type="build")
    depends_on("ucx@1.13:+thread_multiple", when="+ucx")
    depends_on("hdf5@1.10:", when="+hdf5")
    depends_on("isa-l", when="+hdf5")
    depends_on("python@3.11:3.13", type=("build", "run"), when="+python")
    depends_on("py-numpy", type=("run", "test"), when="+python")
    depends_on("py-mpi4py@4:", type=("run", "test"), when="+python")
    depends_on("py-h5py", type=("run", "test"), when="+python+hdf5")
    extends("python", when="+python")

    with default_args(type=("build", "link", "run")):
        depends_on("py-torch@2.6:2.15", when="+torch")
        depends_on("py-torch+cuda", when="+torch+cuda")
        for arch in CudaPackage.cuda_arch_values:
            depends_on(f"py-torch cuda_arch={arch}", when=f"+torch+cuda cuda_arch={arch}")

    depends_on("python@3.11:3.13", type="test")  # runs the tests
    for needed in ("googletest+gmock", "nlohmann-json@3.11:", "libabigail"):
        depends_on(needed, type="test")  # spack install --test=root
        depends_on(needed, type="build", when="+tests")
    depends_on("benchmark", type="build", when="+tests")
    depends_on("py-pytest", type="test", when="+python")

    conflicts("+torch", when="~python", msg="the PyTorch operators are used from Python: add +python")
    for compiler in ("gcc@:11", "clang@:15"):
        conflicts(f"%{compiler}", msg="C++20 is needed: gcc 12 or clang 16")

    generator("ninja")

    @property
    def sanity_check_is_file(self):
        files = [join_path("include", "syncyte.h"), join_path(self.library_folder, "libsyncyte.so")]
        if self.spec.satisfies("+fortran"):
            files.append(join_path(self.library_folder, "libsyncyte_fortran.so"))
        if self.spec.satisfies("+hdf5"):
            files.append(join_path(self.library_folder, "libsyncyte_hdf5.so"))
        return files

    # Fixed, so that the sanity checks and the Python package's folder do not depend on the system.
    library_folder = "lib"

    def cmake_args(self):
        args = [
            self.define("CMAKE_INSTALL_LIBDIR", self.library_folder),
            self.define_from_variant("SYNCYTE_FORTRAN", "fortran"),
            self.define_from_variant("SYNCYTE_HDF5", "hdf5"),
            self.define_from_variant("SYNCYTE_PYTHON", "python"),
            self.define_from_variant("SYNCYTE_TORCH", "torch"),
            self.define_from_variant("SYNCYTE_UCX", "ucx"),
            self.define("SYNCYTE_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("SYNCYTE_CCACHE", "OFF"),  # Spack decides (config:ccache)
            self.define("SYNCYTE_TESTS", self.run_tests),
            self.define("SYNCYTE_BENCH", False),
            self.define("SYNCYTE_EXAMPLES", False),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("SYNCYTE_PYTHON_DIR", python_purelib))
        if self.spec.satisfies("+cuda") and not self.spec.satisfies("cuda_arch=none"):
            args.append(CMakeBuilder.define_cuda_architectures(self))
        return args

    def check(self):
        """Runs the default tests; all others take hours (tests/README.md)."""
        others = "slow|ranks|roots|wheel|slurm|spack|torch_cuda"
        slots = str(3 * make_jobs)  # a test's PROCESSORS are thirds of a core
        with working_dir(self.build_directory):
            which("ctest", required=True)("-LE", others, "--output-on-failure", "--parallel", slots)

    def test_c_consumer(self):
        """a C program builds against the installation and runs"""
        source = join_path(os.path.dirname(__file__), "consumer.c")
        compiler = which(self.spec["mpi"].mpicc, required=True)
        library = self.prefix.join(self.library_folder)
        compiler(
            "-std=c11",
            source,
            f"-I{self.prefix.include}",
            f"-L{library}",
            "-lsyncyte",
            f"-Wl,-rpath,{library}",
            "-o",
            "consumer",
        )
        consumer = which("consumer", path=".", required=True)
        assert "syncyte" in consumer(output=str.split)

    def test_python(self):
        """the Python package finds the library"""
        if self.spec.satisfies("~python"):
            raise SkipTest("Package must be installed with +python")
        python("-c", "import syncyte; print(syncyte.__version__)")

    def test_torch(self):
        """the PyTorch operators load"""
        if self.spec.satisfies("~torch"):
            raise SkipTest("Package must be installed with +torch")
        python("-c", "import syncyte.torch")
