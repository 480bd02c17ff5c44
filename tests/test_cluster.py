"""`evenkeel cluster`: how jobs share a cluster, in virtual time."""

import json
import re

import pytest

from evenkeel_command import evenkeel
from paths import EVENKEEL


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


def record(tmp_path, *arguments):
    """What is printed, and the results in the record."""
    file = tmp_path / "record.json"
    text = evenkeel("cluster", *arguments, "--json", file)
    return text, json.loads(file.read_text())


def test_the_scenarios_stand_beside_published_results(tmp_path):
    text, found = record(tmp_path, "scenario")
    results = {(it["scenario"], it["policy"]): it for it in found["results"]}
    assert len(results) == 4 * 7
    for it in results.values():
        # 1%: jobs are a whole number of iterations, and end up to an iteration early.
        assert it["turnaround_s"] > 0.99 * it["optimum_s"]
        if it["policy"] in ("FCFS", "GS"):
            assert it["turnaround_s"] == pytest.approx(it["published_turnaround_s"], rel=0.01)
        if it["policy"] == "FCS":
            assert it["turnaround_s"] < 1.03 * it["optimum_s"]
            assert it["turnaround_s"] <= it["published_turnaround_s"]
    assert results["imbalanced", "FCS"]["classes"] == ["ddff", "ffdd"]
    assert results["complementing", "FCS"]["classes"][3] == "ddff"
    assert re.search(r"imbalanced +FCS .*183\.62", text)


def test_an_expensive_switch_moves_the_classes(tmp_path):
    arguments = ["scenario", "imbalanced", "--policies", "fcs", "--switch"]
    _, cheap = record(tmp_path, *arguments, "20us")
    _, dear = record(tmp_path, *arguments, "1ms")
    assert cheap["results"][0]["classes"] == ["ddff", "ffdd"]
    # 6 ms between messages do not outweigh 225 switches of 1 ms: no rank is coarse.
    assert "d" not in "".join(dear["results"][0]["classes"])
    assert dear["results"][0]["turnaround_s"] > cheap["results"][0]["turnaround_s"]


def test_the_same_seed_gives_the_same_workload(tmp_path):
    arguments = ["workload", "--jobs", "30", "--seeds", "2", "--policies", "easy,gs,fcs"]
    _, one = record(tmp_path, *arguments, "--threads", "1")
    _, same = record(tmp_path, *arguments)
    _, other = record(tmp_path, *arguments, "--seed", "7")
    assert one["results"] == same["results"] != other["results"]
    assert all(it["mean_slowdown"]["mean"] >= 1 for it in one["results"])


def test_less_is_carried_than_offered_where_it_is_too_much(tmp_path):
    plot = tmp_path / "load.svg"
    arguments = ["saturation", "--jobs", "300", "--seeds", "4", "--loads", "0.3,1.5", "--plot", plot]
    _, found = record(tmp_path, *arguments, "--policies", "fcfs,easy,gs")
    carried = {(it["policy"], it["offered"]): it["carried"]["mean"] for it in found["results"]}
    assert all(load[1] - carried[load] < 0.02 for load in carried if load[0] != "FCFS" and load[1] < 1)
    assert carried["FCFS", 1.5] < carried["EASY", 1.5] < carried["GS", 1.5] < 1.3
    gain = {(it["policy"], it["offered"]): it["gain"]["mean"] for it in found["results"]}
    assert gain["FCFS", 1.5] == 0
    assert gain["GS", 1.5] == pytest.approx(carried["GS", 1.5] - carried["FCFS", 1.5])
    assert plot.read_text().startswith("<svg")


def test_a_hundred_thousand_cores(tmp_path):
    arguments = ["workload", "--cores", "100000", "--jobs", "20", "--load", "0.9"]
    _, found = record(tmp_path, *arguments, "--policies", "fcfs,gs", "--packing", "first-fit")
    assert found["cluster"]["cores"] == 100_000
    assert len(found["results"]) == 2


def test_refusals_say_what_to_do():
    done = evenkeel("cluster", "saturation", "--loads", "0.9,0.7", code=125)
    assert done == ""
    evenkeel("cluster", "workload", "--load", "-1", code=2)
    evenkeel("cluster", "scenario", "unbalanced", code=2)
