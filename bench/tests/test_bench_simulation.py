"""The studies by simulation: which n are tried, and that the page of the book is the one their results make."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "simulation"))

import pages  # noqa: E402
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
    assert page == (ROOT / "docs" / "src" / "simulation-results.md").read_text(), "run bench/simulation/study.py"


def test_a_missing_result_would_be_seen():
    with pytest.raises(KeyError):
        Known(None, pathlib.Path("nowhere")).run("dissemination -n 2")
