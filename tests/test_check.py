"""`evenkeel check` and `run --check`: each defect of the corpus is found at its line, each twin is silent."""

import json
import re
import subprocess

import pytest

from paths import EVENKEEL, PROGRAMS

CORPUS = PROGRAMS / "check"
DEFECTS = sorted(
    {
        name
        for header in CORPUS.glob("*.h")
        for name in re.findall(r"^static void (\w+?)_clean\(void\)", header.read_text(), re.MULTILINE)
    }
)
RULES = {name.split("_")[0] for name in DEFECTS}
EXPECTED = re.compile(r"/\* finding: (\w+)")


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


def expected(case):
    """(rule, file, line) of each finding that the body of a case names."""
    found = set()
    for header in CORPUS.glob("*.h"):
        lines = header.read_text().splitlines()
        inside = False
        for number, line in enumerate(lines, 1):
            if line.startswith("static void "):
                inside = re.match(rf"static void {case}\(", line) is not None
            if inside and (mark := EXPECTED.search(line)):
                found.add((mark[1], header.name, number))
    return found


def check(folder, *arguments, code=None):
    done = subprocess.run(
        [EVENKEEL, "check", folder, "--format", "json", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in ((0, 1) if code is None else (code,)), done.stderr
    return json.loads(done.stdout)


def record(mpi, binary, folder, case, ranks=None):
    ranks = ranks or (3 if case.startswith("race") else 2)
    options = ["--trace", folder, "--trace-level", "checks", "--quiet", "--launcher", "evenkeel"]
    return mpi.evenkeel(binary, ranks, case, options=options)


def lines(report):
    """(rule, file, line) of the first place of each finding."""
    return {
        (f["rule"], f["places"][0]["file"], f["places"][0]["line"]) for f in report["findings"] if f["places"]
    }


def test_each_rule_has_four_defects_or_more():
    assert len(RULES) == 10
    for rule in RULES:
        assert len([name for name in DEFECTS if name.startswith(rule + "_")]) >= 4, rule


def test_each_defect_is_found_at_its_line(mpi, tmp_path):
    if mpi.name != "mpich4":
        pytest.skip("what a defect does depends on the library: the corpus was made for MPICH 4")
    binary = mpi.build("check/defects.c")
    wrong = []
    for case in DEFECTS:
        record(mpi, binary, tmp_path / case, case)
        rule = case.split("_")[0]
        named = expected(case) or expected("race_ordered")
        found = lines(check(tmp_path / case))
        if {place for place in found if place[0] == rule} != named:
            wrong.append(f"{case}: expected {named}, found {found}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.in_turn(of=2)
@pytest.mark.parametrize("ranks", [2, 3])
def test_what_keeps_the_rules_is_silent(mpi, tmp_path, ranks):
    record(mpi, mpi.build("check/defects.c"), tmp_path / "t", "clean", ranks=ranks).ok()
    assert [f["sentence"] for f in check(tmp_path / "t", code=0)["findings"]] == []


def run_checked(mpi, case, *options):
    return mpi.evenkeel(mpi.build("check/defects.c"), 2, case, options=["--check", "--quiet", *options])


def test_a_checked_run_says_what_was_wrong_and_its_exit_code_too(mpi):
    wrong = run_checked(mpi, "message_type")
    assert wrong.code == 121, wrong.err
    assert "error [message]: MPI_Recv of rank 1 (message_type messages.h:" in wrong.err
    assert "MPI 5.0, 3.3.1" in wrong.err
    clean = run_checked(mpi, "message_type_clean")
    assert clean.code == 0, clean.err
    assert "no errors, no warnings and no notes in 6 calls of 2 ranks." in clean.err
    assert run_checked(mpi, "there_is_no_such_case").code == 2


def test_a_folder_that_cannot_be_used_is_refused_with_a_sentence(mpi, tmp_path):
    record(mpi, mpi.build("check/defects.c"), tmp_path / "t", "message_type_clean").ok()
    file = tmp_path / "t" / "rank-1.checks"
    for change, why in [
        (
            lambda raw: raw[:8] + b"\x63" + raw[9:],
            "version 99 of the format, and this evenkeel reads version 1",
        ),
        (lambda raw: raw[:-1], "it is cut"),
        (lambda raw: raw[:-1] + b"\xff", "damaged"),
    ]:
        whole = file.read_bytes()
        file.write_bytes(change(whole))
        said = refused(tmp_path / "t")
        file.write_bytes(whole)
        assert why in said, said
    file.unlink()
    assert "it has calls of 1 ranks of 2" in refused(tmp_path / "t")
    assert "has no arguments of MPI calls" in refused(tmp_path)


def refused(folder):
    done = subprocess.run([EVENKEEL, "check", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 125 and done.stderr.startswith("evenkeel: cannot check the calls in"), done
    return done.stderr
