"""The C programs: compiled once for each MPI library with that library's own compiler, the floor and the helpers once without any."""

import os
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src"
APPS = SOURCES.parent / "apps"
MPI_PROGRAMS = ("collectives", "reduce_skew", "late", "compute", "call", "traffic", "stopped")
APP_PROGRAMS = ("barrier", "scan", "radix", "cholesky", "mg", "pingpong")
# gcc takes MPI_STATUSES_IGNORE of MPICH 4 for an array that is too short.
FLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-Wno-stringop-overflow")


def path(folder, program, library=None):
    return Path(folder) / (f"{program}.{library.name}" if library else program)


def one_session(folder):
    return (Path(folder) / "one_session.so").absolute()


def compile_all(folder, libraries):
    """Compiles what is older than its sources. Returns library name → the compiler's complaint for those that failed."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    newest = max(p.stat().st_mtime for p in (*SOURCES.iterdir(), *APPS.iterdir()))
    for bare in ("floor", "competitors", "tcp"):
        complaint = _compile(
            shutil.which("gcc") or "cc", SOURCES / f"{bare}.c", path(folder, bare), newest, {}
        )
        if complaint:
            raise SystemExit(
                f"bench: cannot compile {bare}.c, which needs gcc and the C library's headers:\n{complaint}"
            )
    complaint = _compile(
        shutil.which("gcc") or "cc",
        SOURCES / "one_session.c",
        one_session(folder),
        newest,
        {},
        "-shared",
        "-fPIC",
    )
    if complaint:
        raise SystemExit(f"bench: cannot compile one_session.c:\n{complaint}")
    failed = {}
    for library in libraries:
        for program in (*MPI_PROGRAMS, *APP_PROGRAMS):
            source = (APPS if program in APP_PROGRAMS else SOURCES) / f"{program}.c"
            complaint = _compile(
                library.compiler, source, path(folder, program, library), newest, library.compile_environment
            )
            if complaint:
                failed[library.name] = (
                    f"{library.compiler} cannot compile {program}.c: {complaint.splitlines()[-1]}"
                )
                break
    return failed


def _compile(compiler, source, target, newest, environment, *more):
    if target.exists() and target.stat().st_mtime > newest:
        return ""
    done = subprocess.run(
        [compiler, *FLAGS, *more, "-o", str(target), str(source), "-lm"],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"
