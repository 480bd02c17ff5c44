#!/usr/bin/env python3
"""Builds the wheel: everything that `make install` installs, for glibc 2.28 and later.

    make wheel                          leaves dist/evenkeel-VERSION-py3-none-manylinux_2_28_x86_64.whl
    make wheel-aarch64                  the same for ARM, compiled on x86-64

Rust goes through cargo-zigbuild and C through `zig cc`, which link with the symbols of an older glibc than
the one of this machine. The wheel has no Python code: `pip install` puts the program beside the interpreter,
and shims, agent, manual pages and completions into the prefix, where the program finds them. auditwheel then
says whether the wheel may carry its tag.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from wheel.wheelfile import WheelFile

ROOT = Path(__file__).resolve().parents[2]
GLIBC = (2, 28)
CRATES = ["evenkeel-cli", "evenkeel-agent", "evenkeel-mpi", "evenkeel-primitives-c"]

# Debian's Rust library takes this function from glibc 2.30. `hidden`: no other program gets it from here.
GETTID = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((visibility("hidden"))) pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }
"""


class Machine:
    """What programs are compiled for."""

    def __init__(self, name):
        self.name = name
        self.is_this_one = name == os.uname().machine
        self.triple = f"{name}-unknown-linux-gnu"
        self.zig_target = f"{name}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
        self.tag = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{name}"
        self.prefix = "" if self.is_this_one else f"{name}-linux-gnu-"

    def cargo(self):
        """The cargo whose Rust has the library for this machine; ends the program if there is none."""

        def has_library(cargo):
            line = ["tools/cargo.sh", "--rustc", "--print", "target-libdir", "--target", self.triple]
            environment = os.environ | {"CARGO": cargo}
            asked = subprocess.run(
                line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
            )
            return asked.returncode == 0 and Path(asked.stdout.strip()).is_dir()

        found = next(filter(has_library, (os.environ.get("CARGO", ""), "", "/usr/bin/cargo")), None)
        if found is None:
            fail(f"there is no library for {self.triple} here: tools/install-deps.sh wheel-{self.name}")
        return found

    def unwinder(self):
        """The shared libgcc_s. zig would link an unwinder of its own, at which exceptions of C++ end."""
        if not self.is_this_one:
            return f"/usr/{self.name}-linux-gnu/lib/libgcc_s.so.1"
        line = ["gcc", "-print-file-name=libgcc_s.so.1"]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


def version():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def fail(reason):
    sys.exit(f"packages/wheel/make_wheel.py: {reason}")


def run(*line, **environment):
    """Runs a command in the root of the project; ends the program with its exit code if it fails."""
    done = subprocess.run([*map(str, line)], cwd=ROOT, env=os.environ | environment, check=False)
    if done.returncode:
        fail(f"this command failed, and no wheel was made: {' '.join(map(str, line))}")


# ---- compiling ----


def c_compiler(machine, directory):
    """Writes a program that compiles C for the old glibc. Returns its path."""
    compiler = directory / "cc"
    zig = f'"{sys.executable}" -m ziglang cc -target {machine.zig_target} -fno-sanitize=all'
    compiler.write_text(f'#!/bin/sh\nexec {zig} "$@"\n')
    compiler.chmod(0o755)
    return compiler


def compile_all(machine, directory):
    """Compiles programs and shims into `directory`. Returns the directory with the programs."""
    target = directory / "target"
    compiler = c_compiler(machine, directory)
    (directory / "gettid.c").write_text(GETTID)
    run(compiler, "-c", "-O2", "-fPIC", directory / "gettid.c", "-o", directory / "gettid.o")
    crates = [word for crate in CRATES for word in ("-p", crate)]
    triple = f"{machine.triple}.{GLIBC[0]}.{GLIBC[1]}"
    environment = {
        "CARGO": machine.cargo(),
        "CARGO_TARGET_DIR": str(target),
        "CARGO_ZIGBUILD_PYTHON_PATH": sys.executable,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    flags = f"CARGO_TARGET_{machine.triple.upper().replace('-', '_')}_RUSTFLAGS"
    run(
        *("tools/cargo.sh", "zigbuild", "--release", "--locked", "--target", triple, *crates),
        **environment | {flags: f"-Clink-arg={directory / 'gettid.o'}"},
    )
    run(*("tools/cargo.sh", "build", "--release", "--locked", "-p", "evenkeel-shim-generate"), **environment)
    programs = target / machine.triple / "release"
    shutil.copy2(target / "release" / "evenkeel-shim-generate", programs)
    run(
        *("make", "shims", "third-party", f"RELEASE={programs}", f"CC={compiler}"),
        CFLAGS=f"{machine.unwinder()} {directory / 'gettid.o'}",
        EVENKEEL_DEPS="none",
    )
    return programs


def install(programs, tree, machine=None):
    """Installs what was compiled into `tree` and strips it of debugging information."""
    machine = machine or Machine(os.uname().machine)
    shutil.rmtree(tree, ignore_errors=True)
    words = ["make", "install-files", f"RELEASE={programs}", f"DESTDIR={tree}", "PREFIX="]
    if not machine.is_this_one:
        words.append(f"EMULATOR=qemu-{machine.name}-static -L /usr/{machine.name}-linux-gnu")
    run(*words, EVENKEEL_DEPS="none")
    for path in sorted(tree.rglob("*")):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            run(f"{machine.prefix}strip", "--strip-unneeded", path)


# ---- the wheel ----


def take_licences(tree):
    """Takes the licence texts out of an installed tree: a wheel has its own place for them. Returns them."""
    directory = tree / "share" / "doc" / "evenkeel"
    texts = {name: (directory / name).read_text() for name in ("LICENSE", "THIRD-PARTY")}
    for name in texts:
        (directory / name).unlink()
    return texts


def metadata(number):
    readme = (ROOT / "README.md").read_text()
    return (
        f"Metadata-Version: 2.4\nName: evenkeel\nVersion: {number}\n"
        "Summary: Runs MPI programs so that no rank waits for anything that it could not observe\n"
        "License-Expression: Apache-2.0\nLicense-File: LICENSE\nLicense-File: THIRD-PARTY\n"
        "Keywords: MPI,HPC,collectives,Open MPI,MPICH,mpi4py\n"
        "Classifier: Environment :: Console\nClassifier: Operating System :: POSIX :: Linux\n"
        "Classifier: Topic :: System :: Distributed Computing\n"
        f"Description-Content-Type: text/markdown\n\n{readme}"
    )


def write_wheel(tree, licence_files, number, tag, directory):
    """Makes a wheel of `tree`, the contents of a prefix. Returns its path.

    `licence_files` maps names to texts; `tag` names the platform. Programs go to `scripts`, so that pip puts
    them beside the interpreter; everything else keeps its place in the prefix.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"evenkeel-{number}-py3-none-{tag}.whl"
    path.unlink(missing_ok=True)
    information = f"evenkeel-{number}.dist-info"
    with WheelFile(path, "w") as wheel:
        for file in sorted(f for f in tree.rglob("*") if f.is_file()):
            inside = file.relative_to(tree)
            place = ("scripts", inside.name) if inside.parts[0] == "bin" else ("data", *inside.parts)
            wheel.write(str(file), "/".join([f"evenkeel-{number}.data", *place]))
        for name, text in licence_files.items():
            wheel.writestr(f"{information}/licenses/{name}", text)
        wheel.writestr(f"{information}/METADATA", metadata(number))
        wheel.writestr(
            f"{information}/WHEEL",
            f"Wheel-Version: 1.0\nGenerator: evenkeel\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n",
        )
    return path


def audit(wheel, tag):
    """Ends the program if auditwheel finds that the wheel needs more than its tag promises."""
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True, check=False
    )
    print(done.stdout.strip() or done.stderr.strip())
    if done.returncode or tag not in done.stdout:
        fail(f"auditwheel does not grant {wheel.name} the tag {tag}; see above.")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "dist", help="where the wheel goes (default: dist)"
    )
    parser.add_argument(
        "--machine",
        choices=["x86_64", "aarch64"],
        default="x86_64",
        help="what to compile for (default: x86_64)",
    )
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "wheel", help="where to compile (default: build/wheel)"
    )
    arguments = parser.parse_args()
    if os.uname().machine != "x86_64":
        fail("wheels are built on x86-64 machines only, so far.")
    machine = Machine(arguments.machine)
    work = arguments.work.resolve() / machine.name
    work.mkdir(parents=True, exist_ok=True)
    tree = work / "tree"
    install(compile_all(machine, work), tree, machine)
    wheel = write_wheel(tree, take_licences(tree), version(), machine.tag, arguments.out)
    audit(wheel, machine.tag)
    installed = sum(f.stat().st_size for f in tree.rglob("*") if f.is_file())
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB, {installed / 1e6:.1f} MB installed")


if __name__ == "__main__":
    main()
