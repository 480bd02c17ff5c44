"""What is run, how often and in which order: rounds outermost, every configuration once a round, order by a seeded generator.

Within a round the runs of one group (the same operation and number of ranks) follow each other, the floor among them, so
that a ratio compares minutes of the same weather. Pure: nothing is started here.
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
class Mode:
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


FULL = Mode("full", 5, (2, 4, 8, 16, 32), 0.05, 0.1, {0: 1.0, 1000: 2.5}, {"late": 3, "separator": 3})
QUICK = Mode(
    "quick",
    2,
    (2, 4, 8, 16, 32),
    0.025,
    0.06,
    {0: 0.5, 1000: 1.5},
    {"late": 1, "separator": 0, "skew": 1},
    ("openmpi4-bound", "mpich5", "mpich5-one-session", "impi"),
)

# Evenkeel over each of these: the same engine over another setting of the same library says nothing new.
EVENKEEL_OVER = ("openmpi4-bound", "openmpi5-bound", "mpich4", "mpich5", "mpich5-one-session", "impi")
# Reductions under skew: the settings that yield, and evenkeel over one library of each kind.
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
    section: str
    configuration: str
    ranks: int
    program: str
    arguments: tuple
    limit_s: int
    expected_s: float
    variant: str = ""  # what sets it apart from other runs of the same section, configuration and ranks
    environment: dict = field(default_factory=dict, hash=False)
    disturbance: str = ""  # one of disturbance.KINDS
    wants_report: bool = False  # evenkeel's run record is read afterwards
    left_out: tuple = ()  # operations of the section that this run leaves out, and why
    why_left_out: str = ""

    def key(self):
        return (self.section, self.configuration, self.ranks, self.variant)


def chosen(mode, configurations, only_configurations=()):
    """The configurations that this mode measures at all."""
    names = []
    for c in configurations:
        base = c.name.removesuffix("+evenkeel")
        if only_configurations:
            wanted = any(c.name == o or base == o for o in only_configurations)
        else:
            wanted = (not mode.configurations or base in mode.configurations) and (
                not c.evenkeel or base in EVENKEEL_OVER
            )
        if wanted:
            names.append(c)
    return names


def rounds(mode, configurations, cores, seed=1, sections=SECTIONS, only_configurations=()):
    """List of rounds, each a list of `Task` in the order in which they are to be run."""
    configurations = chosen(mode, configurations, only_configurations)
    generator = random.Random(seed)
    out = []
    for number in range(1, mode.rounds + 1):
        groups = [g for g in _groups(mode, configurations, cores, number, sections) if g]
        generator.shuffle(groups)
        for group in groups:
            generator.shuffle(group)
        out.append([task for group in groups for task in group])
    return out


def _groups(mode, configurations, cores, number, sections):
    by_name = {c.name: c for c in configurations}

    def within(section):
        return section in sections and number <= mode.section_rounds.get(section, mode.rounds)

    def among(names):
        return [by_name[n] for n in names if n in by_name]

    if within("collectives"):
        for ranks in mode.ranks:
            yield [
                _floor(mode, ranks),
                *(t for c in configurations for t in _collectives(mode, c, ranks, cores, number)),
            ]
    if within("separator"):
        yield [_separator(mode, c) for c in among(SEPARATOR)]
    if within("skew"):
        yield [_skew(mode, c, number) for c in among(SKEW)]
    if within("late"):
        for ranks in mode.late_ranks:
            yield [_late(c, ranks) for c in among(LATE)]
    if within("compute"):
        for name in COMPUTE:
            pair = among((name, f"{name}+evenkeel"))
            if len(pair) == 2:
                yield [_compute(c, turn) for c in pair for turn in (1, 2)]
    if within("record"):
        for c in among(RECORD):
            yield [_record(mode, c, on, turn) for on in (0, 1) for turn in (1, 2)]
    if within("deferred"):
        ours, hosts = among(deferral.OURS), among(deferral.HOSTS)
        for runs in deferral.runs(cores):
            yield [
                _deferred(c, case, ranks, way)
                for case, ranks, ways in runs
                for way in ways
                for c in (hosts if way == deferral.HOST else ours)
            ]


def start_s(c, ranks):
    """About what it takes to start and end."""
    return c.start_s + 0.03 * ranks


def _floor(mode, ranks):
    return Task(
        "collectives",
        FLOOR,
        ranks,
        "floor",
        ("--ranks", ranks, "--cap", mode.floor_s),
        10,
        mode.floor_s * 3.2,
    )


def _collectives(mode, c, ranks, cores, number):
    operations, budget, left_out = OPERATIONS, 10, ()
    slow = c.spins and ranks > cores
    if slow:
        if number > 2 and ranks != 16:
            return  # tens of milliseconds a call: the first two rounds say enough, but the targets want 16 ranks
        operations, budget = ("barrier", "allreduce:8"), 2
        left_out = tuple(op for op in OPERATIONS if op not in operations)
    expected = start_s(c, ranks) + (ranks * 0.12 if slow else len(operations) * mode.op_s * 1.25)
    yield Task(
        "collectives",
        c.name,
        ranks,
        "collectives",
        ("--ops", ",".join(operations), "--cap", mode.op_s, "--budget", budget, "--limit", 25),
        25,
        expected,
        wants_report=bool(c.evenkeel),
        left_out=left_out,
        why_left_out=SPINS,
    )


def _separator(mode, c):
    operations = OPERATIONS[1:]
    return Task(
        "separator",
        c.name,
        16,
        "collectives",
        (
            "--separator",
            "mpi",
            "--ops",
            ",".join(operations),
            "--cap",
            mode.op_s,
            "--budget",
            10,
            "--limit",
            25,
        ),
        25,
        start_s(c, 16) + len(operations) * mode.op_s * 1.25,
        "mpi",
    )


def _skew(mode, c, number):
    skews = SKEWS_US
    cap = ",".join(f"{mode.skew_s[s]:g}" for s in skews)
    return Task(
        "skew",
        c.name,
        mode.skew_ranks,
        "reduce_skew",
        ("--skew", ",".join(map(str, skews)), "--cap", cap, "--seed", number, "--limit", 40),
        40,
        start_s(c, 16) + sum(mode.skew_s[s] for s in skews) * 1.1,
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


def _record(mode, c, on, turn):
    return Task(
        "record",
        c.name,
        16,
        "collectives",
        ("--ops", "barrier", "--cap", max(0.2, 4 * mode.op_s), "--limit", 20),
        20,
        start_s(c, 16) + 0.4,
        f"record={on}, turn {turn}",
        {"EVENKEEL_RECORD": str(on)},
    )


def _deferred(c, case, ranks, way):
    return Task(
        "deferred",
        c.name,
        ranks,
        case.program,
        case.arguments,
        case.limit_s,
        start_s(c, ranks) + case.expected_s,
        deferral.variant(case.name, way),
        deferral.environment(case, way),
        case.disturbance,
        wants_report=bool(c.evenkeel),
    )


def expected_s(planned):
    return sum(task.expected_s for tasks in planned for task in tasks)
