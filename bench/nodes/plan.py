"""The plan of the benchmark on several hosts: what runs where, how often, in which order. Pure.

Rounds are outermost. Every setting runs once in a round, in an order that a seeded generator draws.
"""

import random
from dataclasses import dataclass, field

OPERATIONS = (
    "barrier",
    "allreduce:8",
    "reduce:8",
    "bcast:8",
    "bcast:65536",
    "bcast:1048576",
    "gather:8",
    "alltoall:8",
)
# In the columns of the grid of hosts and ranks: one rank of each host.
IN_COLUMNS = ("barrier", "allreduce:8", "reduce:8", "bcast:8")
SECTIONS = ("collectives", "columns", "skew", "late", "traffic", "stopped", "idle", "floor", "multicast")
FLOOR = "floor"

# Strict barriers, as the libraries' are. Deferred ones are measured by the section `stopped`.
STRICT = {"EVENKEEL_BARRIER": "strict"}


@dataclass(frozen=True)
class Budget:
    """How much time goes where; `rounds` for the collectives, `other_rounds` for all other sections."""

    name: str
    rounds: int
    other_rounds: int
    cells: tuple  # (hosts, ranks on each)
    op_s: float  # measuring time for each operation of one run
    skew_s: float
    stopped_s: float  # about how long an undisturbed loop takes
    multicast_rounds: int


FULL = Budget("full", 4, 3, tuple((h, r) for h in (2, 4, 8) for r in (1, 2, 4)), 0.08, 1.5, 3.0, 5)
QUICK = Budget("quick", 2, 1, ((2, 1), (4, 1), (8, 1), (4, 2), (4, 4)), 0.05, 1.0, 2.5, 3)


@dataclass(frozen=True)
class Task:
    """One run of one program."""

    section: str
    setting: str
    hosts: int
    per_host: int
    program: str
    arguments: tuple
    limit_s: int
    expected_s: float
    variant: str = ""
    environment: dict = field(default_factory=dict, hash=False)

    def key(self):
        return (self.section, self.setting, self.hosts, self.per_host, self.variant)


def rounds(budget, settings, cores, seed=1, sections=SECTIONS):
    """List of rounds, each a list of `Task`."""
    generator = random.Random(seed)
    out = []
    for number in range(1, budget.rounds + 1):
        groups = [group for group in _groups(budget, settings, cores, number, sections) if group]
        generator.shuffle(groups)
        for group in groups:
            generator.shuffle(group)
        out.append([task for group in groups for task in group])
    return out


def start_s(setting, ranks):
    """About how long it takes to start and end so many ranks."""
    return {"openmpi5": 2.0, "impi": 2.3}.get(setting.library.name, 1.0) + 0.05 * ranks


def _groups(budget, settings, cores, number, sections):
    if "floor" in sections:
        yield [Task("floor", FLOOR, 2, 1, "tcp", (), 20, 2.0)]
    if "collectives" in sections:
        for hosts, per_host in budget.cells:
            yield [_collectives(budget, s, hosts, per_host) for s in settings]
    if "columns" in sections:
        for hosts, per_host in budget.cells:
            if per_host > 1:
                yield [_columns(budget, s, hosts, per_host) for s in settings]
    if number > budget.other_rounds:
        return
    if "skew" in sections:
        yield [_skew(budget, s, number) for s in settings]
    if "late" in sections:
        yield [_late(s) for s in settings]
    if "traffic" in sections:
        for per_host in (1, 2):
            yield [_traffic(s, per_host) for s in settings]
    if "stopped" in sections:
        yield [task for s in settings for task in _stopped(budget, s, cores)]
    if "idle" in sections:
        yield [_idle(s) for s in settings if s.is_evenkeel]


def _task(section, setting, hosts, per_host, arguments, limit_s, work_s, **more):
    """A task of this section that runs a program for about `work_s`."""
    program = {"skew": "reduce_skew", "idle": "late", "columns": "collectives"}.get(section, section)
    expected_s = start_s(setting, hosts * per_host) + work_s
    arguments = (*arguments, "--limit", limit_s)
    return Task(section, setting.name, hosts, per_host, program, arguments, limit_s, expected_s, **more)


def _collectives(budget, s, hosts, per_host):
    arguments = ("--ops", ",".join(OPERATIONS), "--cap", budget.op_s, "--budget", 8)
    work_s = 1.3 * budget.op_s * len(OPERATIONS)
    return _task("collectives", s, hosts, per_host, arguments, 15, work_s, environment=STRICT)


def _columns(budget, s, hosts, per_host):
    arguments = ("--ops", ",".join(IN_COLUMNS), "--parts", per_host, "--cap", budget.op_s, "--budget", 8)
    work_s = 1.3 * budget.op_s * len(IN_COLUMNS)
    return _task("columns", s, hosts, per_host, arguments, 15, work_s, environment=STRICT)


def _skew(budget, s, number):
    arguments = ("--skew", "1000", "--cap", f"{budget.skew_s:g}", "--seed", number)
    return _task("skew", s, 8, 1, arguments, 40, 1.3 * budget.skew_s, environment=STRICT)


def _late(s):
    arguments = ("--ops", "reduce:8,bcast:8", "--repeat", 1)
    return _task("late", s, 8, 1, arguments, 25, 1.2, environment=STRICT)


def _traffic(s, per_host):
    return _task("traffic", s, 4, per_host, (), 25, 0.5, environment=STRICT)


def _idle(s):
    arguments = ("--ops", "ibarrier", "--repeat", 1, "--delay", 2000)
    return _task("idle", s, 4, 1, arguments, 20, 2.3)


def _stopped(budget, s, cores, hosts=8, compute_us=1000):
    """The same loop undisturbed, and with h1's rank stopped now and then; evenkeel may defer barriers."""
    loops = int(budget.stopped_s * 1e6 * min(cores, hosts) / (hosts * compute_us))
    arguments = ("--loops", loops, "--compute", compute_us, "--limit", 60)
    environment = {"EVENKEEL_BARRIER": "auto"}
    expected_s = start_s(s, hosts) + budget.stopped_s * 1.4
    for variant, victim in (("undisturbed", ()), ("stopped", ("--victim", "h1"))):
        words = (*arguments, *victim)
        yield Task("stopped", s.name, hosts, 1, "stopped", words, 60, expected_s, variant, environment)


def expected_s(planned):
    """About how long all rounds take."""
    return sum(task.expected_s for tasks in planned for task in tasks)
