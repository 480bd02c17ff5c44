"""MPICH's lists of tests are read as its `runtests` reads them, and differences are judged soundly."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import imb
import testlists
from judgement import Runs, needs_repetition, verdict
from testlists import Case, UnreadableLineError, capped, outcome, parse_line, skip_reason


def test_a_line_has_a_program_ranks_and_keys():
    line = "mt 4 arg=-n=2 arg=-m timeLimit=600 env=A=b=c mpiexecarg=-x resultTest=TestStatus mem=6.5 # why"
    assert parse_line(line, "threads/pt2pt") == Case(
        "threads/pt2pt",
        "mt",
        4,
        arguments=("-n=2", "-m"),
        environment=("A=b=c",),
        launcher_arguments=("-x",),
        limit_s=600,
        result_test="TestStatus",
        memory_gib=6.5,
    )


def test_ranks_may_be_missing_and_a_program_may_lie_in_another_folder():
    assert parse_line("hello", "init") == Case("init", "hello", 2)
    assert parse_line("hello strict=FALSE", "init").strict == "false"
    assert parse_line("../util/hello 3", "init").name == "init/../util/hello"
    assert parse_line("   # only a comment", "init") is None


@pytest.mark.parametrize("line", ["a two", "a 2 colour=red", "a 2 surplus"])
def test_a_line_that_cannot_be_read_is_refused(line):
    with pytest.raises(UnreadableLineError, match=r"coll: 'a"):
        parse_line(line, "coll")


def test_lists_are_read_through_folders_and_equal_lines_once(tmp_path):
    built, sources = tmp_path / "built", tmp_path / "sources"
    inner = sources / "threads" / "comm"
    inner.mkdir(parents=True)
    (built / "threads").mkdir(parents=True)
    (sources / "threads" / "testlist").write_text("not this one")
    (built / "threads" / "testlist").write_text("#gone\ncomm\nalone 1\n!util:hello\n")
    (inner / "testlist").write_text("dup 4\ndup 4\ndup 4 arg=x\n")
    (inner / "testlist.cvar").write_text("dup 4 env=A=1\n")
    found = testlists.read([built, sources], "threads")
    assert [(case.name, case.arguments, case.environment) for case in found] == [
        ("threads/comm/dup", (), ()),
        ("threads/comm/dup", ("x",), ()),
        ("threads/comm/dup", (), ("A=1",)),
        ("threads/alone", (), ()),
    ]


def test_what_only_mpich_can_do_is_not_asked_of_others():
    beyond, failing = parse_line("a 2 strict=false", "coll"), parse_line("a 2 xfail=ticket1", "coll")
    assert skip_reason(beyond, True, (3, 1), 4) and not skip_reason(beyond, False, (4, 0), 4)
    assert skip_reason(failing, False, (4, 0), 4) and not skip_reason(failing, True, (3, 1), 4)
    assert skip_reason(parse_line("a 2 mpiexecarg=-x", "coll"), True, (3, 1), 4)
    assert skip_reason(parse_line("a 2 mpiversion=4.0", "coll"), False, (3, 1), 4) == "needs MPI 4.0"
    assert not skip_reason(parse_line("a 2 mpiversion=3.0", "coll"), False, (3, 1), 4)
    assert skip_reason(parse_line("a 2 mem=6.5", "coll"), False, (4, 0), 4) == "needs 6.5 GiB"


def test_ranks_are_capped():
    assert capped(Case("coll", "a", 10), 8) == Case("coll", "a", 8)
    assert capped(Case("coll", "a", 4), 8).ranks == 4


@pytest.mark.parametrize(
    ("result_test", "code", "out", "expected"),
    [
        ("", 0, " No Errors\n", "pass"),
        ("", 0, "Test Passed\nNo errors\n\n", "pass"),
        ("", 0, "", "fail: no line 'No Errors'"),
        ("", 1, " No Errors\n", "fail: exit code 1"),
        ("", 0, " No Errors\nFound 3 errors\n", "fail: other output"),
        ("", None, " No Errors\n", "timeout"),
        ("TestStatus", 1, "", "pass"),
        ("TestStatus", 0, " No Errors\n", "fail: exit code 0, and another is required"),
        ("TestErrFatal", 9, "words", "pass"),
        ("TestStatusNoErrors", 9, " No Errors\n", "pass"),
        ("TestStatusNoErrors", 9, "", "fail: no line 'No Errors'"),
        ("TestStatusNoErrors", 0, " No Errors\n", "fail: exit code 0, and another is required"),
    ],
)
def test_a_program_is_judged_by_its_exit_code_and_its_output(result_test, code, out, expected):
    assert outcome(Case("coll", "a", result_test=result_test), code, out) == expected


def passes(*seconds):
    return Runs(["pass"] * len(seconds), list(seconds))


def test_a_failure_is_new_only_if_the_control_always_passes_and_most_runs_fail():
    failing = Runs(["fail: x", "fail: x", "pass"], [1, 1, 1])
    assert verdict(failing, passes(1, 1, 1)) == "new failure"
    assert verdict(failing, Runs(["pass", "fail: x"], [1, 1])) == "fails alone"
    assert verdict(Runs(["fail: x", "pass", "pass"], [1, 1, 1]), passes(1)) == "unsteady"
    assert verdict(Runs(["timeout"], [60]), passes(1)) == "new failure"
    assert verdict(passes(1), passes(1)) == "same"


def test_slower_takes_both_twice_the_control_and_a_second():
    assert verdict(passes(2.1), passes(1)) == "slower"
    assert verdict(passes(2), passes(1)) == "same"
    assert verdict(passes(0.9), passes(0.1)) == "same"
    assert verdict(passes(9, 1, 1), passes(1, 1, 1)) == "same", "the median counts"
    assert verdict(passes(9, 9, 1, 1), passes(1)) == "same", "the repetitions count, not the suspicion"


def test_only_differences_from_a_control_that_passes_are_repeated():
    assert needs_repetition(Runs(["timeout"], [60]), passes(1))
    assert needs_repetition(passes(3), passes(1))
    assert not needs_repetition(passes(1), passes(1))
    assert not needs_repetition(Runs(["timeout"], [60]), Runs(["fail: x"], [1]))


def test_several_runs_have_one_outcome():
    assert Runs(["pass", "fail: x", "fail: y"], [1, 1, 1]).outcome == "fail: x (2 of 3)"
    assert Runs(["fail: x"], [1]).outcome == "fail: x"
    assert passes(1, 2).outcome == "pass"


TABLE = """\
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects
            0           10         0.05         0.05         0.05         0.00
            4           10         4.10         4.20         4.15         {}
"""


@pytest.mark.parametrize(
    ("code", "out", "expected"),
    [
        (0, TABLE.format("0.00"), "pass"),
        (0, TABLE.format("1.00"), "fail: defects in results"),
        (0, TABLE.format("1.00").replace("      defects", ""), "pass"),
        (0, "2: Error Allreduce, size = 4\n" + TABLE.format("0.00"), "fail: it reports an error"),
        (0, "# nothing was measured\n", "fail: no results"),
        (1, TABLE.format("0.00"), "fail: exit code 1"),
        (None, TABLE.format("0.00"), "timeout"),
    ],
)
def test_a_benchmark_is_judged_by_its_column_of_defects(code, out, expected):
    assert imb.outcome(code, out) == expected
