"""`evenkeel top`: a job in a real terminal (tmux), and as a plain table. It names who holds up the others,
leaves the terminal as it was, and says so when the job ends."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import uuid
from pathlib import Path

import pytest

import processes
from mpis import named
from paths import EVENKEEL
from processes import HUNG_S, until
from verdicts import assert_passed


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


@pytest.fixture
def library():
    mpi = named("openmpi4")
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


def top(*arguments, **options):
    """What it prints without a terminal, for a width that has room for all columns."""
    line = [EVENKEEL, "top", *map(str, arguments)]
    options |= {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": HUNG_S}
    return subprocess.run(line, check=False, env=os.environ | {"COLUMNS": "160"}, **options)


def hang(mpi, watch, *arguments, ranks=4):
    """Runs a job whose rank 2 does not call MPI_Allreduce, until `watch(process)` is over."""
    failed = []

    def guarded(process):
        try:
            watch(process)
        except BaseException as error:
            failed.append(error)
        finally:
            processes.kill_all(process.token)

    outcome = mpi.run(mpi.build("hang.c"), ranks, "what=missing", *(arguments or ["until="]), watch=guarded)
    if failed:
        raise failed[0]
    return outcome


def wait_until_named(process):
    """`top --once` says which rank is missing; before that the ranks are on their way there."""

    def said():
        done = top(process.pid, "--once", "--interval", "0.5")
        return done if "Rank 2 has not called MPI_Allreduce" in " ".join(done.stdout.split()) else None

    done = until(said)
    assert done, top(process.pid).stdout
    return done.stdout


class Terminal:
    """A shell in tmux, of a size."""

    def __init__(self, columns, lines):
        self.name = f"evenkeel-test-{uuid.uuid4()}"
        size = ["-x", str(columns), "-y", str(lines)]
        shell = ["env", "-i", f"PATH={os.environ['PATH']}", "TERM=screen", "PS1=READY ", "/bin/sh"]
        self.tmux("new-session", "-d", *size, shlex.join(shell))

    def tmux(self, *words):
        line = ["tmux", "-L", self.name, "-f", "/dev/null", *words]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def wait_for(self, pattern):
        # Twice, since the first may show a screen that is half drawn; what was searched is returned, since
        # by then the terminal may show something else.
        found = until(lambda: self.find(pattern) and self.find(pattern))
        assert found, f"{pattern!r} was not seen:\n{self.screen()}"
        return found.string

    def find(self, pattern):
        return re.search(pattern, self.screen(), re.MULTILINE)

    def close(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.tmux("kill-server")


@pytest.fixture
def terminal():
    if not shutil.which("tmux"):
        pytest.skip("there is no terminal to draw on: the Debian package is tmux")
    opened = []

    def make(columns=80, lines=24):
        opened.append(Terminal(columns, lines))
        return opened[-1]

    yield make
    for terminal in opened:
        terminal.close()


def first_rank(screen):
    """The rank of the first row."""
    lines = screen.splitlines()
    heading = next(number for number, line in enumerate(lines) if line.startswith("rank "))
    return int(lines[heading + 1].split()[0])


# ---- without a terminal ----


def table(text):
    """Rank to the words of its row."""
    return {row[0]: row for row in map(str.split, text.splitlines()) if row and row[0].isdigit()}


def test_a_plain_table_names_who_holds_up_the_others(mpi):
    """With every library."""

    def settled(process):
        """The ranks have been where they are for a whole interval."""
        text = wait_until_named(process)
        return text if [table(text)[rank][2] for rank in "0123"] == ["100%", "100%", "0%", "100%"] else None

    def watch(process):
        text = until(lambda: settled(process))
        assert text, wait_until_named(process)
        rows = table(text)
        assert set(rows) == set("0123") and rows["2"][-1] == "3" and "outside MPI" in " ".join(rows["2"]), (
            text
        )
        for rank in "013":
            assert "MPI_Allreduce" in rows[rank] and rows[rank][-2:] == ["2", "-"], text

    hang(mpi, watch)


def test_rows_are_sorted(library):
    def watch(process):
        wait_until_named(process)
        text = top(process.pid, "--sort", "holds-up", "--interval", "0.5").stdout
        assert first_rank(text) == 2, text

    hang(library, watch)


def test_a_stopped_rank_is_said_to_be_stopped(library):
    def watch(process):
        assert until(lambda: "stopped (SIGSTOP)" in wait_until_named(process))

    hang(library, watch, "until=", "how=stop")


def test_a_watched_job_gets_the_same_result(library):
    program, seen = library.build("slow.c"), []

    def watch(process):
        while process.poll() is None:
            seen.append(top(process.pid, "--interval", "0.3"))

    arguments = ["seed=1", "rounds=24", "sleep=200000"]
    watched = library.run(program, 4, *arguments, watch=watch)
    alone = library.run(program, 4, *arguments)
    assert_passed(watched)
    assert any("MPI" in done.stdout for done in seen)
    assert len({re.search("RESULT .* digest (.*)", one.out).group(1) for one in (watched, alone)}) == 1


# ---- in a terminal ----


def test_the_live_view_fits_80_columns_and_gives_the_terminal_back(library, terminal):
    shell = terminal(80, 24)
    shell.wait_for("READY")
    before = settings(shell, "before")

    def watch(process):
        wait_until_named(process)
        shell.type(f"{EVENKEEL} top {process.pid} --interval 0.3; echo code $?", "Enter")
        screen = shell.wait_for(r"Rank 2 has not called MPI_Allreduce")
        lines = screen.splitlines()
        assert lines[0].startswith(f"Job {process.pid}: 4 ranks, Open MPI"), screen
        assert {"rank", "waiting", "cpu", "in", "since"} <= set(lines[2].split()), screen
        assert lines[2].endswith("holds up"), screen
        assert lines[23].startswith("q leave"), screen
        assert first_rank(screen) == 0
        shell.type("h")
        shell.wait_for("by holds up")
        assert until(lambda: first_rank(shell.screen()) == 2)
        shell.type("h")
        shell.wait_for("by holds up, reversed")
        assert until(lambda: first_rank(shell.screen()) == 0)
        shell.type("q")
        screen = shell.wait_for("^code 0$")
        assert "q leave" not in screen, "the view is still on the screen"

    hang(library, watch)
    assert settings(shell, "after") == before


def settings(shell, label):
    """The settings of a terminal, in short; the label tells the answer from earlier ones on the screen."""
    shell.type(f"echo {label} $(stty -g | cksum)", "Enter")
    answer = rf"^{label} (\d+ \d+)$"
    return re.search(answer, shell.wait_for(answer), re.MULTILINE).group(1)


@pytest.mark.parametrize("end", ["Ctrl-C", "SIGTERM"])
def test_ctrl_c_and_signals_give_the_terminal_back(library, terminal, end):
    shell = terminal()

    def watch(process):
        wait_until_named(process)
        line = f"{EVENKEEL} top {process.pid}"
        shell.type(f"{line}; echo code $?; stty -a | grep -o -w -e '-*icanon' -e '-*echo'", "Enter")
        shell.wait_for("q leave")
        if end == "Ctrl-C":
            shell.type("C-c")
        else:
            [pid] = [pid for pid, words in command_lines() if words == line.split()]
            os.kill(pid, signal.SIGTERM)
        screen = shell.wait_for("^echo$")
        assert re.search(r"^code 0$", screen, re.MULTILINE), screen
        assert re.search(r"^icanon$", screen, re.MULTILINE) and "q leave" not in screen, screen

    hang(library, watch)


def command_lines():
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(entry.name), (entry / "cmdline").read_text().strip("\0").split("\0")


def test_many_ranks_are_scrolled_through_on_a_larger_terminal(library, terminal):
    shell = terminal(132, 20)

    def watch(process):
        wait_until_named(process)
        shell.type(f"{EVENKEEL} top {process.pid} --interval 0.3", "Enter")
        # A frame may be half drawn: what is waited for ends in what comes last.
        screen = shell.wait_for(r"rows 1-\d+ of 30[\s\S]*^rank [\s\S]*^0 ")
        assert first_rank(screen) == 0 and "process" in screen
        shell.type("End")
        screen = shell.wait_for(r"rows \d+-30 of 30[\s\S]*^29 ")
        assert first_rank(screen) > 10 and re.search(r"^29 ", screen, re.MULTILINE)
        shell.type("Home")
        shell.wait_for("rows 1-")
        shell.type("q")

    hang(library, watch, ranks=30)


def test_a_job_that_ends_is_said_to_have_ended(library, terminal, tmp_path):
    told, shell = tmp_path / "told", terminal()

    def watch(process):
        wait_until_named(process)
        shell.type(f"{EVENKEEL} top {process.pid} --interval 0.3; echo code $?", "Enter")
        shell.wait_for("q leave")
        told.touch()
        screen = shell.wait_for("^code 0$")
        assert re.search(rf"^Job {process.pid} has ended; it was watched for ", screen, re.MULTILINE), screen

    hang(library, watch, f"until={told}")


# ---- refusals ----


def test_what_is_no_job_is_refused_with_a_sentence():
    for pid, sentence in [(2**22 - 1, "there is no process"), (os.getpid(), "is no launcher and no rank")]:
        done = top(pid)
        assert done.returncode == 125 and sentence in done.stderr, done.stderr
        assert done.stderr.startswith("evenkeel: ") and done.stderr.count("\n") == 1
    assert top("--interval", "0").returncode == 2


def test_a_job_of_another_version_is_refused_with_a_sentence(library):
    """Another layout number stands in the segment, as if another version had made it."""

    def watch(process):
        wait_until_named(process)
        segments = {}
        for pid in processes.with_token(process.token):
            for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
                if line.endswith("/memfd:evenkeel (deleted)"):
                    segments.setdefault(line.split()[4], (pid, int(line.split("-")[0], 16)))
        [(pid, address)] = segments.values()
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(address + 16)
            memory.write(b"\x01" * 8)
        done = top(process.pid)
        assert done.returncode == 125 and "another version of evenkeel" in done.stderr, done.stderr

    hang(library, watch)


def test_a_job_of_another_user_is_refused_with_a_sentence(library, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can look with the rights of somebody else")
    program = tmp_path / "evenkeel"
    shutil.copy(EVENKEEL, program)
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.stat().st_uid == 0 and folder != folder.parent and not folder.stat().st_mode & 1:
            folder.chmod(folder.stat().st_mode | 0o11)

    def watch(process):
        wait_until_named(process)
        line = [program, "top", str(process.pid)]
        other = {"user": 65534, "group": 65534, "extra_groups": []}
        done = subprocess.run(line, capture_output=True, text=True, check=False, **other)
        assert done.returncode == 125 and "belongs to another user" in done.stderr, done.stderr

    hang(library, watch)
