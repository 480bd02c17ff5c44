"""Libraries that descend from MPICH, by their names, and launchers that evenkeel does not know.

Neither is installed here. A library is stood in for by one that has its name and needs Debian's MPICH.
"""

import subprocess

import pytest

import mpis
import processes
from paths import EVENKEEL, PROGRAMS, SHIMS
from verdicts import assert_passed


@pytest.fixture
def mpich4():
    mpi = mpis.named("mpich4")
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


def link_with(mpi, soname, folder):
    """A program of counted_calls.c that needs a library of this name."""
    library, program = folder / soname, folder / "program"
    named = [f"-Wl,-soname,{soname}", "-Wl,--no-as-needed", "-lmpich"]
    made = [mpi.cc, "-shared", "-fPIC", "-xc", "/dev/null", "-o", str(library), *named]
    subprocess.run(made, check=True)
    needed = ["-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{folder}", "-lm"]
    linked = [mpi.cc, str(PROGRAMS / "counted_calls.c"), "-o", str(program), *needed]
    subprocess.run(linked, check=True)
    return program


def run(*words):
    return processes.run([str(EVENKEEL), *map(str, words)], environment={"EVENKEEL_LIB": str(SHIMS)})


@pytest.mark.parametrize("soname", ["libmpi_cray.so.12", "libmpi_gnu_91.so.12", "libmpi_intel.so.12"])
def test_a_library_of_hpe_cray_is_refused_by_its_name(mpich4, soname, tmp_path):
    """Whether it keeps to MPICH's ABI is not known here."""
    program = link_with(mpich4, soname, tmp_path)
    for words in (["run", "-n", "2", "--", program], ["env", program]):
        outcome = run(*words)
        assert outcome.code == 125 and soname in outcome.err, outcome.text
        assert outcome.err.startswith("evenkeel:"), outcome.text


def test_such_a_program_runs_by_itself(mpich4, tmp_path):
    """So the test above refuses a program that works."""
    program = link_with(mpich4, "libmpi_gnu_91.so.12", tmp_path)
    assert_passed(mpich4.run(program, 2, shim=False))


def test_a_library_with_mpichs_name_is_served(mpich4, tmp_path):
    """MVAPICH's is such a one, and that of HPE Cray for programs that were linked with MPICH."""
    program = link_with(mpich4, "libmpi.so.12", tmp_path)
    report = tmp_path / "run.json"
    launcher = ["--launcher", mpich4.mpirun]
    outcome = run("run", "-n", "2", *launcher, "--report", report, "--", program)
    assert_passed(outcome)
    outcome.report = report
    assert outcome.calls("allreduce") > 0, "evenkeel carried nothing out"


@pytest.mark.parametrize(
    "name, system",
    [
        ("flux", "Flux"),
        ("jsrun", "IBM"),
        ("aprun", "PALS"),
        ("pals/1.4/bin/mpiexec", "PALS"),
        ("mpirun_rsh", "MVAPICH"),
    ],
)
def test_a_launcher_whose_arguments_are_not_known_is_refused(mpich4, name, system, tmp_path):
    launcher = tmp_path / name
    launcher.parent.mkdir(parents=True, exist_ok=True)
    launcher.write_text("#!/bin/sh\necho started\n")
    launcher.chmod(0o755)
    program = mpich4.build("counted_calls.c")
    outcome = run("run", "-n", "2", "--launcher", launcher, "--", program)
    assert outcome.code == 125 and system in outcome.err and "evenkeel env" in outcome.err, outcome.text
    assert "started" not in outcome.out
