"""The study of launching: its plan, its tables, and whether the page of the book is up to date."""

import json
from pathlib import Path

from evenkeel_bench.libraries import known_libraries
from launching import page, plan, study

LIBRARIES = known_libraries("build")


def record_of(times, failures=()):
    return {
        "machine": ["command", "date", "processor", "memory", "kernel", "load"],
        "libraries": {"openmpi5": "Open MPI 5"},
        "rounds": 2,
        "runs": 9,
        "failures": list(failures),
        "times": times,
    }


def row_of(text, *cells):
    found = [line for line in text.splitlines() if line.startswith("| " + " | ".join(cells))]
    assert len(found) == 1, text
    return [cell.strip() for cell in found[0].strip("|").split("|")]


def test_each_command_starts_as_many_ranks_as_it_says():
    cases = plan.cases(LIBRARIES, "folder", "evenkeel")
    assert len({case.key() for case in cases}) == len(cases)
    for case in cases:
        words = list(case.command)
        where = words.index("-n") + 1 if "-n" in words else 1
        assert words[where] == str(case.ranks), case
    started = {(case.subject, case.launcher) for case in cases}
    assert all((library.name, plan.OWN) in started for library in LIBRARIES)


def test_ratios_are_taken_within_a_round_and_judged():
    key = "openmpi5/2/"
    times = {
        key + plan.LIBRARY: {"1": 1.0, "2": 2.0},
        key + plan.AT_BEST: {"1": 0.5, "2": 0.25},
        key + plan.OWN: {"1": 0.1, "2": 0.5},
    }
    row = row_of(page.page(record_of(times)), "Open MPI 5", "2")
    assert row[2:] == [
        "1500 (1000–2000)",
        "375 (250–500)",
        "–",
        "300 (100–500)",
        "1.10 (0.20–2.00)",
        "0.17 (0.10–0.25), target 0.2: met",
    ]


def test_a_failed_run_is_told():
    text = page.page(record_of({}, [["true/64/x", 2, "cut off after 60 s"]]))
    assert "1 of 9 runs failed" in text and "* true/64/x, round 2: cut off after 60 s" in text


def test_the_page_is_that_of_the_results():
    assert study.PAGE.read_text() == page.page(json.loads(Path(study.RESULTS).read_text()))
