#!/bin/sh
# What conda-build runs in the source tree. PREFIX is the environment that is packaged; it has one MPI
# library.
set -eu

# Which of Open MPI 4 and 5, MPICH 4 and 5 this is, shims/build-shims.sh finds out.
export EVENKEEL_OPENMPI4_CC="$PREFIX/bin/mpicc" EVENKEEL_OPENMPI5_CC="$PREFIX/bin/mpicc"
export EVENKEEL_MPICH4_CC="$PREFIX/bin/mpicc" EVENKEEL_MPICH5_CC="$PREFIX/bin/mpicc"
export EVENKEEL_MPIABI_INCLUDE="$PREFIX/include"
# The compiler's flags are those of the Makefile, with which everything is tested.
unset CFLAGS CPPFLAGS LDFLAGS || true
make build EVENKEEL_DEPS=none CC="${CC:-cc}"
make install-files EVENKEEL_DEPS=none PREFIX="$PREFIX"
