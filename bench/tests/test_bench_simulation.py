"""The studies by simulation: which n are tried, and that the page of the book is the one their results make."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "simulation"))

import pages  # noqa: E402
import primitives  # noqa: E402
import study  # noqa: E402


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


class Known(study.Simulations):
    """Runs nothing."""

    def run(self, line):
        return self.known[line]


def test_the_page_is_what_the_results_make():
    known = Known(None, ROOT / "bench" / "simulation" / "results.json")
    most = max(int(line.split(" -n ")[1].split()[0]) for line in known.known)
    page = pages.results(study.choosing(known, most), study.loops(known, most), study.MACHINES, study.CLUSTER)
    assert page == (ROOT / "docs" / "src" / "simulation-results.md").read_text(), (
        "run bench/simulation/study.py"
    )


def test_a_missing_result_would_be_seen():
    with pytest.raises(KeyError):
        Known(None, pathlib.Path("nowhere")).run("dissemination -n 2")


def test_constants_of_the_network_are_the_digests():
    """2.4 µs among 64 nodes; the table that the thesis's model makes, in MiB/s, and its 335 MB/s at most; 10 µs among 1,024 nodes."""
    assert primitives.latency_ns(64) + 2 * primitives.OVERHEAD_NS == 2400
    for nodes, mib_s in ((64, 295), (256, 240), (1024, 192), (4096, 146), (16384, 103)):
        assert 320e9 / primitives.round_trip_ns(nodes) / (1 << 20) == pytest.approx(mib_s, abs=0.6)
    assert primitives.hardware_barrier_us(1024) == 10 and primitives.hardware_mb_s(64) == 175
    assert primitives.hardware_mb_s(16384) == pytest.approx(108, abs=0.5)


class Linear:
    """A network on which trees take a time for each level and each byte."""

    def primitive(self, what, nodes, fanout=4, size=0):
        return {"us": 100 * nodes.bit_length() + size / 100}


def test_what_is_not_simulated_whole_is_taken_from_what_is():
    for nodes in primitives.SENT:
        assert primitives.transfer_us(Linear(), nodes) == pytest.approx(
            100 * nodes.bit_length() + primitives.BYTES / 100
        )
