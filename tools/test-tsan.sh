#!/bin/sh
# Tests the lock-free parts of the segment among real threads under ThreadSanitizer. Not all Rust toolchains
# have ThreadSanitizer's run-time library; without it the script says so and ends with exit code 0.
set -eu
cd "$(dirname "$0")/.."
rustc="tools/cargo.sh --rustc"
host=$($rustc -vV | sed -n 's/^host: //p')
libraries=$($rustc --print sysroot)/lib/rustlib/$host/lib
if ! ls "$libraries"/librustc*_rt.tsan.a >/dev/null 2>&1; then
    echo "evenkeel: not tested here: crates/runtime/segment/tests/threads.rs under ThreadSanitizer;" \
        "this Rust toolchain has no library for it in $libraries" >&2
    exit 0
fi
# -Zsanitizer is unstable, hence RUSTC_BOOTSTRAP. The standard library is not compiled for the sanitizer:
# newer compilers refuse this without -Cunsafe-allow-abi-mismatch, an option that older ones do not have.
mismatch=-Cunsafe-allow-abi-mismatch=sanitizer
$rustc $mismatch --print sysroot >/dev/null 2>&1 || mismatch=
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread $mismatch"
export CARGO_TARGET_DIR=build/target-tsan
export TSAN_OPTIONS="suppressions=$PWD/crates/runtime/segment/tests/tsan.supp"
exec tools/cargo.sh test --locked --target "$host" -p evenkeel-segment --test threads
