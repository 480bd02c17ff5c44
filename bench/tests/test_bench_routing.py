"""The page about forwarding tables says what the results say."""

import json
from pathlib import Path

from routing import pages

HERE = Path(__file__).resolve().parents[1] / "routing"


def row(scheme, hops, load, cyclic=0, free=True, note=None):
    figures = {"mean_hops": hops, "busiest_load": load, "cyclic_lanes": cyclic}
    return {
        "scheme": scheme,
        "seconds": 1.0,
        "processor_seconds": 1.0,
        "figures": figures,
        "free_by_ibdmchk": free,
        "note": note,
    }


def study(ours, nue):
    rows = [
        row("ascending", *ours),
        row("minimal", 2.0, 100, 1, False),
        row("OpenSM nue", *nue),
        row("OpenSM updn", 4.0, 400, 1, True, note="it gave up"),
    ]
    return {
        "opensm": "OpenSM 3",
        "networks": [
            {"name": "a", "made": "irregular --switches 4", "rows": rows},
            {"name": "b", "made": "torus --sizes 2", "rows": rows},
        ],
    }


def test_means_are_relative_to_nue_and_networks_with_more_hops_are_named():
    page = pages.results(study((3.0, 200), (3.0, 400)))
    assert "**0.50 times the load" in page and "1.000 times Nue's hops" in page
    assert "On none of them" in page
    assert "More hops than Nue's: a, b" in pages.results(study((3.1, 200), (3.0, 400)))


def test_disagreements_of_checkers_and_engines_that_gave_up_are_counted():
    page = pages.results(study((3.0, 200), (3.0, 400)))
    assert "| minimal | 2 of 2 | 2 of 2 | 0 | 0 |" in page
    assert "| OpenSM updn | 0 of 0 | 0 of 0 | 0 | 2 |" in page
    differing = study((3.0, 200, 1), (3.0, 400))
    assert "| ascending | 2 of 2 | 0 of 2 | 2 | 0 |" in pages.results(differing)


def test_the_book_has_the_page_that_the_results_make():
    results = json.loads((HERE / "results.json").read_text())
    assert (HERE.parent.parent / "docs" / "src" / "routing-results.md").read_text() == pages.results(results)
