"""A library as it is, in its best known setting, and under `evenkeel run`.

Programs run as a user starts them, by command lines alone. `libraries.Configuration` preloads the shim
instead.
"""

import dataclasses
import os
import subprocess
from pathlib import Path

from .checkout import EVENKEEL
from .libraries import AS_ROOT, BEST_KNOWN, Library

AS_IT_IS, AT_BEST, OURS = "library", "best known setting", "evenkeel"
NAMES = (AS_IT_IS, AT_BEST, OURS)


@dataclasses.dataclass(frozen=True)
class Setting:
    """How ranks are started: the command line before and after their number, and the environment."""

    library: Library
    name: str
    before: tuple
    after: tuple
    environment: dict = dataclasses.field(hash=False)

    def __str__(self):
        return f"{self.library.title}, {self.name}"

    def command(self, ranks, *program):
        """The command line, as texts."""
        return [str(word) for word in (*self.before, ranks, *self.after, *program)]


def environment_of(library):
    """This process's environment, in which `evenkeel run` finds the library's own launcher first."""
    made = os.environ | library.compile_environment | AS_ROOT
    folder = Path(library.launcher).parent
    return made | ({"PATH": f"{folder}:{made['PATH']}"} if folder.is_absolute() else {})


def alone(library, name, environment):
    """Started by the library's launcher, without evenkeel."""
    oversubscribe = ("--oversubscribe",) if library.family == "openmpi" else ()
    return Setting(library, name, (library.launcher, *oversubscribe, "-n"), (), environment)


def under_evenkeel(library, name, environment, *options):
    before = (EVENKEEL, "run", "--quiet", *options, "-n")
    return Setting(library, name, before, ("--",), environment)


def names_of(library):
    """The settings in which a library can be compared."""
    return [name for name in NAMES if name != AT_BEST or library.name in BEST_KNOWN]


def settings_of(library, environment, *options):
    """All settings of a library; `options`: of `evenkeel run`."""
    best = environment | BEST_KNOWN.get(library.name, {})
    made = {
        AS_IT_IS: alone(library, AS_IT_IS, environment),
        AT_BEST: alone(library, AT_BEST, best),
        OURS: under_evenkeel(library, OURS, environment, *options),
    }
    return [made[name] for name in names_of(library)]


def compiled(library, source, folder):
    """The program that the library's compiler makes of a source."""
    program = Path(folder) / f"{Path(source).stem}-{library.name}"
    line = [library.compiler, "-O2", "-o", program, source]
    subprocess.run(line, check=True, env=environment_of(library))
    return program
