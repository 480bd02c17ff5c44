"""`evenkeel run --launcher evenkeel` under Open MPI: ranks find each other by PMIx."""

import re
from pathlib import Path

import pytest

import mpis
import processes
from paths import EVENKEEL, SHIMS

FAMILY = [mpi for mpi in mpis.ALL if mpi.family == "openmpi"]


@pytest.fixture(params=FAMILY, ids=[mpi.name for mpi in FAMILY])
def openmpi(request):
    """Each library of Open MPI's family."""
    if reason := request.param.skip_reason():
        pytest.skip(reason)
    return request.param


@pytest.fixture
def run(openmpi, directory):
    """Runs a job of the test program, and then looks for what it has left behind."""

    def run_job(ranks, *words):
        program = openmpi.build("launch_cases.c")
        start = [str(EVENKEEL), "run", "-n", str(ranks), "--launcher", "evenkeel", "--quiet"]
        environment = {"EVENKEEL_LIB": str(SHIMS), "TMPDIR": str(directory)} | openmpi.environment
        outcome = processes.run([*start, "--", str(program), *map(str, words)], environment=environment)
        assert outcome.code is not None, f"the job hung\n{outcome.text}"
        assert not outcome.left_over, outcome.left_over
        return outcome

    return run_job


@pytest.mark.parametrize("ranks", [1, 2, 5, 16])
def test_ranks_find_each_other(run, ranks):
    outcome = run(ranks, "none").ok()
    assert sorted(outcome.out.splitlines()) == sorted(f"rank {rank} of {ranks}" for rank in range(ranks))
    assert outcome.err == ""


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("abort", 1, 7), 7, "rank 1 called MPI_Abort with code 7"),
        (("exit", 2, 5), 5, r"rank 2 \(process \d+\) ended with exit code 5"),
        (("kill", 1, 9), 137, r"rank 1 \(process \d+\) was killed by SIGKILL"),
        (("late exit", 1, 3), 3, r"rank 1 \(process \d+\) ended with exit code 3"),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_a_failure_ends_the_job_with_its_code_and_its_rank(run, words, code, said):
    outcome = run(3, *words)
    assert outcome.code == code, outcome.text
    assert re.search(f"^evenkeel: {said}", outcome.err, re.MULTILINE), outcome.text


def test_a_rank_that_leaves_the_others_waiting_is_named(run):
    """Its exit code is 0: only what it has told the server shows that it has not finalized."""
    outcome = run(3, "exit", 2, 0)
    assert outcome.code == 1, outcome.text
    assert "ended with exit code 0 between MPI_Init and MPI_Finalize" in outcome.err


@pytest.mark.parametrize("words", [("none",), ("kill", 0, 9)], ids=lambda words: words[0])
def test_the_folder_of_the_server_goes_with_the_job(run, directory, words):
    run(2, *words)
    assert not [path for path in Path(directory).iterdir() if path.name.startswith("evenkeel")]


def test_spawn_is_refused_with_a_sentence(run):
    outcome = run(1, "spawn", 0, "x", "token")
    assert outcome.code != 0
    assert "rank 0 called MPI_Comm_spawn, which --launcher evenkeel does not carry out" in outcome.err


def test_programs_that_do_not_call_mpi_run_too(openmpi4):
    outcome = processes.run(
        [str(EVENKEEL), "run", "-n", "3", "--launcher", "evenkeel", "--mpi", openmpi4.name, "--", "true"],
        environment={"EVENKEEL_LIB": str(SHIMS)} | openmpi4.environment,
    )
    assert (outcome.code, outcome.text) == (0, "")


def test_a_rank_that_does_not_find_the_launcher_is_no_success(openmpi4):
    """Without the variable by which Open MPI 4 knows that there is a server, each rank is rank 0 of 1."""
    start = [str(EVENKEEL), "run", "-n", "3", "--launcher", "evenkeel", "--mpi", openmpi4.name]
    program = openmpi4.build("launch_cases.c")
    outcome = processes.run(
        [*start, "--", "env", "-u", "JSM_JSRUN_PORT", str(program), "none"],
        environment={"EVENKEEL_LIB": str(SHIMS)} | openmpi4.environment,
    )
    assert outcome.code == 71, outcome.text
    assert re.search(r"started 3 ranks, but rank \d is in a job of 1:", outcome.err), outcome.text
    assert "of 1\n" not in outcome.out


def test_env_makes_no_line_for_the_own_launcher(openmpi4):
    outcome = processes.run(
        [str(EVENKEEL), "env", "--launcher", "evenkeel", "--mpi", openmpi4.name],
        environment={"EVENKEEL_LIB": str(SHIMS)} | openmpi4.environment,
    )
    assert outcome.code == 125 and outcome.out == "", outcome.text
    assert "`evenkeel env` is for other launchers" in outcome.err


def test_doctor_says_how_ranks_can_be_started(openmpi4):
    outcome = processes.run(
        [str(EVENKEEL), "doctor"], environment={"EVENKEEL_LIB": str(SHIMS)} | openmpi4.environment
    )
    assert re.search(r"--launcher evenkeel: starts its ranks, by PMIx with /\S+libpmix", outcome.out)
