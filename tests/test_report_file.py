"""Whatever `--report` names is the same kind of thing afterwards, and a report that is lost loses no run."""

import json
import os
import stat
import subprocess
import threading

import pytest

import paths


def run(mpi, destination):
    """Two ranks whose program does not know of the report."""
    return mpi.run(mpi.build("init_abort_fork.c"), 2, "what=fork", shim=True, report=destination)


def device(tmp_path, original):
    """A device that only this test uses. Users cannot make one, but cannot replace the system's either."""
    if os.geteuid() != 0:
        return original
    copy = tmp_path / original.rpartition("/")[2]
    os.mknod(copy, 0o666 | stat.S_IFCHR, os.stat(original).st_rdev)
    try:
        copy.open("wb").close()
    except OSError as error:
        pytest.skip(f"devices cannot be opened in {tmp_path}: {error}")
    return copy


def test_a_full_device_stays_a_device_and_the_run_succeeds(mpi, tmp_path):
    full = device(tmp_path, "/dev/full")
    outcome = run(mpi, full).ok()
    assert stat.S_ISCHR(os.stat(full).st_mode)
    [said] = [line for line in outcome.said if "cannot write the report" in line]
    assert "No space left" in said and "Make room" in said and "The run itself is not affected." in said


def test_a_pipe_gets_the_report(openmpi4, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    came = []
    reader = threading.Thread(target=lambda: came.append(pipe.read_text()))
    reader.start()
    run(openmpi4, pipe).ok()
    reader.join()
    assert json.loads(came[0])["ranks"]
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


def test_a_pipe_without_a_reader_delays_no_run(openmpi4, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    outcome = run(openmpi4, pipe).ok()
    assert any("nothing reads from this pipe" in line for line in outcome.said), outcome.err


def test_a_link_leads_to_the_new_report(openmpi4, tmp_path):
    link, report = tmp_path / "link", tmp_path / "there.json"
    link.symlink_to(report.name)
    run(openmpi4, link).ok()
    assert link.is_symlink() and json.loads(report.read_text())["ranks"]


def test_a_command_writes_to_its_own_output(tmp_path):
    """`--svg /dev/stdout` adds to what the command prints, also when that goes to a file."""
    printed = tmp_path / "printed"
    command = [paths.EVENKEEL, "schedule", "show", "dissemination", "--ranks", "2", "--svg", "/dev/stdout"]
    with printed.open("w") as output:
        subprocess.run([str(word) for word in command], stdout=output, check=True)
    assert printed.read_text().count("</svg>") == 1 and "dissemination" in printed.read_text()


def test_a_job_that_crashes_says_that_there_is_no_report(mpi, tmp_path):
    """By a signal: MPI_Abort of MPICH 5 returns now and then, and the job goes on to its report."""
    report = tmp_path / "r.json"
    crashing = [mpi.build("killed_rank.c"), 3, "victim=2"]
    outcome = mpi.evenkeel(*crashing, options=["--report", str(report)])
    assert outcome.code != 0 and not report.exists()
    # prterun leaves a line without its end.
    [said] = [line for line in outcome.err.splitlines() if "evenkeel: no report was written" in line]
    assert str(report) in said and f"exit code {outcome.code} " in said and "earlier run" not in said
    run = [mpi.build("init_abort_fork.c"), 2, "what=fork"]
    assert "no report" not in mpi.evenkeel(*run, options=["--report", str(report)]).ok().err
    assert json.loads(report.read_text())["ranks"]
    outcome = mpi.evenkeel(*crashing, options=["--report", str(report)])
    assert "evenkeel: no report was written" in outcome.err
    assert "The file that is there is of an earlier run." in outcome.err
