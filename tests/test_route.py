"""Tables go through OpenSM unchanged, and a second judge finds them free of credit loops. ibsim plays the network."""

import json
import shutil
import subprocess

import pytest

import mpis

LIMIT = 120


def evenkeel(*arguments, code=0):
    done = subprocess.run(
        [mpis.EVENKEEL, "route", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout


@pytest.fixture
def opensm():
    """Programs of the Debian packages opensm, ibsim-utils and ibutils."""
    for program in ("opensm", "ibsim", "ibdmchk"):
        if not (shutil.which(program) or shutil.which(program, path="/usr/sbin")):
            pytest.skip(f"there is no {program}: the Debian packages are opensm, ibsim-utils and ibutils")


NETWORKS = {
    "irregular": "irregular --switches 20 --degree 4 --end-nodes 2 --parallel --seed 3",
    "faulty fat tree": "fat-tree --children 3,6 --parents 1,4 --cut 4 --seed 2",
    "torus": "torus --sizes 3,3,2 --end-nodes 1 --cables 2",
}


@pytest.mark.parametrize("made", NETWORKS.values(), ids=NETWORKS.keys())
def test_opensm_sets_our_tables_as_they_are(opensm, tmp_path, made):
    net, lfts, record = tmp_path / "net.topo", tmp_path / "tables.lfts", tmp_path / "check.json"
    evenkeel("generate", *made.split(), "-o", net)
    evenkeel("compute", net, "--lfts", lfts)
    said = evenkeel("check", net, lfts, "--everything", "--through-opensm", "--json", record)
    assert "exactly these tables" in said
    found = json.loads(record.read_text())
    assert found["changed_by_opensm"] == 0
    assert found["free_by_ibdmchk"] is True
    assert found["figures"]["sound"] is True


def test_both_judges_find_the_cycle_of_minimal_paths(opensm, tmp_path):
    """Else nothing above could fail."""
    net, lfts, record = tmp_path / "net.topo", tmp_path / "tables.lfts", tmp_path / "check.json"
    evenkeel("generate", "torus", "--sizes", "5,5", "--end-nodes", "1", "-o", net)
    evenkeel("compute", net, "--scheme", "minimal", "--lfts", lfts)
    said = evenkeel("check", net, lfts, "--through-opensm", "--json", record, code=1)
    assert "CAN DEADLOCK" in said and "waits for" in said and "ibdmchk finds fault" in said
    found = json.loads(record.read_text())
    assert found["free_by_ibdmchk"] is False
    assert found["changed_by_opensm"] == 0


def test_a_changed_entry_is_seen(tmp_path):
    net, lfts = tmp_path / "net.topo", tmp_path / "tables.lfts"
    evenkeel("generate", "irregular", "--switches", "8", "--degree", "3", "--end-nodes", "1", "-o", net)
    evenkeel("compute", net, "--lfts", lfts)
    evenkeel("check", net, lfts)
    lines = lfts.read_text().splitlines()
    # The first entry that leads to another switch now leads to an end node.
    at = next(i for i, line in enumerate(lines) if line.startswith("0x0002 "))
    lines[at] = lines[at].replace(lines[at].split()[1], "001", 1)
    lfts.write_text("\n".join(lines) + "\n")
    assert "does not lead there" in evenkeel("check", net, lfts, code=1)


def test_comparing_has_opensm_beside_us(opensm, tmp_path):
    net, record = tmp_path / "net.topo", tmp_path / "compare.json"
    evenkeel("generate", "irregular", "--switches", "16", "--degree", "4", "--end-nodes", "2", "-o", net)
    evenkeel(
        "compare",
        net,
        "--scheme",
        "ascending",
        "--scheme",
        "minimal",
        "--opensm",
        "nue,minhop",
        "--ibdmchk",
        "--json",
        record,
    )
    rows = {row["scheme"]: row for row in json.loads(record.read_text())}
    assert rows["ascending"]["free_by_ibdmchk"] and rows["OpenSM nue"]["free_by_ibdmchk"]
    # The two judges agree on all of them.
    for row in rows.values():
        assert row["free_by_ibdmchk"] == (row["figures"]["cyclic_lanes"] == 0), row["scheme"]
    assert rows["minimal"]["figures"]["mean_hops"] == pytest.approx(
        rows["OpenSM minhop"]["figures"]["mean_hops"]
    )
    assert rows["ascending"]["figures"]["mean_hops"] <= rows["OpenSM nue"]["figures"]["mean_hops"]


def test_what_cannot_be_is_refused_in_a_sentence(tmp_path):
    net = tmp_path / "pieces"
    net.write_text("a b\nc d\n* + 1\n")
    done = subprocess.run(
        [mpis.EVENKEEL, "route", "compute", net], capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 125 and "is in pieces" in done.stderr, done.stderr
