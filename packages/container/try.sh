#!/bin/sh
# Builds the image of packages/container/Dockerfile by buildah, and runs programs in it.
#
#   packages/container/try.sh
#
# What is tried: buildah with the isolation `chroot` on a base made by debootstrap, in place of an image from
# a registry; in the image, an mpi4py program under Open MPI and one in C under MPICH. So neither Docker nor
# Podman nor their seccomp profiles are tried. Images are kept in a directory that is removed at the end.
# Needs root, buildah and debootstrap.
set -eu
cd "$(dirname "$0")/../.."

for tool in buildah debootstrap; do
    command -v "$tool" >/dev/null || {
        echo "evenkeel: $tool is missing, and no image was built. Run tools/install-deps.sh container." >&2
        exit 1
    }
done
mirror=$(apt-get indextargets --format "\$(SITE)" | head -n 1)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
builder() {
    buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"
}

echo "---- base ----"
debootstrap --variant=minbase bookworm "$work/base" "$mirror" >"$work/debootstrap.log" 2>&1 ||
    { tail -n 5 "$work/debootstrap.log" >&2; exit 1; }
rm -rf "$work/base/var/cache/apt/archives/"*.deb
# Security updates too, as in Debian's own images: Debian 12's first Rust 1.85 is too old for some crates.
apt-get indextargets --format "deb \$(SITE) \$(RELEASE) \$(COMPONENT)" | grep ' bookworm' | sort -u \
    >"$work/base/etc/apt/sources.list"
# Certificates with which this machine reaches its package sources: ca-certificates adds them in the image.
cp -R /usr/local/share/ca-certificates "$work/base/usr/local/share/"
container=$(builder from scratch)
builder add --quiet "$container" "$work/base" / >/dev/null
builder commit --quiet --rm "$container" localhost/debian:bookworm >/dev/null
rm -rf --one-file-system "$work/base"

echo "---- image ----"
set --
[ ! -f /etc/pip.conf ] || set -- --volume /etc/pip.conf:/etc/pip.conf:ro
builder bud --isolation chroot --build-arg DEBIAN=localhost/debian:bookworm "$@" \
    --file packages/container/Dockerfile --tag evenkeel . >"$work/build.log" 2>&1 ||
    { tail -n 40 "$work/build.log" >&2; exit 1; }

echo "---- programs ----"
container=$(builder from localhost/evenkeel)
mpicc.mpich -O1 -o "$work/first" packages/programs/first.c
inside() {
    builder run --isolation chroot --volume "$work/first:/work/first:ro" "$container" -- "$@"
}
inside evenkeel doctor
inside evenkeel run -n 4 -- python3 -m mpi4py.bench helloworld
inside evenkeel run -n 4 -- /work/first
builder rm "$container" >/dev/null
echo "the image works"
