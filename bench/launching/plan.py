"""What is started, by which launcher, how often. Starts nothing."""

from dataclasses import dataclass, field

from evenkeel_bench.libraries import MPICH_THROTTLE, OPENMPI5_SHARED_MEMORY, passed_on
from evenkeel_bench.programs import path

OWN, RUN, LIBRARY, AT_BEST, BARE = (
    "evenkeel's launcher",
    "`evenkeel run`",
    "the library's launcher",
    "the library's launcher, best settings known",
    "bare `posix_spawn`",
)
TRUE_RANKS, MPI_RANKS = (16, 64), (2, 16)
LIMIT_S = 10

# What the ratio of evenkeel's launcher is to be at most: to bare processes, or to the library's launcher.
TRUE_TARGET = 1.15
TARGETS = {
    ("mpich5", 2): 0.95,
    ("mpich5", 16): 0.95,
    ("openmpi4", 2): 0.9,
    ("openmpi4", 16): 0.9,
    ("openmpi5", 2): 0.2,
    ("openmpi5", 16): 0.3,
}


@dataclass(frozen=True)
class Case:
    """One command: `subject` is what is started, `launcher` by what."""

    subject: str  # "true", or a library's name: a program that starts and ends MPI
    launcher: str
    ranks: int
    command: tuple = field(hash=False, compare=False)
    environment: dict = field(default_factory=dict, hash=False, compare=False)

    def key(self):
        return f"{self.subject}/{self.ranks}/{self.launcher}"


def own(evenkeel, ranks, *words):
    return (evenkeel, "run", "-n", str(ranks), "--launcher", "evenkeel", "--quiet", *words)


def by_library(library, ranks, program, *more):
    oversubscribed = ("--oversubscribe",) if library.family == "openmpi" else ()
    return (library.launcher, *oversubscribed, *more, "-n", str(ranks), str(program))


def best_settings(library):
    """The options of the library's launcher; () if no better ones are known."""
    if library.name == "openmpi4":
        return ("--mca", "pml", "ob1", "--mca", "btl", "self,vader")
    if library.name == "openmpi5":
        return OPENMPI5_SHARED_MEMORY
    return passed_on(library, MPICH_THROTTLE) if library.name == "mpich5" else ()


def cases(found, folder, evenkeel):
    """All cases for the libraries found. `folder`: of the compiled programs; `evenkeel`: the program."""
    made = []
    for ranks in TRUE_RANKS:
        made.append(Case("true", BARE, ranks, (str(path(folder, "spawn")), str(ranks), "true")))
        for library in found:
            titled = f"{LIBRARY}: {library.title}"
            environment = library.compile_environment
            made.append(Case("true", titled, ranks, by_library(library, ranks, "true"), environment))
        for library in found:
            # The family decides whether a PMIx server is started. Wheels are not found by name alone.
            if library.name in ("mpich4", "openmpi4"):
                titled = f"{OWN}: {library.title}"
                command = own(evenkeel, ranks, "--mpi", library.name, "--", "true")
                made.append(Case("true", titled, ranks, command))
    for library in found:
        program = str(path(folder, "start", library))
        for ranks in MPI_RANKS:
            environment = library.compile_environment
            commands = {
                LIBRARY: by_library(library, ranks, program),
                RUN: (evenkeel, "run", "-n", str(ranks), "--quiet", "--", program),
                OWN: own(evenkeel, ranks, "--", program),
            }
            if best := best_settings(library):
                commands[AT_BEST] = by_library(library, ranks, program, *best)
            made += [
                Case(library.name, launcher, ranks, command, environment)
                for launcher, command in commands.items()
            ]
    return made
