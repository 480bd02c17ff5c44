"""Which libraries are measured across hosts, and how each is told that hosts share cores: not bound, and yielding. Pure.

Launchers reach other hosts as the rig's environment says (tests/rig/evenkeel_rig/launching.py), which also has the settings for yielding; they stand here once
more because launchers pass on to the other hosts only what they are told to.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

from evenkeel_bench.peers import MPICH_THROTTLE, Library


@dataclass(frozen=True)
class Setting:
    name: str
    library: Library
    environment: dict = field(default_factory=dict, hash=False)
    arguments: tuple = ()
    shim: str = ""  # path, or "" without evenkeel

    @property
    def is_evenkeel(self):
        return bool(self.shim)

    def command(self, hosts, per_host, program, arguments, more=None):
        """The launcher's command line, to be run on the first host: `per_host` ranks on each of `hosts` (names)."""
        environment = (
            self.environment
            | ({"LD_PRELOAD": self.shim, "EVENKEEL_QUIET": "1"} if self.shim else {})
            | (more or {})
        )
        openmpi = self.library.family == "openmpi"
        passed = [
            word
            for key, value in environment.items()
            for word in (("-x", f"{key}={value}") if openmpi else ("-genv", key, value))
        ]
        if self.library.name == "impi":
            where = ["-hosts", ",".join(hosts), "-ppn", str(per_host)]
        else:
            where = ["--host" if openmpi else "-hosts", ",".join(f"{host}:{per_host}" for host in hosts)]
        ranks = str(len(hosts) * per_host)
        return [
            self.library.launcher,
            *self.arguments,
            *where,
            *passed,
            "-n",
            ranks,
            str(program),
            *map(str, arguments),
        ]


def settings(found, shims):
    """The settings of the libraries found: (list of `Setting`, name → why it is left out). `shims`: a folder, or None to measure without evenkeel."""
    by_name = {library.name: library for library in found}
    bare = []

    def add(name, library, **more):
        if library in by_name:
            bare.append(Setting(name, by_name[library], **more))

    yields = ("--mca", "mpi_yield_when_idle", "1", "--bind-to", "none")
    add("openmpi4", "openmpi4", arguments=(*yields, "--mca", "btl_tcp_if_include", "eth0"))
    add("openmpi5", "openmpi5", arguments=yields)
    # One wheel has both: the network module is chosen at run time.
    add("mpich5-ucx", "mpich5", environment=MPICH_THROTTLE | {"MPIR_CVAR_CH4_NETMOD": "ucx"})
    add("mpich5-ofi", "mpich5", environment=MPICH_THROTTLE | {"MPIR_CVAR_CH4_NETMOD": "ofi"})
    if "impi" in by_name:
        root = by_name["impi"].compile_environment["I_MPI_ROOT"]
        add("impi", "impi", environment={"I_MPI_ROOT": root, "I_MPI_PIN": "0", "I_MPI_THREAD_YIELD": "2"})
    ours, left_out = [], {}
    for name in EVENKEEL_OVER:
        host = next((setting for setting in bare if setting.name == name), None)
        if host is None:
            continue
        shim = Path(shims) / f"libevenkeel-{host.library.shim}.so" if shims else None
        if shim and shim.is_file():
            ours.append(replace(host, name=f"{name}+evenkeel", shim=str(shim.absolute())))
        else:
            left_out[f"{name}+evenkeel"] = f"no {shim}" if shims else "asked to measure without evenkeel"
    return bare + ours, left_out


# Evenkeel over one library of each kind: what crosses hosts is its own where it carries collectives
# there, and the library's where it does not.
EVENKEEL_OVER = ("openmpi4", "mpich5-ucx")
