"""`evenkeel run --launcher evenkeel`: ranks start without mpiexec; all that they started ends with them."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import time
import uuid
from pathlib import Path

import pytest

import mpis
import processes
from paths import EVENKEEL, SHIMS

# What ranks may leave after the job for a moment: the kernel takes a process off its lists after its parent
# has been told.
MOMENT_S = 60

FAMILY = [mpi for mpi in mpis.ALL if mpi.family == "mpich"]


@pytest.fixture(params=FAMILY, ids=[mpi.name for mpi in FAMILY])
def mpich(request):
    """Each library of MPICH's family."""
    if reason := request.param.skip_reason():
        pytest.skip(reason)
    return request.param


@pytest.fixture
def one():
    """One library, for what does not depend on it."""
    mpi = mpis.named("mpich4")
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


@pytest.fixture
def token(tmp_path):
    """A name that only processes of this test have on their command lines, and that no file has yet."""
    return str(tmp_path / str(uuid.uuid4()))


def line(mpi, ranks, *words, options=()):
    """The command line of a job of the test program."""
    program = mpi.build("launch_cases.c")
    start = [str(EVENKEEL), "run", "-n", str(ranks), "--launcher", "evenkeel", "--quiet", *options]
    return [*start, "--", str(program), *map(str, words)]


def environment(mpi):
    return {"EVENKEEL_LIB": str(SHIMS)} | mpi.environment


def run(mpi, ranks, *words, options=(), **more):
    outcome = processes.run(line(mpi, ranks, *words, options=options), environment=environment(mpi), **more)
    assert outcome.code is not None, f"the job hung\n{outcome.text}"
    assert not outcome.left_over, outcome.left_over
    return outcome


def start(mpi, ranks, *words, options=(), env=None, before=processes.heed_signals, **more):
    """Starts a job and returns its process."""
    return subprocess.Popen(
        line(mpi, ranks, *words, options=options),
        env=os.environ | environment(mpi) | (env or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,  # noqa: PLW1509  (this process has one thread)
        **more,
    )


def alive(token):
    """Processes that have the token on their command line or in their environment, zombies left out."""
    found = set(processes.with_token(token))
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            is_other = entry.name.isdigit() and int(entry.name) != os.getpid()
            if is_other and token.encode() in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    return found


def is_locked(token):
    """Whether a process lives that the program's `escape` has made.

    This misses none, however it forks. A look at /proc may miss one that is another one each time."""
    if not Path(token).exists():
        return False
    with open(token) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def assert_all_end(token):
    has_ended = processes.until(lambda: not alive(token) and not is_locked(token), MOMENT_S)
    left = alive(token)
    for pid in left:
        processes.kill(pid)
    assert has_ended, f"outlived the job: {left or 'processes that fork all the time'}"


def fnv1a(text):
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 % 2**32
    return value


@pytest.mark.parametrize("ranks", [1, 2, 5, 16])
def test_ranks_find_each_other(mpich, ranks):
    outcome = run(mpich, ranks, "none").ok()
    assert sorted(outcome.out.splitlines()) == sorted(f"rank {rank} of {ranks}" for rank in range(ranks))
    assert outcome.err == ""


def test_programs_that_do_not_call_mpi_run_too(one):
    outcome = processes.run(
        [str(EVENKEEL), "run", "-n", "7", "--launcher", "evenkeel", "--mpi", "mpich4", "--", "true"],
        environment=environment(one),
    )
    assert (outcome.code, outcome.text) == (0, "")


def test_a_rank_that_does_not_find_the_launcher_is_no_success(one):
    """Without the connection to the launcher, each rank is rank 0 of 1, and would succeed."""
    *start, program, case = line(one, 3, "none", options=("--mpi", one.name))
    outcome = processes.run([*start, "env", "-u", "PMI_FD", program, case], environment=environment(one))
    assert outcome.code not in (None, 0), outcome.text
    assert re.search(r"started 3 ranks, but rank \d is in a job of 1:", outcome.err), outcome.text


def test_two_jobs_at_once_do_not_meet(mpich):
    """MPICH 5 names shared memory after the job's name."""
    jobs = [start(mpich, 3, "none") for _ in range(6)]
    for job in jobs:
        out, err = job.communicate(timeout=processes.HUNG_S)
        assert job.returncode == 0, err
        assert sorted(out.splitlines()) == [f"rank {rank} of 3" for rank in range(3)]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("abort", 1, 7), 7, "rank 1 called MPI_Abort with code 7"),
        (("abort", 1, 256), 1, "rank 1 called MPI_Abort with code 256"),
        (("exit", 2, 5), 5, r"rank 2 \(process \d+\) ended with exit code 5"),
        (
            ("exit", 2, 0),
            1,
            r"rank 2 \(process \d+\) ended with exit code 0 between MPI_Init and MPI_Finalize",
        ),
        (("all exit",), 1, r"rank \d \(process \d+\) ended with exit code 0 between"),
        (("kill", 0, 9), 137, r"rank 0 \(process \d+\) was killed by SIGKILL"),
        (("kill", 1, 15), 143, r"rank 1 \(process \d+\) was killed by SIGTERM"),
        (("late exit", 1, 3), 3, r"rank 1 \(process \d+\) ended with exit code 3"),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_a_failure_ends_the_job_with_its_code_and_its_rank(mpich, words, code, said):
    outcome = run(mpich, 3, *words)
    assert outcome.code == code, outcome.text
    assert re.search(f"^evenkeel: {said}", outcome.err, re.MULTILINE), outcome.text


def test_files_of_an_ended_job_are_removed(mpich5, token):
    """MPICH 5 names a file after its world, and removes it in MPI_Finalize."""
    job = start(mpich5, 2, "sleep", 0, "none", token, env={"EVENKEEL_LOG": "debug"})
    for _ in range(2):
        assert job.stdout.readline() == "asleep\n"
    while not (name := re.search(r"the job is (\w+)", job.stderr.readline())):
        pass
    world = fnv1a(f"kvs_{name[1]}_0")
    file = Path(f"/dev/shm/mpich_shm_{world:x}_0")
    assert file.exists()
    job.terminate()
    job.communicate(timeout=processes.HUNG_S)
    assert not file.exists()
    assert_all_end(token)


def test_the_job_goes_on_with_keep_going(one):
    program = ["sh", "-c", 'test $PMI_RANK != 1 || exit 4; sleep 1; echo "$PMI_RANK of $PMI_SIZE"']
    options = ["--launcher", "evenkeel", "--mpi", "mpich4", "--keep-going"]
    outcome = processes.run(
        [str(EVENKEEL), "run", "-n", "3", *options, "--", *program],
        environment=environment(one),
    )
    assert outcome.code == 4
    assert sorted(outcome.out.split("\n")) == ["", "0 of 3", "2 of 3"]
    assert "rank 1 " in outcome.err and "were ended" not in outcome.err


ESCAPES = ["fork", "setsid", "double fork", "exec", "stopped", "forking", "forking sessions", "subreaper"]


@pytest.mark.parametrize("how", ESCAPES)
def test_nothing_outlives_a_job_that_ends_well(one, how, token):
    run(one, 2, "escape", 1, how, token).ok()
    assert_all_end(token)


@pytest.mark.parametrize("victim", ["supervisor", "launcher"])
@pytest.mark.parametrize("how", ["none", "escape"])
def test_nothing_outlives_evenkeel_itself(one, victim, how, token):
    """Each of evenkeel's two processes is killed while ranks sleep, one of them with a child in a session of
    its own."""
    job = start(one, 3, "sleep", 1, how, token)
    for _ in range(3):
        assert job.stdout.readline() == "asleep\n"
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    assert len(children) == 1
    os.kill(job.pid if victim == "supervisor" else int(children[0]), signal.SIGKILL)
    _, err = job.communicate(timeout=processes.HUNG_S)
    assert_all_end(token)
    if victim == "launcher":
        assert "evenkeel: the process that ran the job was killed by SIGKILL" in err
        assert job.returncode == 137


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_the_ranks_and_are_the_exit_code(one, number, token):
    job = start(one, 3, "sleep", 0, "none", token)
    for _ in range(3):
        assert job.stdout.readline() == "asleep\n"
    job.send_signal(number)
    job.communicate(timeout=processes.HUNG_S)
    assert job.returncode == -number
    assert_all_end(token)


def test_a_rank_that_ignores_sigterm_is_killed(one, token):
    job = start(one, 2, "stubborn", 1, "none", token, options=["--grace", "100"])
    for _ in range(2):
        assert job.stdout.readline() == "asleep\n"
    job.send_signal(signal.SIGTERM)
    job.communicate(timeout=processes.HUNG_S)
    assert_all_end(token)


def test_ignored_signals_stay_ignored(one, token):
    """As under nohup."""
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    job = start(one, 2, "sleep", 0, "none", token, before=ignore)
    for _ in range(2):
        assert job.stdout.readline() == "asleep\n"
    for pid in alive(token):
        os.kill(pid, signal.SIGHUP)
    time.sleep(0.3)
    assert job.poll() is None and len(alive(token)) == 4  # two ranks, and two processes of evenkeel's
    job.kill()
    job.communicate()
    assert_all_end(token)


def terminal(words, environment, script):
    """Runs a command line in a terminal of its own; `script(descriptor, pid)` plays the user. Returns all
    that was shown, and the status."""
    pid, terminal = pty.fork()
    if pid == 0:
        processes.heed_signals()
        os.execvpe(words[0], words, os.environ | environment)
    script(terminal, pid)
    shown = b""
    deadline = time.monotonic() + 60
    with contextlib.suppress(OSError):  # EIO when the last process has closed the terminal
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 4096)
        os.kill(pid, signal.SIGKILL)
    return shown.decode(), os.waitpid(pid, 0)[1]


def wait_for(terminal, text):
    """Reads from a terminal until a text has come."""
    shown = b""
    deadline = time.monotonic() + 60
    while text not in shown and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 4096)
    assert text in shown, shown


def test_ctrl_c_ends_all(one, token):

    def press(terminal, _pid):
        wait_for(terminal, b"asleep\r\nasleep")
        os.write(terminal, b"\x03")

    _, status = terminal(line(one, 2, "sleep", 0, "none", token), environment(one), press)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT
    assert_all_end(token)


def state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0]


def test_ctrl_z_stops_the_ranks_and_continuing_goes_on(one, token):

    def press(terminal, shell):
        wait_for(terminal, b"asleep\r\nasleep")
        ranks = [pid for pid in alive(token) if Path(f"/proc/{pid}/exe").readlink().name == "launch_cases"]
        assert len(ranks) == 2
        os.write(terminal, b"\x1a")
        assert processes.until(lambda: all(state(pid) == "T" for pid in ranks), 20)
        wait_for(terminal, b"Stopped")
        os.write(terminal, b"fg\n")
        assert processes.until(lambda: all(state(pid) == "S" for pid in ranks), 20)
        os.write(terminal, b"\x03")
        wait_for(terminal, b"\r\n")
        os.write(terminal, b"exit 3\n")

    command = " ".join(line(one, 2, "sleep", 0, "none", token))

    def typed(terminal, shell):
        os.write(terminal, f"{command}\n".encode())
        press(terminal, shell)

    terminal(["bash", "--norc", "-i"], environment(one) | {"PS1": "$ "}, typed)
    assert_all_end(token)


def test_rank_0_reads_standard_input_and_the_others_do_not(one):
    job = subprocess.run(
        line(one, 3, "echo", 0),
        input="a\nb\n",
        env=os.environ | environment(one),
        capture_output=True,
        text=True,
        timeout=processes.HUNG_S,
        check=True,
    )
    assert job.stdout.count("read ") == 2
    other = subprocess.run(
        line(one, 3, "echo", 1),
        input="a\nb\n",
        env=os.environ | environment(one),
        capture_output=True,
        text=True,
        timeout=processes.HUNG_S,
        check=True,
    )
    assert "read" not in other.stdout


def test_a_prompt_is_shown_before_its_line_ends(one):
    def answer(terminal, _pid):
        wait_for(terminal, b"name? ")
        os.write(terminal, b"you\n")

    shown, status = terminal(line(one, 2, "prompt", 0), environment(one), answer)
    assert "hello you" in shown and os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("label", [False, True])
def test_no_line_is_torn_and_none_is_lost(one, label):
    count, ranks = 3000, 4
    outcome = run(one, ranks, "lines", 0, count, options=["--label"] if label else []).ok()
    numbers = dict.fromkeys(range(ranks), 0)
    for text in outcome.out.splitlines():
        found = re.fullmatch(r"(?:\[(\d)\] )?<(\d) (\d+) -+>", text)
        assert found, text
        assert (found[1] == found[2]) if label else found[1] is None
        assert int(found[3]) == numbers[int(found[2])]
        numbers[int(found[2])] += 1
    assert set(numbers.values()) == {count}


def test_memory_is_bounded_beside_a_reader_that_does_not_read(one, token):
    job = start(one, 2, "flood", 0, "none", token)
    assert job.stdout.readline()
    (launcher,) = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()

    def resident_kib():
        status = Path(f"/proc/{launcher}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def grows_no_more():
        first = resident_kib()
        time.sleep(1.5)
        return resident_kib() < first + 1024

    time.sleep(1.5)
    assert processes.until(grows_no_more) and resident_kib() < 64 * 1024
    job.terminate()
    job.stdout.close()
    job.wait(timeout=processes.HUNG_S)
    job.stderr.close()
    assert_all_end(token)


def test_a_reader_that_goes_ends_the_writers(one):
    command = " ".join(line(one, 2, "flood", 0))
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -n 1; exit ${{PIPESTATUS[0]}}"],
        env=os.environ | environment(one),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.count("\n") == 1
    assert done.returncode not in (0, None)


def test_spawned_processes_run_and_their_failure_is_the_jobs(mpich5, token):
    outcome = run(mpich5, 2, "spawn", 0, "-", token).ok()
    # MPICH's UCX may complain of processes that have ended since MPI_Comm_disconnect.
    lines = sorted(t for t in outcome.out.splitlines() if not t.startswith("rank") and "UCX" not in t)
    children = [f"child {rank} has 42 and 'two words'" for rank in range(3)]
    assert lines == children + [f"parent {rank} of 3 children" for rank in range(2)]
    assert_all_end(token)


def test_a_program_that_cannot_be_executed_is_named(one, tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF nothing")
    program.chmod(0o755)
    outcome = processes.run(
        [str(EVENKEEL), "run", "-n", "2", "--launcher", "evenkeel", "--mpi", "mpich4", "--", str(program)],
        environment=environment(one),
    )
    assert outcome.code == 125 or outcome.code == 126, outcome.text
    assert str(program) in outcome.err


@pytest.mark.parametrize("option", [["--label"], ["--keep-going"], ["--grace", "5"], ["--stdin", "0"]])
def test_options_of_the_own_launcher_are_refused_elsewhere(one, option):
    outcome = one.evenkeel(one.build("launch_cases.c"), 2, "none", options=option)
    assert outcome.code == 125 and f"cannot use {option[0]} here" in outcome.err, outcome.text


def test_strangers_lines_end_the_job_with_a_sentence(one):
    program = ["bash", "-c", 'test $PMI_RANK != 1 || eval "echo hello >&$PMI_FD"; sleep 20']
    outcome = processes.run(
        [str(EVENKEEL), "run", "-n", "2", "--launcher", "evenkeel", "--mpi", "mpich4", "--", *program],
        environment=environment(one),
    )
    assert outcome.code == 1
    assert "rank 1 sent a request that this launcher does not know (`hello`)" in outcome.err
