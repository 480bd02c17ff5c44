"""`evenkeel run --share`: jobs take turns, and no process is ever left standing still."""

import contextlib
import json
import os
import re
import signal
import subprocess
import uuid
from pathlib import Path

import pytest

import mpis
import processes
from paths import EVENKEEL, SHIMS

pytestmark = pytest.mark.alone

# So long that what a test does to a job that stands still happens in one slot.
LONG_SLOTS = ("--quantum", "1500ms")

# Longer than anything here takes on a machine that is busy with something else.
PATIENCE_S = 300


@pytest.fixture(scope="session")
def mpich():
    """A library whose ranks keep their cores while they wait."""
    mpi = mpis.named("mpich4")
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two jobs run at the same time only on two cores")
    return mpi


@pytest.fixture
def place(tmp_path):
    """A directory for the list of jobs, and what the jobs share."""
    (tmp_path / "run").mkdir(mode=0o700)
    (tmp_path / "shared").write_bytes(bytes(4096))
    return tmp_path


def until(answer):
    return processes.until(answer, PATIENCE_S)


def freezing_works():
    return re.search(r"^ +--switch freeze +works", doctor(), re.MULTILINE) is not None


def doctor():
    return subprocess.run([EVENKEEL, "doctor"], capture_output=True, text=True, check=False).stdout


@pytest.fixture(params=["freeze", "stop"])
def switch(request):
    if request.param == "freeze" and not freezing_works():
        pytest.skip("there is no control group of version 2 that this user may divide")
    return request.param


class Jobs:
    """Jobs of the test program, and the list in which they stand."""

    def __init__(self, mpi, place):
        self.mpi, self.place = mpi, place
        self.program = mpi.build("turns.c")
        self.told = place / "told"
        self.all = []

    def start(self, job, rounds=0, options=("--share",), launcher=("--launcher", "evenkeel"), off=True):
        words = [self.place / "shared", job, rounds, *([] if rounds else [self.told])]
        options = (*options, "--off") if off else options
        line = [EVENKEEL, "run", "-n", 2, *launcher, *options, "--", self.program]
        environment = {"EVENKEEL_LIB": str(SHIMS), "XDG_RUNTIME_DIR": str(self.place / "run")}
        token = f"EVENKEEL_TEST_TOKEN={uuid.uuid4()}"
        started = processes.start(
            [str(word) for word in [*line, *words]],
            environment | self.mpi.environment,
            token,
            before=processes.heed_signals,
        )
        self.all.append(started)
        return started

    def list(self):
        found = list((self.place / "run").glob("evenkeel-share-*/jobs.json"))
        return json.loads(found[0].read_text())["jobs"] if found else []

    def row(self, started):
        return next((row for row in self.list() if row["process"]["pid"] == started.pid), None)

    def until_switched(self, *started):
        """Waits until both have switchers, and their ranks run."""
        is_ready = lambda one: (row := self.row(one)) and row["switcher"] and self.ranks(one)  # noqa: E731
        assert until(lambda: all(map(is_ready, started))), self.list()

    def ranks(self, started):
        name = str(self.program)
        found = processes.with_token(started.token).items()
        return [pid for pid, line in found if line.startswith(name)]

    def stands_still(self, started):
        """Whether some process of the job is stopped or frozen."""
        groups = [row["group"] for row in [self.row(started)] if row and row["group"]]
        groups = groups or Path("/sys/fs/cgroup").glob(f"**/evenkeel-share-{started.pid}")
        events = [event for group in groups for event in Path(group).glob("ranks/**/cgroup.events")]
        states = [Path(f"/proc/{pid}/stat") for pid in self.ranks(started)]
        return any("frozen 1" in read(event) for event in events) or any(") T " in read(s) for s in states)

    def counter(self, job):
        return int.from_bytes((self.place / "shared").read_bytes()[32 + 8 * job :][:8], "little")

    def finish(self, started, code=0):
        out, err = started.communicate(timeout=PATIENCE_S)
        assert started.returncode == code, out + err
        assert "WRONG" not in out
        assert not processes.after_a_moment(started.token)
        return out, err

    def groups(self):
        """The control groups of these jobs that are left."""
        names = [f"**/evenkeel-share-{started.pid}" for started in self.all]
        return [group for name in names for group in Path("/sys/fs/cgroup").glob(name)]

    def end(self):
        """Kills what a test that has failed has left. Returns whether there was any."""
        running = [started for started in self.all if processes.with_token(started.token)]
        for started in running:
            processes.kill_all(started.token)
            started.communicate()
        return bool(running)


def read(path):
    try:
        return Path(path).read_text()
    except OSError:
        return ""  # it has ended


def removed(group):
    """Removes a control group with those in it. Whether that worked: processes may be ending."""
    with contextlib.suppress(OSError):
        for directory in sorted(group.glob("**/"), reverse=True):
            directory.rmdir()
    return not group.exists()


@pytest.fixture
def jobs(mpich, place):
    jobs = Jobs(mpich, place)
    yield jobs
    if jobs.end():
        # The processes that remove them have been killed.
        assert until(lambda: all(map(removed, jobs.groups()))), jobs.groups()
    else:
        assert not jobs.groups(), "a control group is left"


def overlap(jobs, options, launcher=("--launcher", "evenkeel")):
    """The part of the rounds of two jobs in which the other one has run, too; the switchers' sentences."""
    both = [jobs.start(job, 15000, options, launcher) for job in (0, 1)]
    outputs = [jobs.finish(started) for started in both]
    text = "".join(out for out, _ in outputs)
    found = re.findall(r"compared (\d+) overlaps (\d+) right", text)
    assert len(found) == 4, text
    compared = sum(int(compared) for compared, _ in found)
    return sum(int(overlaps) for _, overlaps in found) / compared, "".join(err for _, err in outputs)


def test_two_jobs_never_run_at_once(jobs, place, switch):
    together, said = overlap(jobs, ("--share", "--switch", switch))
    assert said.count(f"by {switch}") == 2, said
    (place / "shared").write_bytes(bytes(4096))
    without, said = overlap(jobs, ())
    assert "turns" not in said
    # In its turn a rank sees the other job once: when it has stood still itself.
    assert together < 0.1 and together < without / 3, (together, without)


def test_ranks_of_another_launcher_take_turns(jobs, place, switch):
    launcher = ("--launcher", jobs.mpi.mpirun)
    together, _ = overlap(jobs, ("--share", "--switch", switch), launcher)
    (place / "shared").write_bytes(bytes(4096))
    without, _ = overlap(jobs, (), launcher)
    assert together < 0.1 and together < without / 3, (together, without)


@pytest.mark.parametrize("victims", [("switcher",), ("warden",), ("warden", "switcher")], ids="+".join)
def test_ranks_run_on_when_what_switches_them_is_killed(jobs, switch, victims):
    both = [jobs.start(job, options=("--share", "--switch", switch, *LONG_SLOTS)) for job in (0, 1)]
    jobs.until_switched(*both)
    assert until(lambda: jobs.stands_still(both[0]))
    switcher = jobs.row(both[0])["switcher"]["pid"]
    warden = int(read(f"/proc/{switcher}/stat").rsplit(") ", 1)[1].split()[1])
    for pid in [{"switcher": switcher, "warden": warden}[victim] for victim in victims]:
        os.kill(pid, signal.SIGKILL)
    assert until(lambda: not jobs.stands_still(both[0]))
    assert until(lambda: jobs.row(both[0])["status"] == "unswitched")
    # It never stands still again, and neither does the other one, which has no partner to take turns with.
    before = [jobs.counter(job) for job in (0, 1)]
    assert until(lambda: all(jobs.counter(job) > before[job] + 1000 for job in (0, 1)))
    assert not any(map(jobs.stands_still, both))
    jobs.told.touch()
    for started in both:
        jobs.finish(started)


def test_a_job_that_is_killed_leaves_its_turns_to_the_other_one(jobs, switch):
    both = [jobs.start(job, options=("--share", "--switch", switch, *LONG_SLOTS)) for job in (0, 1)]
    jobs.until_switched(*both)
    assert until(lambda: jobs.stands_still(both[0]))
    both[0].kill()
    both[0].communicate()
    assert not processes.after_a_moment(both[0].token)
    assert until(lambda: len(jobs.list()) == 1)
    assert until(lambda: not jobs.stands_still(both[1]))
    jobs.told.touch()
    jobs.finish(both[1])


def test_ctrl_c_ends_a_job_that_stands_still(jobs, switch):
    both = [jobs.start(job, options=("--share", "--switch", switch, *LONG_SLOTS)) for job in (0, 1)]
    jobs.until_switched(*both)
    assert until(lambda: jobs.stands_still(both[0]))
    os.killpg(both[0].pid, signal.SIGINT)
    jobs.finish(both[0], code=-signal.SIGINT)
    jobs.told.touch()
    jobs.finish(both[1])


def test_a_job_that_a_person_stops_leaves_its_turns_to_the_other_one(jobs, switch):
    both = [jobs.start(job, options=("--share", "--switch", switch)) for job in (0, 1)]
    jobs.until_switched(*both)
    os.killpg(both[0].pid, signal.SIGSTOP)
    assert until(lambda: jobs.row(both[0])["status"] == "paused")
    assert until(lambda: all(") T " in read(f"/proc/{pid}/stat") for pid in jobs.ranks(both[0])))
    before = jobs.counter(0)
    assert until(lambda: not jobs.stands_still(both[1]))
    assert jobs.counter(0) == before
    os.killpg(both[0].pid, signal.SIGCONT)
    assert until(lambda: jobs.row(both[0])["status"] == "placed")
    jobs.told.touch()
    for started in both:
        jobs.finish(started)


def test_a_job_alone_is_not_switched(jobs):
    alone = jobs.start(0)
    jobs.until_switched(alone)
    jobs.told.touch()
    _, err = jobs.finish(alone)
    assert "turns" not in err


def test_the_state_between_turns_is_named(jobs, switch):
    options = ("--share", "--switch", switch, *LONG_SLOTS)
    both = [jobs.start(job, options=options, off=False) for job in (0, 1)]
    jobs.until_switched(*both)
    seen = []

    def is_named():
        lowest = min(jobs.ranks(both[0]))
        line = [EVENKEEL, "where", str(lowest)]
        seen[:] = [subprocess.run(line, capture_output=True, text=True, check=False)]
        return "waiting for its turn" in seen[0].stdout

    assert until(is_named), seen[0].stdout + seen[0].stderr
    assert "deadlock" not in seen[0].stdout
    listed = subprocess.run([EVENKEEL, "ps", "--json"], capture_output=True, text=True, check=True).stdout
    assert all(job["takes_turns"] for job in json.loads(listed) if str(jobs.program) in job["program"])
    jobs.told.touch()
    for started in both:
        jobs.finish(started)


def test_what_does_not_fit_in_memory_waits(jobs):
    total = int(re.search(r"MemTotal: +(\d+)", Path("/proc/meminfo").read_text()).group(1)) // 1024
    most = ("--share", "--memory", str(total * 3 // 4))
    first = jobs.start(0, options=most)
    jobs.until_switched(first)
    second = jobs.start(1, options=most)
    assert until(lambda: (row := jobs.row(second)) and row["status"] == "queued")
    assert not jobs.ranks(second)
    jobs.told.touch()
    jobs.finish(first)
    _, err = jobs.finish(second)
    assert "its position in the queue is 1" in err
    _, err = jobs.finish(jobs.start(0, options=("--share", "--memory", str(total + 1))), code=125)
    assert "this machine has" in err


@pytest.mark.parametrize("text", ["", "{", '{"version":7}', "[1,2]", "\0" * 100], ids=range(5))
def test_a_damaged_list_is_refused_with_a_sentence(jobs, place, text):
    alone = jobs.start(0)
    jobs.until_switched(alone)
    (place / "run").joinpath(next((place / "run").iterdir()).name, "damaged").write_text(text)
    folder = next((place / "run").iterdir())
    (folder / "damaged").rename(folder / "jobs.json")
    _, err = jobs.finish(jobs.start(1), code=125)
    assert err.startswith("evenkeel: cannot read the list of jobs"), err
    jobs.told.touch()
    _, err = jobs.finish(alone)
    assert "takes no turns any more" in err


def test_a_list_of_another_user_is_refused(jobs, place):
    namespace = os.stat("/proc/self/ns/pid").st_ino
    folder = place / "run" / f"evenkeel-share-{os.geteuid()}-{namespace}"
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)
    _, err = jobs.finish(jobs.start(0), code=125)
    assert "can be written by others" in err
    folder.rmdir()
    folder.symlink_to(place)
    _, err = jobs.finish(jobs.start(0), code=125)
    assert "is no directory" in err
    if os.geteuid() != 0:
        pytest.skip("only root can make files of other users")
    folder.unlink()
    folder.mkdir(mode=0o700)
    (folder / "jobs.json").write_text("{}")
    os.chown(folder / "jobs.json", 65534, 65534)
    _, err = jobs.finish(jobs.start(0), code=125)
    assert "belongs to user 65534" in err
    os.chown(folder, 65534, 65534)
    _, err = jobs.finish(jobs.start(0), code=125)
    assert "belongs to user 65534" in err


def test_other_hosts_are_refused(jobs):
    started = jobs.start(0, launcher=(), options=("--share", "--launcher-args", "-hosts a,b"))
    _, err = jobs.finish(started, code=125)
    assert "jobs take turns on the one machine" in err
