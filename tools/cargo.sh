#!/bin/sh
# Runs the first cargo that is new enough for this project. Looks at $CARGO, PATH, ~/.cargo/bin (rustup) and
# /usr/bin (Debian's package cargo-web).
#
#   tools/cargo.sh build --release        runs cargo with these arguments
#   tools/cargo.sh --check                ends with exit code 0 if there is such a cargo
#   tools/cargo.sh --rustc -vV            runs the rustc that belongs to this cargo
set -eu
needed=88 # of 1.88

new_enough() {
    [ -x "$1" ] || return 1
    version=$("$1" --version 2>/dev/null) || return 1
    minor=$(echo "$version" | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
    [ "${minor:-0}" -ge "$needed" ]
}

for cargo in "${CARGO:-}" "$(command -v cargo || true)" "${HOME:-/}/.cargo/bin/cargo" /usr/bin/cargo; do
    if new_enough "$cargo"; then
        [ "${1:-}" != --check ] || exit 0
        # cargo runs the first rustc on PATH: it must be the one of the same toolchain.
        PATH="$(dirname "$cargo"):$PATH"
        export PATH
        [ "${1:-}" != --rustc ] || { shift; exec rustc "$@"; }
        exec "$cargo" "$@"
    fi
done
if [ "${1:-}" != --check ]; then
    echo "evenkeel: found no cargo of version 1.$needed or later in \$CARGO, PATH, ~/.cargo/bin" \
        "or /usr/bin. Run tools/install-deps.sh." >&2
fi
exit 1
