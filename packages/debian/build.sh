#!/bin/sh
# Builds the Debian packages from a source archive, and lets lintian judge them.
#
#   packages/debian/build.sh OUTDIR          leaves OUTDIR/evenkeel_VERSION_amd64.deb and
#                                            OUTDIR/libevenkeel-primitives-dev_VERSION_amd64.deb
#
# dpkg-buildpackage compiles in build/packages. The headers of Open MPI 5, MPICH 5 and the standard ABI are
# those of the wheels in build/, so that the package has all shims, not only those for Debian's libraries.
set -eu

out=${1:?"usage: packages/debian/build.sh OUTDIR"}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/../.."
root=$(pwd)

for tool in dpkg-buildpackage dh lintian; do
    command -v "$tool" >/dev/null || {
        echo "evenkeel: $tool is missing, and no package was made. Run tools/install-deps.sh deb." >&2
        exit 1
    }
done
archive=$(packages/source.sh build/packages)
tree=${archive%.tar.gz}
rm -rf "$tree"
tar --extract --file "$archive" --directory build/packages
cp -R packages/debian "$tree/debian"
rm "$tree/debian/build.sh" "$tree/debian/try.sh"
cd "$tree"
export CARGO_TARGET_DIR="$root/build/packages/target" EVENKEEL_VENVS="$root/build"
# Rust may come from rustup, which dpkg does not know: -d leaves the check of Build-Depends out.
dpkg-buildpackage --build=binary --no-sign -d
cd "$root"
version=$(dpkg-parsechangelog --file packages/debian/changelog --show-field Version)
changes=build/packages/evenkeel_${version}_amd64.changes
# The project has no mail address. In containers people build as root.
lintian --fail-on error,warning --info --allow-root \
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$changes"
for package in evenkeel libevenkeel-primitives-dev; do
    mv "build/packages/${package}_${version}_amd64.deb" "$out/"
    echo "$out/${package}_${version}_amd64.deb"
done
rm -rf "$tree" build/packages/evenkeel_"$version"_amd64.*
