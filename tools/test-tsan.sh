#!/bin/sh
# The lock-free parts among real threads under ThreadSanitizer, whose run-time library comes with some Rust toolchains.
set -eu
cd "$(dirname "$0")/.."
rustc="tools/cargo.sh --rustc"
host=$($rustc -vV | sed -n 's/^host: //p')
libraries=$($rustc --print sysroot)/lib/rustlib/$host/lib
if ! ls "$libraries"/librustc*_rt.tsan.a >/dev/null 2>&1; then
    echo "evenkeel: not tested here: crates/runtime/segment/tests/threads.rs under ThreadSanitizer; this Rust toolchain has no library for it in $libraries" >&2
    exit 0
fi
# The option is not a stable one yet. The standard library is not compiled for the sanitizer: newer compilers want to be told
# that this is known, older ones do not know how.
known=-Cunsafe-allow-abi-mismatch=sanitizer
$rustc $known --print sysroot >/dev/null 2>&1 || known=
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread $known"
export CARGO_TARGET_DIR=build/target-tsan TSAN_OPTIONS="suppressions=$PWD/crates/runtime/segment/tests/tsan.supp"
exec tools/cargo.sh test --locked --target "$host" -p evenkeel-segment --test threads
