"""OpenSM, the InfiniBand subnet manager, on a network that ibsim simulates."""

import contextlib
import os
import subprocess
from pathlib import Path

import processes


def wait_until(condition):
    assert processes.until(condition), f"it did not happen within {processes.HUNG_S} s"


@contextlib.contextmanager
def simulated_network(net, folder):
    """Runs ibsim on a network file. Yields the environment for programs that are to talk to it."""
    env = {**os.environ, "IBSIM_SOCKNAME": f"plan-{os.getpid()}"}
    with (folder / "ibsim.log").open("w") as log:
        line = ["ibsim", "-s", "-n", net]
        ibsim = subprocess.Popen(line, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_until(lambda: f"@{env['IBSIM_SOCKNAME']}:ctl" in Path("/proc/net/unix").read_text())
        host = next(line.split('"')[1] for line in net.read_text().splitlines() if line.startswith("Ca"))
        umad = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))
        yield {
            **env,
            "PATH": env["PATH"] + ":/usr/sbin",
            "SIM_HOST": host,
            "LD_PRELOAD": str(umad),
            "OSM_TMP_DIR": str(folder),
            "OSM_CACHE_DIR": str(folder),
        }
    finally:
        ibsim.kill()
        ibsim.wait()


@contextlib.contextmanager
def running_opensm(tables, env, folder):
    """Runs OpenSM with the tables of a file, which it reads again at SIGHUP."""
    line = ["opensm", "-R", "file", "-U", tables, "-D", "0x43", "-f", folder / "opensm.log"]
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    manager = subprocess.Popen(line, cwd=folder, env=env, **quiet)
    try:
        yield manager
    finally:
        manager.kill()
        manager.wait()


def entries(text):
    """The port by switch and destination, from tables as OpenSM and dump_fts write them."""
    found, switch = {}, None
    for line in text.splitlines():
        if line.startswith("Unicast lids"):
            switch = line.split(" guid 0x")[1][:16]
        elif "portguid 0x" in line:
            found[switch, line.split("portguid 0x")[1][:16]] = int(line.split()[1])
    return found


def entries_in_switches(env, folder):
    """What the switches of the simulated network themselves have; None while they cannot be read."""
    done = subprocess.run(
        ["dump_fts"],
        env=env,
        cwd=folder,
        timeout=processes.HUNG_S,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return entries(done.stdout) if done.returncode == 0 else None
