"""Which libraries are measured between hosts, and how each is told that hosts share cores. Pure.

Ranks are not bound, and yield while they wait. Launchers reach other hosts as the rig's environment says
(tests/rig/evenkeel_rig/launching.py). That environment has the settings for yielding as well; they are
repeated here because launchers pass on to other hosts only what they are told to.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

from evenkeel_bench.libraries import MPICH_THROTTLE, Library, passed_on

# evenkeel over one library of each family. Collectives that evenkeel does not carry between hosts are the
# library's.
EVENKEEL_OVER = ("openmpi4", "mpich5-ucx")


@dataclass(frozen=True)
class Setting:
    """A library in one setting, with evenkeel or without."""

    name: str
    library: Library
    environment: dict = field(default_factory=dict, hash=False)
    arguments: tuple = ()
    shim: str = ""  # path, or "" without evenkeel

    @property
    def is_evenkeel(self):
        return bool(self.shim)

    def command(self, hosts, per_host, program, arguments, more=None):
        """The launcher's command line for the first host: `per_host` ranks on each of `hosts` (names)."""
        preload = {"LD_PRELOAD": self.shim, "EVENKEEL_QUIET": "1"} if self.shim else {}
        passed = passed_on(self.library, self.environment | preload | (more or {}))
        if self.library.name == "impi":
            where = ["-hosts", ",".join(hosts), "-ppn", str(per_host)]
        else:
            option = "--host" if self.library.family == "openmpi" else "-hosts"
            where = [option, ",".join(f"{host}:{per_host}" for host in hosts)]
        line = [self.library.launcher, *self.arguments, *where, *passed, "-n", str(len(hosts) * per_host)]
        return [*line, str(program), *map(str, arguments)]


def bare_settings(found):
    """All settings of the libraries found, without evenkeel."""
    by_name = {library.name: library for library in found}
    made = []

    def add(name, library, **more):
        if library in by_name:
            made.append(Setting(name, by_name[library], **more))

    yields = ("--mca", "mpi_yield_when_idle", "1", "--bind-to", "none")
    add("openmpi4", "openmpi4", arguments=(*yields, "--mca", "btl_tcp_if_include", "eth0"))
    add("openmpi5", "openmpi5", arguments=yields)
    # One wheel has both network modules: the module is chosen at run time.
    add("mpich5-ucx", "mpich5", environment=MPICH_THROTTLE | {"MPIR_CVAR_CH4_NETMOD": "ucx"})
    add("mpich5-ofi", "mpich5", environment=MPICH_THROTTLE | {"MPIR_CVAR_CH4_NETMOD": "ofi"})
    if "impi" in by_name:
        root = by_name["impi"].compile_environment["I_MPI_ROOT"]
        add("impi", "impi", environment={"I_MPI_ROOT": root, "I_MPI_PIN": "0", "I_MPI_THREAD_YIELD": "2"})
    return made


def settings(found, shims):
    """The settings of the libraries found, without and with evenkeel: (list, name → why it is left out).

    `shims`: a folder, or None to measure the libraries alone.
    """
    bare = bare_settings(found)
    ours, left_out = [], {}
    for host in (setting for name in EVENKEEL_OVER for setting in bare if setting.name == name):
        name = f"{host.name}+evenkeel"
        shim = Path(shims) / f"libevenkeel-{host.library.shim}.so" if shims else None
        if shim and shim.is_file():
            ours.append(replace(host, name=name, shim=str(shim.absolute())))
        else:
            left_out[name] = f"no {shim}" if shims else "asked to measure without evenkeel"
    return bare + ours, left_out
