#!/bin/sh
# Builds the RPM packages from a source archive, and lets rpmlint judge the spec file.
#
#   packages/rpm/build.sh OUTDIR          leaves OUTDIR/evenkeel-VERSION-1.x86_64.rpm and
#                                         OUTDIR/evenkeel-devel-VERSION-1.x86_64.rpm
#
# rpmbuild compiles in build/packages. On Debian the compilers of MPI are Debian's and those of the wheels in
# build/, and build requirements are not checked: rpm does not know what dpkg has installed.
set -eu

out=${1:?"usage: packages/rpm/build.sh OUTDIR"}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/../.."
root=$(pwd)

for tool in rpmbuild rpmlint; do
    command -v "$tool" >/dev/null || {
        echo "evenkeel: $tool is missing, and no package was made. Run tools/install-deps.sh rpm." >&2
        exit 1
    }
done
rpmlint --config packages/rpm/rpmlint.toml packages/rpm/evenkeel.spec
archive=$(packages/source.sh build/packages)
export CARGO_TARGET_DIR="$root/build/packages/target" EVENKEEL_VENVS="$root/build"
nodeps=
[ ! -f /etc/debian_version ] || nodeps=--nodeps
rpmbuild -bb $nodeps \
    --define "_topdir $root/build/packages/rpm" \
    --define "_sourcedir $root/build/packages" \
    --define "_builddir $root/build/packages" \
    --define "_rpmdir $out" \
    --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
    packages/rpm/evenkeel.spec
rm -rf "${archive%.tar.gz}" build/packages/rpm
ls "$out"/evenkeel-*.rpm
