"""Studies of their own: what they have in common, and that the kept pages come from the kept results."""

import importlib
import json
import shutil
import types
from pathlib import Path

import pytest

from evenkeel_bench import libraries, settings
from evenkeel_bench.checkout import ROOT
from evenkeel_bench.study import PAGE, RESULTS, Study, in_rounds

BENCH = ROOT / "bench"


@pytest.mark.parametrize("name", ["host_waits.run", "long_collectives.study", "python_suites.run"])
def test_the_kept_page_comes_from_the_kept_results(name, tmp_path):
    study = importlib.import_module(name)
    kept = BENCH / name.partition(".")[0]
    for file in (RESULTS, PAGE):
        shutil.copy(kept / file, tmp_path)
    study.STUDY.render(types.SimpleNamespace(results=tmp_path), study.tables)
    assert (tmp_path / PAGE).read_text() == (kept / PAGE).read_text()


def told(script, *words, shown=("rounds", "ranks", "seconds", "priority")):
    study = Study(script, "A study", shown)
    p = study.parser("A study.", rounds=5, ranks=[2, 4])
    p.add_argument("--seconds", type=float, default=2)
    p.add_argument("--priority", action="store_true")
    return study, p.parse_args(words)


def test_the_command_on_the_page_says_what_was_run():
    study, options = told(BENCH / "x" / "run.py")
    assert study.command(options) == "bench/x/run.py --rounds 5 --ranks 2,4 --seconds 2"
    study, options = told(BENCH / "x" / "run.py", "--ranks", "8", "--priority", "--seconds", "1.5")
    assert study.command(options) == "bench/x/run.py --rounds 5 --ranks 8 --seconds 1.5 --priority"


def test_each_round_of_a_case_runs_every_setting_once():
    options = types.SimpleNamespace(seed=1, rounds=3)
    cases, ways = {"two": 2, "four": 4}, ["a", "b", "c"]
    parts = list(in_rounds(options, cases, ways, lambda case, way: [(case, way)], 1))
    assert [{case for case, _ in part} for part in parts] == [{2}, {4}]
    for part in parts:
        rounds = [part[at : at + 3] for at in range(0, 9, 3)]
        assert all(sorted(way for _, way in round_) == ways for round_ in rounds)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, None])
def test_an_interrupted_study_keeps_the_parts_that_are_complete(stop, tmp_path, capsys):
    def measure(_):
        yield [1, 2]
        if stop:
            raise stop
        yield [3]

    study, options = told(BENCH / "x" / "run.py", "--results", str(tmp_path))
    study.run(options, measure, "Numbers.", lambda found: [f"{len(found)} found"])
    assert json.loads((tmp_path / RESULTS).read_text()) == ([1, 2] if stop else [1, 2, 3])
    page = (tmp_path / PAGE).read_text()
    assert page.startswith("# A study: results\n\n`bench/x/run.py --rounds 5") and "Numbers." in page
    assert capsys.readouterr().out == page


def test_a_study_that_found_nothing_leaves_the_kept_results_alone(tmp_path):
    (tmp_path / RESULTS).write_text("kept")
    study, options = told(BENCH / "x" / "run.py", "--results", str(tmp_path))
    study.run(options, lambda _: iter(()), "", lambda _: [])
    assert (tmp_path / RESULTS).read_text() == "kept"


def test_libraries_have_their_best_known_setting_if_there_is_one():
    by_name = {library.name: library for library in libraries.known_libraries(Path("/build"))}
    assert settings.names_of(by_name["openmpi4"]) == ["library", "evenkeel"]
    assert settings.names_of(by_name["impi"]) == ["library", "best known setting", "evenkeel"]


def test_evenkeel_finds_the_launcher_of_the_library_first():
    library = next(x for x in libraries.known_libraries(Path("/build")) if x.name == "mpich5")
    environment = settings.environment_of(library)
    assert environment["PATH"].startswith("/build/venv-mpich5/bin:")
    alone, _, ours = settings.settings_of(library, environment, "--mpi", "mpich")
    assert alone.command(4, "./a", 20) == ["/build/venv-mpich5/bin/mpiexec", "-n", "4", "./a", "20"]
    assert ours.command(4, "./a")[1:] == ["run", "--quiet", "--mpi", "mpich", "-n", "4", "--", "./a"]
