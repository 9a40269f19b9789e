# Spack recipe of hpgmg-fv for Spack 0.21.3 to 1.x; docs/packages.md explains its use.
# ruff: noqa: F403, F405 (Spack adds `make` and others to this module)
import os
import re

from spack.package import *

# Since 1.0, build systems are part of Spack's package repository.
try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
except ImportError:
    from spack.package import AutotoolsPackage, CudaPackage


class HpgmgFv(AutotoolsPackage, CudaPackage):
    """Geometric multigrid benchmark: times one F-cycle on the variable-coefficient Poisson or
    Helmholtz equation, on CPUs or NVIDIA GPUs, and verifies every run."""

    license("BSD-3-Clause")

    # Use a clone: `spack develop --path=CLONE hpgmg-fv@develop`, or `spack dev-build` in the clone.
    version("develop")

    variant("mpi", default=True, description="MPI ranks")
    variant("openmp", default=True, description="OpenMP threads within a rank")
    variant("shared", default=True, description="Shared library libhpgmg besides the static one")
    variant("hdf5", default=True, description="Dumps, restarts and problems read from files")
    variant("jansson", default=True, description="JSON reports")
    variant("nccl", default=False, when="+cuda", description="NCCL messages between GPUs")
    variant("nvrtc", default=False, when="+cuda", description="hpgmg-bench search")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("autoconf@2.71:", type="build")
    depends_on("automake@1.16:", type="build")

    # For the installed scripts: check-result, scaling, bind-report, plot.py.
    depends_on("python@3.9:", type="run")
    depends_on("mpi", when="+mpi")
    # A static HDF5 would need its dependencies on the link line. HDF5 must match the use of MPI.
    depends_on("hdf5@1.10.2:+shared+mpi", when="+hdf5+mpi")
    depends_on("hdf5@1.10.2:+shared~mpi", when="+hdf5~mpi")
    depends_on("jansson", when="+jansson")
    depends_on("cuda@12:", when="+cuda")
    depends_on("cuda@12.8:", when="+nvrtc")
    depends_on("nccl", when="+nccl")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"nccl cuda_arch={arch}", when=f"+nccl cuda_arch={arch}")

    # Otherwise configure would compile for the GPU of the build machine.
    conflicts("cuda_arch=none", when="+cuda", msg="set the GPUs, such as cuda_arch=80,90")

    # In the folder of builds of a clone.
    build_directory = "build/spack"

    def autoreconf(self, spec, prefix):
        with working_dir(self.stage.source_path):
            if not os.path.exists("configure"):
                Executable("./autogen.sh")()

    def configure_args(self):
        spec = self.spec
        # Spack's compiler wrapper sets the target processor.
        args = ["--with-march=no", "--with-cupti=no"]
        args += self.enable_or_disable("openmp")
        args += self.enable_or_disable("shared")
        if spec.satisfies("+mpi"):
            args += ["--with-mpi=yes", f"MPICC={spec['mpi'].mpicc}"]
        else:
            args += ["--with-mpi=no"]
        for part in ("hdf5", "jansson", "cuda", "nccl", "nvrtc"):
            package = "cuda" if part == "nvrtc" else part
            where = spec[package].prefix if spec.satisfies(f"+{part}") else "no"
            args += [f"--with-{part}={where}"]
        if spec.satisfies("+cuda"):
            # Sort by number, so that 100 follows 90: configure adds PTX of the last one.
            archs = spec.variants["cuda_arch"].value
            archs = sorted(archs, key=lambda arch: int(arch.rstrip("af")))
            args += [f"--with-cuda-arch={','.join(archs)}"]
        return args

    # For packages that use the library.
    @property
    def libs(self):
        shared = self.spec.satisfies("+shared")
        return find_libraries("libhpgmg", root=self.prefix, shared=shared, recursive=True)

    @property
    def headers(self):
        return find_headers("hpgmg", root=self.prefix.include, recursive=False)

    def check(self):
        with working_dir(self.build_directory):
            make("check-fast")

    def test_verify(self):
        """solve a small problem; check the verification and the figure of merit"""
        program = which(self.prefix.bin.join("hpgmg-fv"), required=True)
        options = ["5", "1", "--rtol=1e-8", "--min-time=0"]
        if self.spec.satisfies("+jansson"):
            options += ["--json=report.json"]
        out = program(*options, output=str.split, error=str.split)
        assert "VERIFICATION: PASSED" in out
        assert re.search(r"^FOM: \S+ DOF/s VALID ", out, re.M)
        if self.spec.satisfies("+jansson"):
            scripts = self.prefix.share.join("hpgmg-fv").join("scripts")
            which(scripts.join("check-result"), required=True)("report.json")
