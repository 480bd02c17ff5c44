"""The plan of a benchmark: which programs run, how often, in which order. Pure: nothing is started here.

Rounds are outermost. Every configuration runs once in a round, in an order that a seeded generator draws.
Within a round the runs of one group (the same operations and number of ranks) follow each other, the floor
among them, so that a ratio compares runs that were made under the same conditions.
"""

import random
from dataclasses import dataclass, field

from . import deferral

OPERATIONS = (
    "barrier",
    "allreduce:8",
    "allreduce:32768",
    "reduce:8",
    "reduce:1024",
    "bcast:8",
    "bcast:65536",
)
SECTIONS = ("collectives", "separator", "skew", "late", "compute", "record")
ON_REQUEST = ("deferred",)  # sections that are only run if they are asked for
SKEWS_US = (0, 1000)
FLOOR = "floor"
SPINS = "left out: spins, up to a second a call"


@dataclass(frozen=True)
class Budget:
    """How much time goes where. Rounds of a section beyond `rounds` are not run."""

    name: str
    rounds: int
    ranks: tuple
    op_s: float  # measuring time for each operation of one run
    floor_s: float
    skew_s: dict  # skew in µs → measuring time
    section_rounds: dict  # sections that are measured in fewer rounds
    configurations: tuple = ()  # without "+evenkeel"; empty: all
    skew_ranks: int = 16
    late_ranks: tuple = (3, 4, 8)


FULL = Budget("full", 5, (2, 4, 8, 16, 32), 0.05, 0.1, {0: 1.0, 1000: 2.5}, {"late": 3, "separator": 3})
QUICK = Budget(
    "quick",
    2,
    (2, 4, 8, 16, 32),
    0.025,
    0.06,
    {0: 0.5, 1000: 1.5},
    {"late": 1, "separator": 0, "skew": 1},
    ("openmpi4-bound", "mpich5", "mpich5-one-session", "impi"),
)

# evenkeel is measured over each of these: over another setting of the same library it is the same engine.
EVENKEEL_OVER = ("openmpi4-bound", "openmpi5-bound", "mpich4", "mpich5", "mpich5-one-session", "impi")
# Reductions under skew: the settings that yield, and evenkeel over one library of each family.
SKEW = (
    "openmpi4-bound",
    "openmpi5-bound",
    "mpich5-one-session",
    "impi",
    "openmpi4-bound+evenkeel",
    "mpich5+evenkeel",
)
LATE = (
    "openmpi4-bound",
    "openmpi5-bound",
    "mpich5-one-session",
    "impi",
    "openmpi4-bound+evenkeel",
    "openmpi5-bound+evenkeel",
    "mpich5+evenkeel",
    "impi+evenkeel",
)
COMPUTE = ("openmpi4-bound", "mpich5")
SEPARATOR = ("openmpi4-bound", "mpich5-one-session", "impi", "openmpi4-bound+evenkeel", "mpich5+evenkeel")
RECORD = ("openmpi4-bound+evenkeel", "mpich5+evenkeel")


@dataclass(frozen=True)
class Task:
    """One run of one program."""

    section: str
    configuration: str
    ranks: int
    program: str
    arguments: tuple
    limit_s: int
    expected_s: float
    variant: str = ""  # distinguishes runs of the same section, configuration and ranks
    environment: dict = field(default_factory=dict, hash=False)
    disturbance: str = ""  # one of disturbance.KINDS
    wants_report: bool = False  # evenkeel's own report of the run is read afterwards
    left_out: tuple = ()  # operations of the section that this run leaves out, and why
    why_left_out: str = ""

    def key(self):
        return (self.section, self.configuration, self.ranks, self.variant)


def chosen(budget, configurations, only_configurations=()):
    """The configurations that are measured within this budget."""
    names = []
    for c in configurations:
        base = c.name.removesuffix("+evenkeel")
        if only_configurations:
            wanted = any(c.name == o or base == o for o in only_configurations)
        else:
            wanted = (not budget.configurations or base in budget.configurations) and (
                not c.evenkeel or base in EVENKEEL_OVER
            )
        if wanted:
            names.append(c)
    return names


def rounds(budget, configurations, cores, seed=1, sections=SECTIONS, only_configurations=()):
    """List of rounds, each a list of `Task` in the order in which they are to be run."""
    configurations = chosen(budget, configurations, only_configurations)
    generator = random.Random(seed)
    out = []
    for number in range(1, budget.rounds + 1):
        groups = [g for g in _groups(budget, configurations, cores, number, sections) if g]
        generator.shuffle(groups)
        for group in groups:
            generator.shuffle(group)
        out.append([task for group in groups for task in group])
    return out


def _groups(budget, configurations, cores, number, sections):
    by_name = {c.name: c for c in configurations}

    def is_due(section):
        return section in sections and number <= budget.section_rounds.get(section, budget.rounds)

    def among(names):
        return [by_name[n] for n in names if n in by_name]

    if is_due("collectives"):
        for ranks in budget.ranks:
            yield [
                _floor(budget, ranks),
                *(t for c in configurations for t in _collectives(budget, c, ranks, cores, number)),
            ]
    if is_due("separator"):
        yield [_separator(budget, c) for c in among(SEPARATOR)]
    if is_due("skew"):
        yield [_skew(budget, c, number) for c in among(SKEW)]
    if is_due("late"):
        for ranks in budget.late_ranks:
            yield [_late(c, ranks) for c in among(LATE)]
    if is_due("compute"):
        for name in COMPUTE:
            pair = among((name, f"{name}+evenkeel"))
            if len(pair) == 2:
                yield [_compute(c, turn) for c in pair for turn in (1, 2)]
    if is_due("record"):
        for c in among(RECORD):
            yield [_record(budget, c, on, turn) for on in (0, 1) for turn in (1, 2)]
    if is_due("deferred"):
        ours, hosts = among(deferral.OURS), among(deferral.HOSTS)
        for group in deferral.groups(cores):
            yield [
                _deferred(c, workload, ranks, barriers)
                for workload, ranks, modes in group
                for barriers in modes
                for c in (hosts if barriers == deferral.HOST else ours)
            ]


def start_s(c, ranks):
    """About how long it takes to start and end so many ranks."""
    return c.start_s + 0.03 * ranks


def _floor(budget, ranks):
    return Task(
        "collectives",
        FLOOR,
        ranks,
        "floor",
        ("--ranks", ranks, "--cap", budget.floor_s),
        10,
        budget.floor_s * 3.2,
    )


def _collectives(budget, c, ranks, cores, number):
    operations, limit_s, left_out = OPERATIONS, 10, ()
    slow = c.spins and ranks > cores
    if slow:
        if number > 2 and ranks != 16:
            return  # a call takes tens of milliseconds: two rounds say enough, except of 16 ranks
        operations, limit_s = ("barrier", "allreduce:8"), 2
        left_out = tuple(op for op in OPERATIONS if op not in operations)
    expected = start_s(c, ranks) + (ranks * 0.12 if slow else len(operations) * budget.op_s * 1.25)
    yield Task(
        "collectives",
        c.name,
        ranks,
        "collectives",
        ("--ops", ",".join(operations), "--cap", budget.op_s, "--budget", limit_s, "--limit", 25),
        25,
        expected,
        wants_report=bool(c.evenkeel),
        left_out=left_out,
        why_left_out=SPINS,
    )


def _separator(budget, c):
    operations = OPERATIONS[1:]
    measuring = ("--cap", budget.op_s, "--budget", 10)
    return Task(
        "separator",
        c.name,
        16,
        "collectives",
        ("--separator", "mpi", "--ops", ",".join(operations), *measuring, "--limit", 25),
        25,
        start_s(c, 16) + len(operations) * budget.op_s * 1.25,
        "mpi",
    )


def _skew(budget, c, number):
    skews = SKEWS_US
    cap = ",".join(f"{budget.skew_s[s]:g}" for s in skews)
    return Task(
        "skew",
        c.name,
        budget.skew_ranks,
        "reduce_skew",
        ("--skew", ",".join(map(str, skews)), "--cap", cap, "--seed", number, "--limit", 40),
        40,
        start_s(c, 16) + sum(budget.skew_s[s] for s in skews) * 1.1,
    )


def _late(c, ranks):
    operations = "ibarrier" if ranks == 3 else "ibarrier,reduce:8,bcast:8"
    turns = {3: 0, 4: 3, 8: 4}.get(ranks, 5)
    return Task(
        "late",
        c.name,
        ranks,
        "late",
        ("--ops", operations, "--repeat", 1, "--limit", 20),
        20,
        start_s(c, ranks) + 0.12 * (1 + 2 * turns),
    )


def _compute(c, turn):
    return Task("compute", c.name, 2, "compute", ("--limit", 20), 20, start_s(c, 2) + 0.2, f"turn {turn}")


def _record(budget, c, on, turn):
    return Task(
        "record",
        c.name,
        16,
        "collectives",
        ("--ops", "barrier", "--cap", max(0.2, 4 * budget.op_s), "--limit", 20),
        20,
        start_s(c, 16) + 0.4,
        f"record={on}, turn {turn}",
        {"EVENKEEL_RECORD": str(on)},
    )


def _deferred(c, workload, ranks, barriers):
    return Task(
        "deferred",
        c.name,
        ranks,
        workload.program,
        workload.arguments,
        workload.limit_s,
        start_s(c, ranks) + workload.expected_s,
        deferral.variant(workload.name, barriers),
        deferral.environment(workload, barriers),
        workload.disturbance,
        wants_report=bool(c.evenkeel),
    )


def expected_s(planned):
    """About how long all rounds take."""
    return sum(task.expected_s for tasks in planned for task in tasks)
