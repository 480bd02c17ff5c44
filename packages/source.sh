#!/bin/sh
# Makes the source archive, from which the packages of distributions are built.
#
#   packages/source.sh DIRECTORY          leaves DIRECTORY/evenkeel-VERSION.tar.gz
#
# It holds the tracked files as they are in the checkout, with their times: what was compiled from an earlier
# archive in the same place is then not compiled again.
set -eu

directory=${1:?"usage: packages/source.sh DIRECTORY"}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=evenkeel-$version
git ls-files -z |
    tar --create --gzip --file "$directory/$name.tar.gz" --null --files-from=- --owner=0 --group=0 \
        --transform "s,^,$name/,S"
echo "$directory/$name.tar.gz"
