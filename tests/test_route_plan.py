"""OpenSM carries out plans for a change of routes on a simulated network.

The simulated switches get the tables of each step, and no mixture of old and new tables has credit loops.
"""

import json
import os
import shutil
import signal

import pytest

from evenkeel_command import evenkeel
from opensm import entries, entries_in_switches, running_opensm, simulated_network, wait_until


@pytest.fixture
def networks(tmp_path):
    """A network, and the same network without one of its cables."""
    whole, less = tmp_path / "whole.topo", tmp_path / "less.topo"
    description = ["irregular", "--switches", "24", "--degree", "3", "--end-nodes", "2", "--seed", "7"]
    evenkeel("route", "generate", *description, "-o", whole)
    evenkeel("route", "generate", *description, "--cut", "1", "-o", less)
    return whole, less


@pytest.mark.parametrize("is_added", [False, True], ids=["a cable fails", "a cable is added"])
def test_opensm_carries_out_a_plan(opensm, networks, tmp_path, is_added):
    old, new = reversed(networks) if is_added else networks
    lfts, record = tmp_path / "old.lfts", tmp_path / "plan.json"
    evenkeel("route", "compute", old, "--lfts", lfts)
    said = evenkeel("route", "plan", old, lfts, new, "--through-opensm", "--json", record)
    assert "exactly as they are" in " ".join(said.split())
    found = json.loads(record.read_text())
    states = found["rehearsal"]["states"]
    steps = len(found["steps"])
    assert steps > 1 and found["lost"] == 0
    # The old tables; then, for each step, two mixtures of old and new, and the whole step.
    assert [state["step"] for state in states] == [0, *(n for n in range(1, steps + 1) for _ in range(3))]
    assert any(0 < state["arrived"] < state["of"] for state in states), "no mixture of old and new"
    assert all(state["changed_by_opensm"] == 0 and not state["cyclic"] for state in states)
    # Where paths are missing, ibdmchk gives no verdict (None). At the end none is missing.
    loops = [state["loops_by_ibdmchk"] for state in states]
    assert loops[-1] is False and True not in loops
    if is_added:
        assert None not in loops


def test_a_running_opensm_takes_each_step_at_sighup(opensm, networks, tmp_path):
    """As operators do it: replace the file, send SIGHUP. dump_fts reads the switches themselves."""
    if not shutil.which("dump_fts", path=os.environ["PATH"] + ":/usr/sbin"):
        pytest.skip("there is no dump_fts: the Debian package is infiniband-diags")
    old, new = networks
    lfts, current, steps = tmp_path / "old.lfts", tmp_path / "current.lfts", tmp_path / "steps"
    evenkeel("route", "compute", old, "--lfts", lfts)
    evenkeel("route", "plan", old, lfts, new, "--out", steps)
    files = sorted(steps.iterdir(), key=lambda file: int(file.stem))
    assert len(files) > 1
    shutil.copy(lfts, current)
    # OpenSM leaves entries out whose switch or destination the network no longer has.
    exists = entries(files[-1].read_text())
    before = {entry: port for entry, port in entries(lfts.read_text()).items() if entry in exists}
    with simulated_network(new, tmp_path) as env, running_opensm(current, env, tmp_path) as manager:

        def wait_for_entries(wanted):
            wait_until(lambda: entries_in_switches(env, tmp_path) == wanted)

        wait_for_entries(before)
        for file in files:
            wanted = entries(file.read_text())
            assert wanted != before, "the step changes something"
            shutil.copy(file, current)
            manager.send_signal(signal.SIGHUP)
            wait_for_entries(wanted)
            before = wanted
