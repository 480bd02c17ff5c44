"""`evenkeel model measure --hosts` measures the network's parameters over UCX.

A rate limit shows in them, and hosts that are missing, die or lose their cable are named.
"""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from evenkeel_rig.network import LinkShape
from evenkeel_rig.processes import signal_all
from paths import EVENKEEL
from processes import HUNG_S, until

FOLDER = "/tmp/rig/model"
SHELL = ["--remote-shell", "/tmp/rig/rsh"]


@pytest.fixture
def evenkeel(clean):
    """Runs evenkeel on h0."""
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built (make build)")
    clean.path(FOLDER).mkdir(exist_ok=True)
    return lambda *words: clean[0].run([EVENKEEL, *words], check=False)


def measure(evenkeel, hosts, file, *more, passes=3):
    done = evenkeel("model", "measure", "--hosts", hosts, *SHELL, "--passes", passes, "--json", file, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_network(rig, file):
    found = json.loads(rig.path(file).read_text())
    assert found["node"] is None and found["network"]["model"] == "LogGP"
    return found


def assert_parameters(found):
    # Between virtual hosts the sender carries its message up to the receiver's socket, so nothing may be left
    # for the receiver.
    for key in ("latency_ns", "send_overhead_ns", "gap_ns", "gap_per_byte_ns"):
        assert found["network"][key] > 0, found["network"]
    assert found["network"]["receive_overhead_ns"] >= 0
    assert found["measurement"]["conditions"]["hosts"] == ["h0", "h1", "h2", "h3"]
    points = {(point["quantity"], point["peers"], point["bytes"]) for point in found["measurement"]["points"]}
    assert {
        ("round-trip", 3, 0),
        ("send-overhead", 3, 0),
        ("receive-overhead", 3, 0),
        ("gap", 1, 0),
        ("message", 1, 1 << 19),
    } <= points


def test_measured_parameters_can_be_shown_drawn_and_simulated(clean, evenkeel):
    file, plot = f"{FOLDER}/network.json", f"{FOLDER}/network.svg"
    said = " ".join(measure(evenkeel, "h0,h1,h2,h3", file, "--svg", plot).split())
    for part in (
        "network between 4 hosts",
        "from h0 to up to 3 others",
        "gap per byte",
        "512 KiB",
        "Some of the hosts are one machine",
    ):
        assert part in said, said
    assert_parameters(read_network(clean, file))
    drawn = clean.path(plot).read_text()
    assert drawn.rstrip().endswith("</svg>")
    # The fit beside what was measured. The legend has nothing that is not measured between hosts.
    assert "LogGP: o_s" in drawn and "round trip per peer" in drawn and "1:n" not in drawn
    node = ["--node", "two-core-vm", "--ranks-per-node", "2"]
    shown = evenkeel("model", "show", file, *node)
    assert shown.returncode == 0 and "this-network+two-core-vm" in shown.stdout, shown.stderr
    for more in ([], node):
        done = evenkeel("simulate", "dissemination", "--ranks", "64", "--machine", file, *more)
        assert done.returncode == 0 and "this-network" in done.stdout, done.stderr


def test_a_rate_limit_is_the_gap_per_byte(clean, evenkeel):
    """100 Mbit/s are 80 ns a byte, and 83.6 with the headers of frames.

    The test shows that all data cross the network and that the reported gap per byte is the network's. Other
    work on the machine makes gaps longer in one measurement or another, and never shorter.
    """
    gaps = []
    clean.shape(LinkShape(rate_mbit=100))
    try:
        while len(gaps) < 10 and not (gaps and min(gaps) < 1.3 * 83.6):
            measure(evenkeel, "h0,h1", f"{FOLDER}/limited.json", passes=5)
            gaps.append(read_network(clean, f"{FOLDER}/limited.json")["network"]["gap_per_byte_ns"])
    finally:
        clean.shape(LinkShape())
    assert min(gaps) == pytest.approx(83.6, rel=0.3), gaps


def test_a_missing_host_is_named(evenkeel):
    done = evenkeel("model", "measure", "--hosts", "h0,h7,h1", *SHELL)
    assert done.returncode == 125 and done.stdout == ""
    said = (
        "evenkeel: cannot start a measuring process on host h7: .*exit status: 255.* "
        "there is no host h7 .*--remote-shell"
    )
    assert re.match(said, done.stderr), done.stderr


@pytest.mark.parametrize(
    "hosts, reason",
    [
        ("h1", "h1 is one host"),
        ("h0,h1,h0", "h0 is named twice"),
        ("h1,root@h1", "h1 and root@h1 are the same host"),
    ],
)
def test_one_host_is_refused(evenkeel, hosts, reason):
    done = evenkeel("model", "measure", "--hosts", hosts, *SHELL)
    said = f"evenkeel: cannot measure a network among --hosts {hosts}: {reason}"
    assert done.returncode == 125 and done.stderr.startswith(said), done.stderr


def measuring_processes(host):
    processes = host.processes().items()
    return [pid for pid, words in processes if words.rstrip().endswith("model node") and "rsh" not in words]


def ticks(pids):
    """Of processor time that processes have taken, in hundredths of a second."""
    stats = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in pids]
    return sum(int(stat[11]) + int(stat[12]) for stat in stats)


@pytest.fixture
def endless(clean, evenkeel):
    """The rig, and a measurement that would go on for minutes on h0, h1 and h2."""
    file = f"{FOLDER}/endless.json"
    options = ["--hosts", "h0,h1,h2", *SHELL, "--passes", "10000", "--json", file]
    process = clean[0].popen(
        [EVENKEEL, "model", "measure", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # When it measures, the first host works without a break; before that it has little to do.
    assert until(lambda: process.poll() is not None or ticks(measuring_processes(clean[0])) > 100)
    assert process.poll() is None
    yield clean, process
    process.kill()
    process.communicate()
    assert not clean.path(file).exists(), "nothing is written of a measurement that was not finished"


def errors_of_failed(process):
    said = process.communicate(timeout=HUNG_S)[1]
    assert process.returncode == 125, said
    return said


def test_a_host_whose_process_dies_is_named(endless):
    rig, process = endless
    signal_all(measuring_processes(rig[2]), signal.SIGKILL)
    said = errors_of_failed(process)
    assert said.startswith("evenkeel: cannot go on measuring without host h2: its process has ended ("), said
    assert "Nothing has been written" in said, said


def test_a_host_whose_cable_is_pulled_is_named(endless):
    rig, process = endless
    rig[1].unplug()
    try:
        said = errors_of_failed(process)
    finally:
        rig[1].plug_in()
    reasons = "it has not answered for 5 s|the network gave the way there up"
    assert re.match(rf"evenkeel: cannot go on measuring without host h1: ({reasons})", said), said


def test_processes_on_hosts_end_with_a_killed_measurement(endless):
    """The fixture `clean` checks that nothing is left."""
    rig, _ = endless
    commands = [pid for pid, words in rig[0].processes().items() if "model measure" in words]
    signal_all(commands, signal.SIGKILL)
    assert until(lambda: not any(measuring_processes(host) for host in rig.hosts))
