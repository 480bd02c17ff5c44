"""OpenSM sets evenkeel's routing tables unchanged, and ibdmchk finds no credit loops in them.

ibsim simulates the network.
"""

import json
import subprocess

import pytest

from evenkeel_command import evenkeel
from paths import EVENKEEL

NETWORKS = {
    "irregular": "irregular --switches 20 --degree 4 --end-nodes 2 --parallel --seed 3",
    "faulty fat tree": "fat-tree --children 3,6 --parents 1,4 --cut 4 --seed 2",
    "torus": "torus --sizes 3,3,2 --end-nodes 1 --cables 2",
}


@pytest.mark.parametrize("description", NETWORKS.values(), ids=NETWORKS.keys())
def test_opensm_sets_our_tables_unchanged(opensm, tmp_path, description):
    net, lfts, record = tmp_path / "net.topo", tmp_path / "tables.lfts", tmp_path / "check.json"
    evenkeel("route", "generate", *description.split(), "-o", net)
    evenkeel("route", "compute", net, "--lfts", lfts)
    said = evenkeel("route", "check", net, lfts, "--everything", "--through-opensm", "--json", record)
    assert "exactly these tables" in said
    found = json.loads(record.read_text())
    assert found["changed_by_opensm"] == 0
    assert found["free_by_ibdmchk"] is True
    assert found["figures"]["sound"] is True


def test_both_checkers_find_the_cycle_of_minimal_paths(opensm, tmp_path):
    """This shows that the tests above can fail."""
    net, lfts, record = tmp_path / "net.topo", tmp_path / "tables.lfts", tmp_path / "check.json"
    evenkeel("route", "generate", "torus", "--sizes", "5,5", "--end-nodes", "1", "-o", net)
    evenkeel("route", "compute", net, "--scheme", "minimal", "--lfts", lfts)
    said = evenkeel("route", "check", net, lfts, "--through-opensm", "--json", record, code=1)
    assert "CAN DEADLOCK" in said and "waits for" in said and "ibdmchk finds fault" in said
    found = json.loads(record.read_text())
    assert found["free_by_ibdmchk"] is False
    assert found["changed_by_opensm"] == 0


def test_a_changed_entry_is_found(tmp_path):
    net, lfts = tmp_path / "net.topo", tmp_path / "tables.lfts"
    irregular = "irregular --switches 8 --degree 3 --end-nodes 1"
    evenkeel("route", "generate", *irregular.split(), "-o", net)
    evenkeel("route", "compute", net, "--lfts", lfts)
    evenkeel("route", "check", net, lfts)
    lines = lfts.read_text().splitlines()
    # The first entry that leads to another switch now leads to an end node.
    at = next(i for i, line in enumerate(lines) if line.startswith("0x0002 "))
    lines[at] = lines[at].replace(lines[at].split()[1], "001", 1)
    lfts.write_text("\n".join(lines) + "\n")
    assert "does not lead there" in evenkeel("route", "check", net, lfts, code=1)


def test_schemes_are_compared_with_those_of_opensm(opensm, tmp_path):
    net, record = tmp_path / "net.topo", tmp_path / "compare.json"
    irregular = "irregular --switches 16 --degree 4 --end-nodes 2"
    evenkeel("route", "generate", *irregular.split(), "-o", net)
    schemes = ["--scheme", "ascending", "--scheme", "minimal", "--opensm", "nue,minhop"]
    evenkeel("route", "compare", net, *schemes, "--ibdmchk", "--json", record)
    rows = {row["scheme"]: row for row in json.loads(record.read_text())}
    assert rows["ascending"]["free_by_ibdmchk"] and rows["OpenSM nue"]["free_by_ibdmchk"]
    # Our checker and ibdmchk agree on all of them.
    for row in rows.values():
        assert row["free_by_ibdmchk"] == (row["figures"]["cyclic_lanes"] == 0), row["scheme"]
    hops = {scheme: row["figures"]["mean_hops"] for scheme, row in rows.items()}
    assert hops["minimal"] == pytest.approx(hops["OpenSM minhop"])
    assert hops["ascending"] <= hops["OpenSM nue"]


def test_a_network_in_pieces_is_refused_with_the_reason(tmp_path):
    net = tmp_path / "pieces"
    net.write_text("a b\nc d\n* + 1\n")
    line = [EVENKEEL, "route", "compute", net]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "is in pieces" in done.stderr, done.stderr
