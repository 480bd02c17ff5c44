"""The studies by simulation: which n are tried, and whether the page of the book is up to date."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "simulation"))

import pages
import primitives
import primitives_network as network
import study

ROOT = Path(__file__).resolve().parents[2]


def rounds(n, ranks):
    reach, needed = 1, 0
    while reach < ranks:
        reach, needed = reach * (n + 1), needed + 1
    return needed


@pytest.mark.parametrize("ranks", [2, 9, 64, 1000, 1 << 20])
def test_candidates_are_the_least_for_their_number_of_rounds(ranks):
    tried = study.candidates(ranks)
    for n in range(1, study.MOST_N + 1):
        assert any(rounds(c, ranks) == rounds(n, ranks) and c <= n for c in tried)
    assert len({rounds(c, ranks) for c in tried}) == len(tried)


class KnownSimulations(study.Simulations):
    """Runs nothing: a simulation that is not known is an error."""

    def simulate(self, line):
        raise KeyError(line)


def test_the_book_has_the_page_that_the_results_make():
    known = KnownSimulations(None, ROOT / "bench" / "simulation" / "results.json")
    most = max(int(line.split(" -n ")[1].split()[0]) for line in known.kept.known)
    of_barriers, of_loops = study.barriers(known, most), study.loops(known, most)
    page = pages.results(of_barriers, of_loops, study.MACHINES, study.CLUSTER)
    assert page == (ROOT / "docs" / "src" / "simulation-results.md").read_text(), (
        "run bench/simulation/study.py"
    )


def test_a_missing_result_is_noticed():
    with pytest.raises(KeyError):
        KnownSimulations(None, Path("nowhere")).run("dissemination -n 2")


def test_the_network_has_the_figures_of_the_thesis():
    """2.4 µs among 64 nodes; its model's table in MiB/s, 335 MB/s at most; 10 µs among 1,024 nodes."""
    assert network.latency_ns(64) + 2 * network.OVERHEAD_NS == 2400
    for nodes, mib_s in ((64, 295), (256, 240), (1024, 192), (4096, 146), (16384, 103)):
        assert 320e9 / network.round_trip_ns(nodes) / (1 << 20) == pytest.approx(mib_s, abs=0.6)
    assert network.hardware_barrier_us(1024) == 10 and network.hardware_mb_s(64) == 175
    assert network.hardware_mb_s(16384) == pytest.approx(108, abs=0.5)


class LinearNetwork:
    """A network on which a tree takes some time for each level and each byte."""

    def primitive(self, what, nodes, fanout=4, size=0):
        return {"us": 100 * nodes.bit_length() + size / 100}


def test_a_transfer_that_is_not_simulated_whole_is_extrapolated():
    for nodes in primitives.SENT:
        assert primitives.transfer_us(LinearNetwork(), nodes) == pytest.approx(
            100 * nodes.bit_length() + primitives.BYTES / 100
        )
