#!/usr/bin/env python3
"""Builds the wheel: everything that `make install` installs, for glibc 2.28 and later.

    make wheel                          leaves dist/evenkeel-VERSION-py3-none-manylinux_2_28_x86_64.whl

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
TRIPLE = "x86_64-unknown-linux-gnu"
CRATES = ["evenkeel-cli", "evenkeel-agent", "evenkeel-mpi", "evenkeel-shim-generate", "evenkeel-primitives-c"]


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


def c_compiler(directory):
    """Writes a program that compiles C for the old glibc. Returns its path."""
    target = f"x86_64-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
    compiler = directory / "cc"
    compiler.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m ziglang cc -target {target} -fno-sanitize=all "$@"\n'
    )
    compiler.chmod(0o755)
    return compiler


def unwinder():
    """The shared libgcc_s. zig would link an unwinder of its own, at which exceptions of C++ programs end."""
    found = subprocess.run(
        ["gcc", "-print-file-name=libgcc_s.so.1"], capture_output=True, text=True, check=True
    )
    return found.stdout.strip()


def compile_all(directory):
    """Compiles programs and shims into `directory`. Returns the directory with the programs."""
    target = directory / "target"
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    crates = [word for crate in CRATES for word in ("-p", crate)]
    triple = f"{TRIPLE}.{GLIBC[0]}.{GLIBC[1]}"
    run(
        *("tools/cargo.sh", "zigbuild", "--release", "--locked", "--target", triple, *crates),
        CARGO_TARGET_DIR=str(target),
        PATH=tools,
    )
    programs = target / TRIPLE / "release"
    run(
        *("make", "shims", "third-party", f"RELEASE={programs}", f"CC={c_compiler(directory)}"),
        CFLAGS=unwinder(),
        EVENKEEL_DEPS="none",
    )
    return programs


def install(programs, tree):
    """Installs what was compiled into `tree` and strips it of debugging information."""
    shutil.rmtree(tree, ignore_errors=True)
    run("make", "install-files", f"RELEASE={programs}", f"DESTDIR={tree}", "PREFIX=", EVENKEEL_DEPS="none")
    for path in sorted(tree.rglob("*")):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            run("strip", "--strip-unneeded", path)


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
        "--work", type=Path, default=ROOT / "build" / "wheel", help="where to compile (default: build/wheel)"
    )
    arguments = parser.parse_args()
    if os.uname().machine != "x86_64":
        fail("wheels are built on x86-64 machines only, so far.")
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    tag = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64"
    tree = work / "tree"
    install(compile_all(work), tree)
    wheel = write_wheel(tree, take_licences(tree), version(), tag, arguments.out)
    audit(wheel, tag)
    installed = sum(f.stat().st_size for f in tree.rglob("*") if f.is_file())
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB, {installed / 1e6:.1f} MB installed")


if __name__ == "__main__":
    main()
