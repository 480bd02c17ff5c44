#!/bin/sh
# Installs RPM packages in a directory of their own, runs programs from there, and removes them again.
#
#   packages/rpm/try.sh EVENKEEL.rpm DEVEL.rpm
#
# The directory has a database of rpm of its own and nothing else; requirements are not checked, because the C
# library and MPI are those of this machine (Open MPI and MPICH of Debian). After removal no file may be left.
set -eu

if [ $# -ne 2 ] || [ ! -f "$1" ] || [ ! -f "$2" ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
programs=$(cd "$(dirname "$0")/../programs" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

echo "requirements: $(rpm -qp --requires "$1" | grep -v '^rpmlib' | tr '\n' ' ')"
# Debian's rpm refuses to install unless it is told that this is meant.
in_root() { rpm --root "$work/root" --dbpath /var/lib/rpm --nodeps --force-debian "$@"; }
mkdir "$work/root"
in_root --install "$1" "$2"
usr=$work/root/usr
find "$usr" ! -type d | wc -l | sed 's/$/ files came with the packages/'
for mpi in openmpi mpich; do
    echo "---- $mpi ----"
    mpicc.$mpi -O1 -o "$work/first.$mpi" "$programs/first.c"
    "$usr/bin/evenkeel" run -n 4 --report "$work/$mpi.json" -- "$work/first.$mpi"
    "$usr/bin/evenkeel" report "$work/$mpi.json" | grep -E '^allreduce'
done
library=$(dirname "$(find "$usr" -name libevenkeel_primitives_c.so)")
cc -O1 -I"$usr/include" -o "$work/primitives" "$programs/primitives.c" -L"$library" -levenkeel_primitives_c
LD_LIBRARY_PATH=$library "$work/primitives"
in_root --erase evenkeel evenkeel-devel
left=$(find "$work/root" -path "$work/root/var/lib/rpm" -prune -o ! -type d -print)
if [ -n "$left" ] || [ -e "$usr/lib/evenkeel" ]; then
    printf 'packages/rpm/try.sh: these files are left after removal:\n%s\n' "$left" >&2
    exit 1
fi
echo "nothing is left after removal"
