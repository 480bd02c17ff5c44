"""Runs MPI programs on a rig's four hosts, two ranks on each, and reads their reports there."""

import json
import subprocess

from paths import ROOT
from processes import HUNG_S, communicators
from verdicts import assert_checked

HOSTS = "h0:2,h1:2,h2:2,h3:2"
RANKS = 8


def launcher(mpi, environment, program, hosts=HOSTS, ranks=RANKS, options=()):
    """The launcher's command line. `hosts` None: the launcher finds them itself."""
    words = [str(word) for word in program]
    if mpi.family == "openmpi":
        settings = [word for key, value in environment.items() for word in ("-x", f"{key}={value}")]
        return [mpi.mpirun, *options, "--host", hosts, "-n", str(ranks), *settings, *words]
    settings = [word for key, value in environment.items() for word in ("-genv", key, value)]
    return [mpi.mpirun, *options, *(["-hosts", hosts] if hosts else []), "-n", str(ranks), *settings, *words]


def shim(mpi, **more):
    """The environment that preloads the shim."""
    return {"LD_PRELOAD": str(mpi.shim), "EVENKEEL_QUIET": "1", **more}


def with_agents(mpi, **more):
    """The environment that preloads the shim and lets agents carry out collectives between hosts.

    An agent that gets no core for the usual 2 s counts as lost.
    """
    return shim(mpi, **{"EVENKEEL_NODES": "agents", "EVENKEEL_NODE_PATIENCE_MS": "20000", **more})


def run(rig, mpi, program, environment, limit_s=HUNG_S):
    """Runs a program on all hosts, started on h0, for at most `limit_s`."""
    words = launcher(mpi, mpi.environment | environment, program)
    return rig[0].run(words, cwd=ROOT, timeout=limit_s, check=False, env=mpi.environment)


def start(rig, mpi, program, environment, options=()):
    """Starts a program on all hosts and returns at once."""
    return subprocess.Popen(
        rig[0].command(launcher(mpi, environment, program, options=options), ROOT),
        env=rig[0].environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read_lines(stream, word, count=1):
    """Reads until so many lines have had the word in them, or to the end. Returns what was read."""
    lines = []
    while count > 0 and (line := stream.readline()):
        lines.append(line)
        count -= word in line
    assert count <= 0, f"there were {count} lines with {word!r} too few:\n{''.join(lines)}"
    return "".join(lines)


def assert_passed(done):
    """The program checked something and found no failure. Returns the digest of all its results."""
    return assert_checked(done.returncode, done.stdout, done.stderr)


def read_report(rig, path):
    """The report that rank 0 wrote on h0."""
    return json.loads(rig[0].path(path).read_text())


def calls_between_hosts(rig, path):
    """By operation: the calls that evenkeel carried out, and those that it left to the library.

    On communicators of all ranks.
    """
    found = {}
    for comm in communicators(read_report(rig, path)):
        if len(comm["members"]) == RANKS:
            for entry in comm["ops"]:
                ours, hosts = found.get(entry["op"], (0, 0))
                found[entry["op"]] = (ours + entry["calls"], hosts + entry["host_calls"])
    return found
