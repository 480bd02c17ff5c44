#!/bin/sh
# Runs a cargo that is new enough for this project: $CARGO, the one along PATH, rustup's, or Debian's cargo-web.
#
#   tools/cargo.sh build --release        like cargo
#   tools/cargo.sh --check                exit code 0 if there is one
#   tools/cargo.sh --rustc -vV            the rustc that belongs to it
set -eu
needed=85 # of 1.85

new_enough() {
    [ -x "$1" ] || return 1
    version=$("$1" --version 2>/dev/null) || return 1
    minor=$(echo "$version" | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
    [ "${minor:-0}" -ge "$needed" ]
}

for cargo in "${CARGO:-}" "$(command -v cargo || true)" "${HOME:-/}/.cargo/bin/cargo" /usr/bin/cargo; do
    if new_enough "$cargo"; then
        [ "${1:-}" != --check ] || exit 0
        # rustc must be the one that belongs to it.
        PATH="$(dirname "$cargo"):$PATH"
        export PATH
        [ "${1:-}" != --rustc ] || { shift; exec rustc "$@"; }
        exec "$cargo" "$@"
    fi
done
[ "${1:-}" = --check ] || echo "evenkeel: there is no cargo of version 1.$needed or later (looked at \$CARGO, PATH, ~/.cargo/bin, /usr/bin). Run tools/install-deps.sh." >&2
exit 1
