"""Disturbances of a run: other processes on its cores, half of its cores, or a quota of their time.

""             nothing
"competitors"  one busy process on each core (src/competitors.c)
"doubled"      all ranks on half of the cores: twice as many processes on each
"quota"        a control group that may use QUOTA of the cores' time; once it is used up, all ranks stop until
               the period is over
"""

import contextlib
import os
import time
from pathlib import Path

NOTHING, COMPETITORS, DOUBLED, QUOTA_SET = "", "competitors", "doubled", "quota"
KINDS = (NOTHING, COMPETITORS, DOUBLED, QUOTA_SET)
QUOTA, PERIOD_US = 0.5, 100_000


class DisturbanceError(Exception):
    """This machine does not allow a disturbance; the text says why."""


class Disturber:
    """Disturbs commands while it is open.

    Its control group is made when it is first needed, and removed at the end.
    """

    def __init__(self, competitors):
        """`competitors`: path of the program of this name."""
        self.competitors, self.group, self.error = competitors, None, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for _ in range(50):
            if self.group is None:
                return
            try:
                self.group.rmdir()
                self.group = None
            except OSError:
                time.sleep(0.1)  # a rank that was killed has not ended yet

    def command(self, kind, command):
        """The command that runs `command` with this disturbance. Raises DisturbanceError."""
        command = [str(word) for word in command]
        cores = sorted(os.sched_getaffinity(0))
        if kind == COMPETITORS:
            return [str(self.competitors), "1", *command]
        if kind == DOUBLED:
            return ["taskset", "-c", ",".join(map(str, half(cores))), *command]
        if kind == QUOTA_SET:
            procs = str(self._group(len(cores)) / "cgroup.procs")
            return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', procs, *command]
        return command

    def _group(self, cores):
        if self.group is None and self.error is None:
            try:
                self.group = make_group(round(QUOTA * cores * PERIOD_US))
            except DisturbanceError as error:
                self.error = error
        if self.error is not None:
            raise self.error
        return self.group


def half(cores):
    """
    >>> half([0, 1]), half([0, 1, 2]), half([5])
    ([0], [0, 1], [5])
    """
    return cores[: (len(cores) + 1) // 2]


def own_groups(cgroup, mountinfo):
    """This process's control groups that could have a CPU quota: (version, directory), version 1 first.

    Where both versions are mounted, the controller belongs to version 1. `cgroup` and `mountinfo` are the
    texts of these files in /proc/self.

    >>> v1 = "30 2 0:1 / /sys/cpu rw - cgroup cgroup rw,cpu,cpuacct"
    >>> v2 = "31 2 0:2 /b /sys/u rw - cgroup2 cgroup2 rw"
    >>> own_groups("1:cpu,cpuacct:/a\\n0::/b", v1 + "\\n" + v2)
    [(1, '/sys/cpu/a'), (2, '/sys/u')]
    """
    paths = {}
    for line in cgroup.splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            paths[2] = path
        elif "cpu" in controllers.split(","):
            paths[1] = path
    found = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        root, mounted = before.split()[3:5]
        version = 2 if kind == "cgroup2" else 1 if kind == "cgroup" and "cpu" in options.split(",") else None
        if version in paths and (paths[version] + "/").startswith(root.rstrip("/") + "/"):
            below = paths[version][len(root.rstrip("/")) :].strip("/")
            found.append((version, f"{mounted}/{below}".rstrip("/")))
    return sorted(found)


def make_group(quota_us):
    """A group below this process's own that may use so many µs of each period, on all cores together."""
    own = Path("/proc/self")
    reasons = []
    for version, directory in own_groups((own / "cgroup").read_text(), (own / "mountinfo").read_text()):
        group = Path(directory) / f"evenkeel-bench-{os.getpid()}"
        try:
            if version == 2:
                (Path(directory) / "cgroup.subtree_control").write_text("+cpu")
            group.mkdir()
            if version == 2:
                (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
            else:
                (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
                (group / "cpu.cfs_quota_us").write_text(str(quota_us))
            return group
        except OSError as error:
            reasons.append(f"{error.filename}: {error.strerror}")
            with contextlib.suppress(OSError):
                group.rmdir()
    why = "; ".join(reasons) or "none are mounted"
    raise DisturbanceError(f"no control group with a CPU quota can be made here: {why}")
