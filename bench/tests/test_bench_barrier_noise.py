"""The study of noise and barriers: the fits, the plan, and whether the page of the book is up to date."""

import json
from pathlib import Path

import pytest

from barrier_noise import fits, page, plan, study

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("alpha", [50.0, 1.9e6, 1e10])
@pytest.mark.parametrize("ranks", [2, 8])
def test_alpha_is_found_again(alpha, ranks):
    points = [
        (10**k, ranks, fits.slow_fraction(10**k, ranks, alpha) + 0.001 * (-1) ** k) for k in range(1, 12)
    ]
    found, r2 = fits.fit_alpha(points)
    assert found == pytest.approx(alpha, rel=0.05)
    assert r2 > 0.99


def test_passes_of_eight_ranks_have_the_ratio_of_the_model():
    strict, deferred = fits.passes(8, True), fits.passes(8, False)
    assert sum(deferred) / sum(strict) == pytest.approx(25 / 28)
    assert max(deferred) == max(strict)


def test_a_fit_that_explains_nothing_has_no_positive_r_squared():
    _, r2 = fits.fit_pass([1.0, 2.0, 1.0, 2.0], [4, 1, 4, 1])
    assert r2 < 0


def test_runs_of_a_round_have_names_of_their_own():
    keys = [run.key() for run in plan.one_round(1, 2)]
    assert len(set(keys)) == len(keys)


def test_wrong_answers_are_no_measurement():
    assert study.measured("RESULT wrong app=mg ranks=2 seconds=3") == {}


def test_the_page_of_the_book_is_up_to_date():
    record = json.loads((ROOT / "bench/barrier_noise/results.json").read_text())
    assert page.page(record) == (ROOT / "docs/src/barrier-noise-results.md").read_text()
