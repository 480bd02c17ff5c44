"""Fortran (its three bindings), C++ and Python: results are right, and evenkeel carried the calls out."""

import pytest

from paths import ROOT

# Program to the calls of each operation that a rank of it makes.
FORTRAN = {
    "fortran_mpif.f90": {"barrier": 5, "bcast": 1, "reduce": 1, "allreduce": 3, "gatherv": 1},
    "fortran_mpi.f90": {
        "barrier": 1,
        "bcast": 2,
        "reduce": 1,
        "allreduce": 3,
        "alltoallw": 1,
        "allgather": 1,
    },
    "fortran_f08.f90": {"barrier": 6, "bcast": 1, "reduce": 1, "allreduce": 4, "allgatherv": 1},
}


def assert_carried_out(outcome, expected, ranks):
    """evenkeel carried out every call of every rank: no binding bypassed the shim."""
    seen = {op: outcome.calls(op) for op in expected}
    wanted = {op: calls * ranks for op, calls in expected.items()}
    assert seen == wanted, f"calls that evenkeel carried out: {seen}, calls in the program: {wanted}"


@pytest.mark.parametrize("ranks", [4, 5])
@pytest.mark.parametrize("source", FORTRAN)
def test_fortran(mpi, source, ranks, report):
    if not mpi.fc:
        pytest.skip(f"{mpi.name} has no Fortran compiler wrapper (the wheels come without Fortran)")
    program = mpi.build(source, "-fallow-argument-mismatch")
    outcome = mpi.run(program, ranks, report=report).ok()
    assert "FORTRAN DONE" in outcome.out and "FAIL" not in outcome.err, outcome.text
    assert_carried_out(outcome, FORTRAN[source], ranks)


@pytest.mark.parametrize("source", FORTRAN)
def test_the_fortran_programs_are_right_without_evenkeel(openmpi4, source):
    outcome = openmpi4.run(openmpi4.build(source, "-fallow-argument-mismatch"), 3, shim=False).ok()
    assert "FORTRAN DONE" in outcome.out


def test_cplusplus(mpi, report):
    # Two versions of a library may be installed: the command line would take the launcher that PATH names.
    options = ["--quiet", "--launcher", mpi.mpirun]
    outcome = mpi.evenkeel(mpi.build("modern.cpp"), 3, report=report, options=options).ok()
    assert "C++ DONE" in outcome.out and "FAIL" not in outcome.err, outcome.text
    assert_carried_out(outcome, {"barrier": 2, "allreduce": 5, "allgatherv": 1}, 3)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("how", ["evenkeel run", "preload"])
def test_python(mpi, ranks, how, report):
    """mpi4py calls the large-count forms where the library has them, and opens the library by itself."""
    if not mpi.python:
        pytest.skip(f"there is no mpi4py for {mpi.name} here")
    program = [mpi.python, ROOT / "tests" / "python" / "collectives.py"]
    if how == "preload":
        outcome = mpi.run(program, ranks, report=report, env=mpi.python_env).ok()
    else:
        outcome = mpi.evenkeel(program, ranks, report=report, options=["--quiet"], env=mpi.python_env).ok()
    assert "PYTHON DONE" in outcome.out and "FAIL" not in outcome.err, outcome.text
    if ranks > 1:
        assert outcome.calls("allreduce") >= 4 * ranks and outcome.calls("bcast") >= 2 * ranks
        assert outcome.calls("allgather") >= 2 * ranks and outcome.calls("barrier") >= ranks
