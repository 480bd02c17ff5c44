"""`evenkeel model measure --hosts`: the network's parameters over UCX, a rate limit that shows in them, and hosts that are missing, die or are cut off."""

import json
import re
import subprocess
import time

import pytest

import mpis
from evenkeel_rig.network import Shape
from evenkeel_rig.rig import signal_all

FOLDER = "/tmp/rig/model"
SHELL = ["--remote-shell", "/tmp/rig/rsh"]


@pytest.fixture
def evenkeel(clean):
    """Runs evenkeel on h0."""
    if not mpis.EVENKEEL.exists():
        pytest.skip(f"{mpis.EVENKEEL} has not been built (make build)")
    clean.path(FOLDER).mkdir(exist_ok=True)
    return lambda *words, timeout=60: clean[0].run([mpis.EVENKEEL, *words], timeout=timeout, check=False)


def measure(evenkeel, hosts, file, *more, passes=3):
    done = evenkeel("model", "measure", "--hosts", hosts, *SHELL, "--passes", passes, "--json", file, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def network(rig, file):
    found = json.loads(rig.path(file).read_text())
    assert found["node"] is None and found["network"]["model"] == "LogGP"
    return found


def test_what_was_measured_is_simulated(clean, evenkeel):
    file, plot = f"{FOLDER}/network.json", f"{FOLDER}/network.svg"
    said = measure(evenkeel, "h0,h1,h2,h3", file, "--svg", plot)
    for part in (
        "network between 4 hosts",
        "from h0 to up to 3 others",
        "gap per byte",
        "512 KiB",
        "Hosts are virtual",
    ):
        assert part in " ".join(said.split()), said
    found = network(clean, file)
    # Between virtual hosts a sender carries its message to the other's door: nothing may be left for the
    # receiver.
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
    drawn = clean.path(plot).read_text()
    assert drawn.rstrip().endswith("</svg>")
    # The fit beside what was measured, and nothing in the legend that is not measured between hosts.
    assert "LogGP: o_s" in drawn and "round trip per peer" in drawn and "1:n" not in drawn
    shown = evenkeel("model", "show", file, "--node", "two-core-vm", "--ranks-per-node", "2")
    assert shown.returncode == 0 and "this-network+two-core-vm" in shown.stdout, shown.stderr
    for more in ([], ["--node", "two-core-vm", "--ranks-per-node", "2"]):
        done = evenkeel("simulate", "dissemination", "--ranks", "64", "--machine", file, *more)
        assert done.returncode == 0 and "this-network" in done.stdout, done.stderr


def test_a_limit_of_the_network_is_its_gap_per_byte(clean, evenkeel):
    """100 Mbit/s are 80 ns a byte, and 83.6 with the headers of frames. So nothing goes around the network, and what is called G is it."""
    clean.shape(Shape(rate_mbit=100))
    try:
        measure(evenkeel, "h0,h1", f"{FOLDER}/limited.json", passes=5)
    finally:
        clean.shape(Shape())
    assert network(clean, f"{FOLDER}/limited.json")["network"]["gap_per_byte_ns"] == pytest.approx(
        83.6, rel=0.3
    )


def test_a_host_that_is_missing_is_named(evenkeel):
    done = evenkeel("model", "measure", "--hosts", "h0,h7,h1", *SHELL)
    assert done.returncode == 125 and done.stdout == ""
    assert re.match(
        r"evenkeel: cannot start a measuring process on host h7: .*exit status: 255.* there is no host h7 .*--remote-shell",
        done.stderr,
    ), done.stderr


def test_one_host_is_no_network(evenkeel):
    for hosts, why in (
        ("h1", "h1 is one host"),
        ("h0,h1,h0", "h0 is named twice"),
        ("h1,root@h1", "h1 and root@h1 are the same host"),
    ):
        done = evenkeel("model", "measure", "--hosts", hosts, *SHELL)
        assert done.returncode == 125 and done.stderr.startswith(
            f"evenkeel: cannot measure a network among --hosts {hosts}: {why}"
        ), done.stderr


@pytest.fixture
def endless(clean, evenkeel):
    """A measurement that would go on for minutes, under way on h0, h1 and h2."""
    file = f"{FOLDER}/endless.json"
    line = [
        mpis.EVENKEEL,
        "model",
        "measure",
        "--hosts",
        "h0,h1,h2",
        *SHELL,
        "--passes",
        "10000",
        "--json",
        file,
    ]
    process = clean[0].popen(
        line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 20
    while not all(nodes(clean[i]) for i in range(3)):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.02)
    time.sleep(1.0)
    assert process.poll() is None
    yield clean, process
    process.kill()
    process.communicate()
    assert not clean.path(file).exists(), "nothing is written of a measurement that was not finished"


def nodes(host):
    return [
        pid
        for pid, words in host.processes().items()
        if words.rstrip().endswith("model node") and "rsh" not in words
    ]


def outcome(process):
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 125, said
    return said


def test_a_node_that_dies_is_named(endless):
    rig, process = endless
    began = time.monotonic()
    signal_all(nodes(rig[2]), 9)
    said = outcome(process)
    assert (
        said.startswith("evenkeel: cannot go on measuring without host h2: its process has ended (")
        and "Nothing has been written" in said
    ), said
    assert time.monotonic() - began < 5


def test_a_host_that_is_cut_off_is_named(endless):
    rig, process = endless
    rig[1].unplug()
    try:
        said = outcome(process)
    finally:
        rig[1].plug_in()
    assert re.match(
        r"evenkeel: cannot go on measuring without host h1: (it has not answered for 5 s|the network gave the way there up)",
        said,
    ), said


def test_nodes_end_with_their_measurement(endless):
    """Also one that is killed; `clean` looks that nothing is left."""
    rig, process = endless
    signal_all([pid for pid, words in rig[0].processes().items() if "model measure" in words], 9)
    until = time.monotonic() + 10
    while any(nodes(host) for host in rig.hosts):
        assert time.monotonic() < until
        time.sleep(0.05)
