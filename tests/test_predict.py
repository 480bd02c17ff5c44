"""`evenkeel predict`: how well the receives of a recorded run could have been foreseen."""

import json
import subprocess

import pytest

from paths import EVENKEEL


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


def predict(*arguments):
    line = [EVENKEEL, "predict", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def record(mpi, folder, source, *arguments, ranks=4):
    options = ["--trace", folder, "--trace-level", "times", "--quiet"]
    mpi.evenkeel(mpi.build(source), ranks, *arguments, options=options).ok()


def test_receives_that_repeat_are_foreseen(openmpi4, tmp_path):
    record(openmpi4, tmp_path / "t", "foreseen.c")
    done = predict("--json", "--windows", "1,4", tmp_path / "t")
    assert done.returncode == 0, done.stderr
    (scores,) = json.loads(done.stdout)
    # 100 rounds of: a blocking receive, a nonblocking one, a persistent one, one of any source, an exchange.
    assert scores["receives"] == 4 * 500 and scores["receives_of_a_rank"] == [500, 500]
    assert scores["different_of_a_rank"] == [4, 4], "the exchange asks for the same as the blocking receive"
    hits = {it["name"]: it["hits"] for it in scores["predictors"]}
    assert hits["LRU, 4"] == pytest.approx(1 - 4 / 500)
    assert hits["LRU, 1"] < 0.3
    assert hits["Tag"] == pytest.approx(1 - 5 / 500), "each site always posts the same"
    assert hits["Tag-cycle"] == pytest.approx(1 - 10 / 500)
    assert hits["Longest context"] > 0.97 and hits["Tournament"] > 0.97
    text = " ".join(predict(tmp_path / "t").stdout.split())
    assert "4 ranks, 2,000 receives; 500 a rank, 4 of them different" in text
    assert "Tag-bettercycle" in text and "LFU, 5" in text


def test_a_trace_without_times_is_refused(openmpi4, tmp_path):
    openmpi4.evenkeel(openmpi4.build("foreseen.c"), 4, options=["--trace", tmp_path / "t", "--quiet"]).ok()
    done = predict(tmp_path / "t")
    assert done.returncode == 125 and "it has no times of MPI calls" in done.stderr
    done = predict(tmp_path / "nothing")
    assert done.returncode == 125 and "nothing" in done.stderr
