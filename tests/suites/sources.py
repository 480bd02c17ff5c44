"""Gets the sources of the suites, and builds them once per MPI library in build/suites/.

MPICH's own suite is in Debian's source package of mpich. Debian 12 has no package of the Intel MPI
Benchmarks, so the caller names a folder with their sources.
"""

import os
import shutil
import subprocess
from pathlib import Path

from paths import ROOT

FOLDER = ROOT / "build" / "suites"

# Programs of the Intel MPI Benchmarks, by the name that its makefile has for each.
IMB_TARGETS = ["MPI1", "NBC", "RMA", "EXT"]


class MissingSourceError(RuntimeError):
    """The sources of a suite cannot be had here."""


def called(line, folder, log, environment=None):
    """Whether a command succeeds. Its output goes to the end of a file."""
    with log.open("a") as output:
        output.write(f"+ {' '.join(map(str, line))}\n")
        output.flush()
        return not subprocess.run(
            [*map(str, line)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | (environment or {}),
            check=False,
        ).returncode


def debian_source(package, into):
    """Downloads a source package by package lists of its own: the system's need not name any sources.

    Returns the archive of the original sources. Raises MissingSourceError.
    """
    log = into / "download.log"
    into.mkdir(parents=True, exist_ok=True)
    (into / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    line = "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)"
    try:
        # The same servers and releases that the system's binary packages come from.
        known = subprocess.run(
            ["apt-get", "indextargets", "--format", line, "Created-By: Packages", "Origin: Debian"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError) as e:
        raise MissingSourceError(f"apt-get cannot say where Debian's packages come from: {e}") from e
    (into / "sources.list").write_text("".join(sorted(set(known.splitlines(keepends=True)))))
    settings = {
        "Dir::Etc::SourceList": into / "sources.list",
        "Dir::Etc::SourceParts": "-",
        "Dir::State::Lists": into / "lists",
        "Dir::Cache": into,
        "APT::Sandbox::User": "root",  # the folder need not be open to other users
    }
    apt = ["apt-get", "-q", *(f"-o{key}={value}" for key, value in settings.items())]
    if not called([*apt, "update"], into, log) or not called(
        [*apt, "source", "--download-only", package], into, log
    ):
        raise MissingSourceError(f"Debian's source package {package} cannot be downloaded; see {log}")
    return next(into.glob(f"{package}_*.orig.tar.*"))


def mpich_suite(given=None):
    """The folder test/mpi of MPICH: a given one, or the one of Debian's source package."""
    if given:
        if not (given / "runtests.in").exists():
            raise MissingSourceError(f"{given} is not the folder test/mpi of MPICH: it has no runtests.in")
        return given.resolve()
    into = FOLDER / "sources"
    found = sorted(into.glob("mpich-*/test/mpi/configure"))
    if not found:
        archive = debian_source("mpich", into)
        if not called(["tar", "-xf", archive.name], into, into / "download.log"):
            raise MissingSourceError(f"{archive} cannot be unpacked")
        found = sorted(into.glob("mpich-*/test/mpi/configure"))
    return found[0].parent


def build_mpich_suite(suite, mpi, folders, jobs):
    """Configures the suite for a library and compiles these folders. Returns the folder of the programs.

    Programs that cannot be compiled, such as those for a newer MPI, are missing afterwards.
    """
    target = FOLDER / mpi.name / "mpich"
    log = target / "build.log"
    target.mkdir(parents=True, exist_ok=True)
    if not (target / "config.status").exists():
        fortran = {"MPIF77": mpi.fc, "MPIFC": mpi.fc} if mpi.fc else {}
        compilers = {"MPICC": mpi.cc, "MPICXX": mpi.cxx} | fortran
        # gfortran takes calls with several types of buffers for mistakes.
        flags = {"CFLAGS": "-O1 -w", "FFLAGS": "-w -fallow-argument-mismatch"}
        flags["FCFLAGS"] = flags["FFLAGS"]
        options = ["--disable-shared", "--disable-romio", "--disable-spawn", "--enable-threads=multiple"]
        options += ["--enable-strictmpi"] if mpi.family != "mpich" else []
        options += [] if mpi.fc else ["--enable-fortran=no"]
        words = [f"{key}={value}" for key, value in (compilers | flags).items()]
        if not called([suite / "configure", *options, *words], target, log, mpi.environment):
            raise MissingSourceError(f"the suite cannot be configured for {mpi.name}; see {log}")
    for folder in ["util", "dtpools", *folders]:
        done = target / folder / ".compiled"
        if (target / folder).exists() and not done.exists():
            called(["make", "-k", f"-j{jobs}", "-C", folder], target, log, mpi.environment)
            done.touch()
    return target


def build_imb(source, mpi, jobs):
    """Compiles the Intel MPI Benchmarks with their check of results. Returns the folder of the programs."""
    if not (source / "src_cpp" / "Makefile").exists():
        raise MissingSourceError(f"{source} is not a checkout of the Intel MPI Benchmarks: it has no src_cpp")
    target = FOLDER / mpi.name / "imb"
    log = FOLDER / mpi.name / "imb.log"
    if not target.exists():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(".git"))
        makefile = target / "src_cpp" / "Makefile"
        makefile.write_text(makefile.read_text().replace("-Werror", "-w"))
    for name in IMB_TARGETS:
        program = target / f"IMB-{name}"
        if not program.exists():
            words = [f"TARGET={name}", f"CC={mpi.cc}", f"CXX={mpi.cxx}", "CPPFLAGS=-DCHECK"]
            # Programs share objects, which depend on the target.
            called(["make", "clean", *words], target / "src_cpp", log, mpi.environment)
            called(["make", f"-j{jobs}", *words], target / "src_cpp", log, mpi.environment)
            if (target / "src_cpp" / program.name).exists():
                shutil.copy(target / "src_cpp" / program.name, program)
    return target


def version_of(mpi):
    """The version of MPI's standard that a library's mpi.h claims, such as (3, 1)."""
    asked = "#include <mpi.h>\nversion MPI_VERSION MPI_SUBVERSION\n"
    done = subprocess.run(
        [mpi.cc, "-E", "-P", "-x", "c", "-"],
        input=asked,
        capture_output=True,
        text=True,
        env=os.environ | mpi.environment,
        check=True,
    )
    major, minor = done.stdout.rsplit("version", 1)[1].split()
    return int(major), int(minor)


def program_of(built, case):
    """The path of a case's program, or None if it could not be compiled."""
    path = Path(os.path.normpath(built / case.folder / case.program))
    return path if path.is_file() and os.access(path, os.X_OK) else None
