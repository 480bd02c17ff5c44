"""`evenkeel check` of Fortran (its three bindings) and Python: each defect is found at its line of the
source, and by its rule; each twin is silent."""

import dataclasses
import json
import re
import subprocess
from pathlib import Path

import pytest

import mpi4py_suite
from paths import EVENKEEL, PROGRAMS, ROOT

FORTRAN = PROGRAMS / "check" / "fortran.F90"
PYTHON = ROOT / "tests" / "python" / "defects.py"
BINDINGS = {"mpif.h": "-DMPIF", "use mpi": "-DMPI", "use mpi_f08": "-DF08"}

# Debian's Open MPI 4 takes a Fortran request that is complete for a null pointer, and crashes.
CRASHES = {("openmpi4", "handle_old_request")}


@dataclasses.dataclass
class Corpus:
    """The cases of a source, with (rule, line) of the findings that each names, and those that are clean."""

    source: Path
    defects: dict
    clean: list

    @classmethod
    def of(cls, source, begins):
        defects, clean, case = {}, [], None
        for number, line in enumerate(source.read_text().splitlines(), 1):
            if begun := re.match(begins, line):
                case = begun[1]
                if case.endswith("_clean"):
                    clean.append(case)
            if mark := re.search(r"[!#] finding: (\w+)$", line):
                defects.setdefault(case, set()).add((mark[1], number))
        return cls(source, defects, clean)


CORPORA = {
    "Fortran": Corpus.of(FORTRAN, r"  subroutine (\w+)\("),
    "Python": Corpus.of(PYTHON, r"def (\w+)\("),
}


RULES = {case.split("_")[0] for corpus in CORPORA.values() for case in corpus.defects}


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


def ranks_of(case):
    return 3 if case.startswith("race") else 2


def record(mpi, folder, ranks, program, cases=()):
    """Runs cases of a program one after the other."""
    options = ["--trace", folder, "--trace-level", "checks", "--quiet", "--launcher", "evenkeel"]
    return mpi.evenkeel(program, ranks, *cases, options=options, env=mpi.python_env)


def findings(folder, rules=RULES):
    done = subprocess.run(
        [EVENKEEL, "check", folder, "--format", "json", "--rules", ",".join(rules)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)["findings"]


def assert_found(mpi, tmp_path, program, corpus):
    """Each defect is found at its lines, and nothing else is: without its rule, nothing at all."""
    wrong = []
    for case, expected in corpus.defects.items():
        if (mpi.name, case) in CRASHES:
            continue
        record(mpi, tmp_path / case, ranks_of(case), program, [case])
        places = [(f["rule"], f["places"][0]) for f in findings(tmp_path / case)]
        found = {(rule, place["file"], place["line"]) for rule, place in places}
        if found != {(rule, corpus.source.name, line) for rule, line in expected}:
            wrong.append(f"{case}: expected {expected}, found {found}")
        if others := findings(tmp_path / case, RULES - {case.split("_")[0]}):
            wrong.append(f"{case}: without its rule, found {others}")
    assert not wrong, "\n".join(wrong)


def assert_silent(mpi, tmp_path, program, corpus):
    for ranks in (2, 3):
        cases = [case for case in corpus.clean if ranks_of(case) == ranks]
        record(mpi, tmp_path / str(ranks), ranks, program, cases).ok()
        assert [f["sentence"] for f in findings(tmp_path / str(ranks))] == []


@pytest.mark.parametrize("language", CORPORA)
def test_each_rule_has_two_defects_and_each_defect_a_twin(language):
    corpus = CORPORA[language]
    rules = [case.split("_")[0] for case in corpus.defects]
    assert len(RULES) == 10 and all(rules.count(rule) >= 2 for rule in RULES)
    assert {f"{case}_clean" for case in corpus.defects} == set(corpus.clean)
    for case, expected in corpus.defects.items():
        assert {rule for rule, _ in expected} == {case.split("_")[0]}, case


def fortran(mpi, binding):
    if not mpi.fc:
        pytest.skip(f"there is no Fortran compiler of {mpi.name} here")
    flag = BINDINGS[binding]
    return mpi.build(FORTRAN, flag, "-w", "-fallow-argument-mismatch", name=f"check{flag}")


@pytest.mark.in_turn("binding", of=1)
@pytest.mark.parametrize("binding", BINDINGS)
def test_each_defect_in_fortran_is_found_at_its_line(mpi, tmp_path, binding):
    if mpi.name not in ("openmpi4", "mpich4"):
        pytest.skip("the corpus was made for Debian's libraries: what a defect does depends on the library")
    assert_found(mpi, tmp_path, fortran(mpi, binding), CORPORA["Fortran"])


@pytest.mark.parametrize("binding", BINDINGS)
def test_fortran_that_keeps_the_rules_is_silent(mpi, tmp_path, binding):
    assert_silent(mpi, tmp_path, fortran(mpi, binding), CORPORA["Fortran"])


def test_each_defect_in_python_is_found_at_its_line(mpi, tmp_path):
    if mpi.name != "mpich4":
        pytest.skip("the corpus was made for MPICH 4: what a defect does depends on the library")
    if not mpi.python:
        pytest.skip(f"there is no mpi4py for {mpi.name} here")
    assert_found(mpi, tmp_path, [mpi.python, PYTHON], CORPORA["Python"])


def test_python_that_keeps_the_rules_is_silent(mpi, tmp_path):
    if not mpi.python:
        pytest.skip(f"there is no mpi4py for {mpi.name} here")
    assert_silent(mpi, tmp_path, [mpi.python, PYTHON], CORPORA["Python"])


def test_tests_of_mpi4py_that_keep_the_rules_are_silent(mpi, tmp_path):
    """They keep communicators in attributes, which callbacks free, and have sessions."""
    if mpi.name not in ("openmpi4", "mpich4") or not mpi.python:
        pytest.skip("Debian's libraries; the others take longer, and have no other calls")
    main = mpi4py_suite.suite() / "main.py"
    modules = [word for name in ("test_cco_obj", "test_session", "test_pickle") for word in ("-i", name)]
    outcome = record(mpi, tmp_path / "t", 2, [mpi.python, main, "--no-threads", *modules]).ok()
    assert "OK" in outcome.err, outcome.text
    assert [f["sentence"] for f in findings(tmp_path / "t")] == []
