"""The C programs: compiled once for each MPI library by its own compiler; those without MPI once by gcc."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
SOURCES, APPS = BENCH / "src", BENCH / "apps"
ONE_SESSION = BENCH.parent / "crates/cli/launcher/one_session.c"
MPI_PROGRAMS = ("collectives", "reduce_skew", "late", "compute", "call", "traffic", "stopped")
APP_PROGRAMS = ("barrier", "scan", "radix", "cholesky", "mg", "pingpong")
BARE_PROGRAMS = ("floor", "competitors", "tcp")
# gcc takes MPI_STATUSES_IGNORE of MPICH 4 for an array that is too short.
FLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-Wno-stringop-overflow")


def path(folder, program, library=None):
    """Where a compiled program is."""
    return Path(folder) / (f"{program}.{library.name}" if library else program)


def one_session(folder):
    """The library that keeps MPICH's launcher from giving each rank a session of its own."""
    return (Path(folder) / "one_session.so").absolute()


@dataclass
class Compilation:
    """Compiles what is older than the newest source."""

    newest: float

    def compile(self, compiler, source, target, environment=None, more=()):
        """Returns the compiler's complaint, or ''."""
        if target.exists() and target.stat().st_mtime > self.newest:
            return ""
        done = subprocess.run(
            [compiler, *FLAGS, *more, "-o", str(target), str(source), "-lm"],
            capture_output=True,
            text=True,
            env=os.environ | (environment or {}),
            check=False,
        )
        return "" if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"


def compile_all(folder, libraries):
    """Compiles everything. Returns library name → the compiler's complaint for those that failed."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    compilation = Compilation(
        max(p.stat().st_mtime for p in (*SOURCES.iterdir(), *APPS.iterdir(), ONE_SESSION))
    )
    _compile_bare(compilation, folder)
    failed = {}
    for library in libraries:
        for program in (*MPI_PROGRAMS, *APP_PROGRAMS):
            source = (APPS if program in APP_PROGRAMS else SOURCES) / f"{program}.c"
            target = path(folder, program, library)
            complaint = compilation.compile(library.compiler, source, target, library.compile_environment)
            if complaint:
                last = complaint.splitlines()[-1]
                failed[library.name] = f"{library.compiler} cannot compile {program}.c: {last}"
                break
    return failed


def _compile_bare(compilation, folder):
    gcc = shutil.which("gcc") or "cc"
    targets = [(SOURCES / f"{program}.c", path(folder, program), ()) for program in BARE_PROGRAMS]
    targets.append((ONE_SESSION, one_session(folder), ("-shared", "-fPIC")))
    for source, target, more in targets:
        complaint = compilation.compile(gcc, source, target, more=more)
        if complaint:
            raise SystemExit(
                f"bench: cannot compile {source.name}, which needs gcc and the C library's "
                f"headers:\n{complaint}"
            )
