# Copyright: the evenkeel project
#
# SPDX-License-Identifier: Apache-2.0

# What was tried: tests/test_packages.py reads this file as Python and compares its version and the name of
# its class with the project's. Spack itself was not available (1.0 or later, for this layout), so nothing has
# been built by it. If it refuses two MPI libraries in one graph, evenkeel~mpich or evenkeel~openmpi has one.

import os

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Evenkeel(MakefilePackage):
    """Runs MPI programs with collective operations that are faster on busy machines, where there are more
    ranks than free cores. Programs need no change and no recompilation."""

    # The archive is made by packages/source.sh and looked for in the working directory.
    manual_download = True
    url = f"file://{os.getcwd()}/evenkeel-0.1.0.tar.gz"

    license("Apache-2.0")

    # packages/source.sh makes the archive of a checkout: a published one will have a checksum here.
    version("0.1.0")

    # The headers of each library give the shim for programs that are linked with it or its relatives.
    variant("openmpi", default=True, description="Build the shim for Open MPI")
    variant("mpich", default=True, description="Build the shims for MPICH, its relatives and the MPI 5 ABI")
    conflicts("~openmpi~mpich", msg="without the headers of an MPI library there is nothing to build")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("rust@1.88:", type="build")
    depends_on("python@3.11:", type="build")
    # Both at once: they are not linked with, only their mpi.h is read. So no `mpi` is depended upon, and a
    # program may use any MPI, also an external one.
    depends_on("openmpi@4:5", type="build", when="+openmpi")
    depends_on("mpich@4:", type="build", when="+mpich")

    conflicts("platform=darwin", msg="evenkeel needs Linux")
    conflicts("platform=windows", msg="evenkeel needs Linux")
    requires("target=x86_64:", msg="evenkeel is built and tested on x86-64 only")

    def setup_build_environment(self, env):
        env.set("EVENKEEL_DEPS", "none")
        if self.spec.satisfies("+openmpi"):
            wrapper = join_path(self.spec["openmpi"].prefix.bin, "mpicc")
            # The script finds out which of the two it is.
            env.set("EVENKEEL_OPENMPI4_CC", wrapper)
            env.set("EVENKEEL_OPENMPI5_CC", wrapper)
        if self.spec.satisfies("+mpich"):
            wrapper = join_path(self.spec["mpich"].prefix.bin, "mpicc")
            env.set("EVENKEEL_MPICH4_CC", wrapper)
            env.set("EVENKEEL_MPICH5_CC", wrapper)
            env.set("EVENKEEL_MPIABI_INCLUDE", self.spec["mpich"].prefix.include)

    def build(self, spec, prefix):
        make("build")

    def install(self, spec, prefix):
        make("install-files", f"PREFIX={prefix}")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(join_path(self.prefix.bin, "evenkeel"))("--version")
