"""Plans are carried out by OpenSM: on a simulated network its switches get what each step says, and what may be there on the way has no credit loops."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

from test_route import evenkeel, opensm  # noqa: F401: a fixture

LIMIT = 60


@pytest.fixture
def change(tmp_path):
    """A network with today's tables, and the same one cable less; which of them is today's is up to the test."""
    whole, less = tmp_path / "whole.topo", tmp_path / "less.topo"
    made = "irregular --switches 24 --degree 3 --end-nodes 2 --seed 7".split()
    evenkeel("generate", *made, "-o", whole)
    evenkeel("generate", *made, "--cut", "1", "-o", less)
    return whole, less


@pytest.mark.parametrize("comes", [False, True], ids=["a cable fails", "a cable comes"])
def test_opensm_carries_a_plan_out(opensm, change, tmp_path, comes):  # noqa: F811
    old, new = reversed(change) if comes else change
    lfts, record = tmp_path / "old.lfts", tmp_path / "plan.json"
    evenkeel("compute", old, "--lfts", lfts)
    said = evenkeel("plan", old, lfts, new, "--through-opensm", "--json", record)
    assert "exactly as they are" in " ".join(said.split())
    found = json.loads(record.read_text())
    states = found["rehearsal"]["states"]
    assert len(found["steps"]) > 1 and found["lost"] == 0
    # Today's tables, then two mixtures and the whole of each step.
    assert [s["step"] for s in states] == [0] + [
        n for n in range(1, len(found["steps"]) + 1) for _ in range(3)
    ]
    assert any(0 < s["arrived"] < s["of"] for s in states), "mixtures of old and new"
    assert all(s["changed_by_opensm"] == 0 and not s["cyclic"] for s in states)
    # Where paths are missing, ibdmchk does not say; at the end, none is.
    judged = [s["loops_by_ibdmchk"] for s in states]
    assert judged[-1] is False and True not in judged
    if comes:
        assert None not in judged


@contextlib.contextmanager
def simulated(net, place):
    """ibsim plays a network: the environment for programs that speak to it."""
    env = {**os.environ, "IBSIM_SOCKNAME": f"plan-{os.getpid()}"}
    with open(place / "ibsim.log", "w") as log:
        ibsim = subprocess.Popen(
            ["ibsim", "-s", "-n", net], env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        wait(lambda: f"@{env['IBSIM_SOCKNAME']}:ctl" in pathlib.Path("/proc/net/unix").read_text())
        host = next(line.split('"')[1] for line in net.read_text().splitlines() if line.startswith("Ca"))
        umad = next(pathlib.Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))
        yield {
            **env,
            "PATH": env["PATH"] + ":/usr/sbin",
            "SIM_HOST": host,
            "LD_PRELOAD": str(umad),
            "OSM_TMP_DIR": str(place),
            "OSM_CACHE_DIR": str(place),
        }
    finally:
        ibsim.kill()
        ibsim.wait()


def wait(there):
    end = time.monotonic() + LIMIT
    while not there():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)


def entries(text):
    """Of OpenSM's or dump_fts' tables: the port, by switch and destination."""
    found, switch = {}, None
    for line in text.splitlines():
        if line.startswith("Unicast lids"):
            switch = line.split(" guid 0x")[1][:16]
        elif "portguid 0x" in line:
            found[switch, line.split("portguid 0x")[1][:16]] = int(line.split()[1])
    return found


def test_a_running_opensm_takes_each_step_when_it_is_told_to(opensm, change, tmp_path):  # noqa: F811
    """What operators do: replace the file, send SIGHUP. dump_fts reads the switches themselves."""
    if not shutil.which("dump_fts", path=os.environ["PATH"] + ":/usr/sbin"):
        pytest.skip("there is no dump_fts: the Debian package is infiniband-diags")
    old, new = change
    lfts, current, steps = tmp_path / "old.lfts", tmp_path / "current.lfts", tmp_path / "steps"
    evenkeel("compute", old, "--lfts", lfts)
    evenkeel("plan", old, lfts, new, "--out", steps)
    files = sorted(steps.iterdir(), key=lambda f: int(f.stem))
    assert len(files) > 1
    shutil.copy(lfts, current)
    with simulated(new, tmp_path) as env:

        def in_switches():
            done = subprocess.run(
                ["dump_fts"],
                env=env,
                cwd=tmp_path,
                timeout=LIMIT,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
            return entries(done.stdout) if done.returncode == 0 else None

        manager = subprocess.Popen(
            ["opensm", "-R", "file", "-U", current, "-D", "0x43", "-f", tmp_path / "opensm.log"],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            # OpenSM passes over what the network no longer has.
            there = entries(files[-1].read_text())
            before = {entry: port for entry, port in entries(lfts.read_text()).items() if entry in there}
            wait(lambda: in_switches() == before)
            for file in files:
                wanted = entries(file.read_text())
                assert wanted != before, "the step changes something"
                shutil.copy(file, current)
                manager.send_signal(signal.SIGHUP)
                wait(lambda: in_switches() == wanted)  # noqa: B023
                before = wanted
        finally:
            manager.kill()
            manager.wait()
