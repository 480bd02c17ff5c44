#!/bin/sh
# Installs the Debian packages on a bare installation of Debian, runs programs there, and removes them again.
#
#   packages/debian/try.sh EVENKEEL.deb PRIMITIVES.deb [RELEASE]        (bookworm if none is named)
#
# The installation has Debian's Open MPI and MPICH, and no compiler. The programs are compiled here: a C
# program for each MPI library, and one that uses the primitives. After `apt-get purge` the installation must
# have the same files as before. Needs root and debootstrap.
set -eu

if [ $# -lt 2 ] || [ ! -f "$1" ] || [ ! -f "$2" ]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
release=${3:-bookworm}
mirror=$(apt-get indextargets --format "\$(SITE)" | head -n 1)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
programs=$(cd "$(dirname "$0")/../programs" && pwd)
header=$(cd "$(dirname "$0")/../../crates/runtime/primitives-c/include" && pwd)

# What is run inside.
cat >"$work/inside.sh" <<'EOF'
set -eu
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HOME=/root DEBIAN_FRONTEND=noninteractive
# Names and contents of all files but those of apt, dpkg and caches, which keep logs and times.
files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/lib/dpkg \
        -o -path /var/lib/apt -o -path /var/cache -o -path /var/log -o -path /etc/ld.so.cache \) -prune \
        -o -print | sort
}
files >/tmp/before
apt-get install -y -q --no-install-recommends /packages/*.deb >/tmp/apt.log 2>&1 ||
    { tail -n 20 /tmp/apt.log >&2; exit 1; }
files >/tmp/during
for mpi in openmpi mpich; do
    echo "---- $mpi ----"
    evenkeel run -n 4 --report "/tmp/$mpi.json" -- "/programs/first.$mpi"
    evenkeel report "/tmp/$mpi.json" | grep -E '^allreduce'
    evenkeel doctor "/programs/first.$mpi"
done
evenkeel run -n 4 -- python3 -m mpi4py.bench helloworld
/programs/primitives
for page in evenkeel evenkeel-run; do
    test -s /usr/share/man/man1/$page.1.gz
done
test -x /usr/lib/evenkeel/evenkeel-agent
apt-get purge -y -q evenkeel libevenkeel-primitives-dev >/tmp/apt.log 2>&1 ||
    { tail -n 20 /tmp/apt.log >&2; exit 1; }
files >/tmp/after
echo "$(comm -13 /tmp/before /tmp/during | wc -l) files and directories came with the packages"
if ! diff /tmp/before /tmp/after; then
    echo "packages/debian/try.sh: the lines above differ before installation and after removal" >&2
    exit 1
fi
echo "nothing is left after removal"
EOF

# Run in namespaces of its own, which end with all that is mounted and started there.
cat >"$work/enter.sh" <<'EOF'
set -eu
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys"
mount --rbind /dev "$1/dev"
mount -t tmpfs tmpfs "$1/dev/shm"
exec chroot "$1" sh /inside.sh
EOF

debootstrap --variant=minbase --include=openmpi-bin,mpich,python3-mpi4py,ca-certificates "$release" \
    "$root" "$mirror" \
    >"$work/debootstrap.log" 2>&1 || { tail -n 5 "$work/debootstrap.log" >&2; exit 1; }
mkdir "$root/packages" "$root/programs"
cp "$1" "$2" "$root/packages/"
cp "$work/inside.sh" "$root/"
for mpi in openmpi mpich; do
    mpicc.$mpi -O1 -o "$root/programs/first.$mpi" "$programs/first.c"
done
mkdir "$work/library"
dpkg-deb --extract "$2" "$work/library"
cc -O1 -I"$header" -o "$root/programs/primitives" "$programs/primitives.c" \
    -L"$work/library/usr/lib/x86_64-linux-gnu" -levenkeel_primitives_c
for file in /etc/resolv.conf /etc/hosts /etc/apt/sources.list; do
    [ ! -f "$file" ] || install -D -m 644 "$file" "$root$file"
done
unshare --mount --pid --fork sh "$work/enter.sh" "$root" ||
    { echo "packages/debian/try.sh: the packages failed on Debian $release; see above" >&2; exit 1; }
echo "the packages work on: $release"
