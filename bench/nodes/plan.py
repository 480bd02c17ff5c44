"""What is run on how many hosts, how often and in which order: rounds outermost, every setting once a round, order by a seeded generator. Pure."""

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
SECTIONS = ("collectives", "skew", "late", "traffic", "stopped", "idle", "floor", "multicast")
FLOOR = "floor"


@dataclass(frozen=True)
class Mode:
    """How much time goes where; `rounds` for the collectives, `other_rounds` for all other sections."""

    name: str
    rounds: int
    other_rounds: int
    cells: tuple  # (hosts, ranks on each)
    op_s: float  # measuring time for each operation of one run
    skew_s: float
    stopped_s: float  # about how long an undisturbed loop takes
    multicast_rounds: int


FULL = Mode("full", 4, 3, tuple((h, r) for h in (2, 4, 8) for r in (1, 2, 4)), 0.08, 1.5, 3.0, 5)
QUICK = Mode("quick", 2, 1, ((2, 1), (4, 1), (8, 1), (4, 2), (4, 4)), 0.05, 1.0, 2.5, 3)


@dataclass(frozen=True)
class Task:
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


def rounds(mode, settings, cores, seed=1, sections=SECTIONS):
    """List of rounds, each a list of `Task`."""
    generator = random.Random(seed)
    out = []
    for number in range(1, mode.rounds + 1):
        groups = [group for group in _groups(mode, settings, cores, number, sections) if group]
        generator.shuffle(groups)
        for group in groups:
            generator.shuffle(group)
        out.append([task for group in groups for task in group])
    return out


def start_s(setting, ranks):
    return {"openmpi5": 2.0, "impi": 2.3}.get(setting.library.name, 1.0) + 0.05 * ranks


def _groups(mode, settings, cores, number, sections):
    if "floor" in sections:
        yield [Task("floor", FLOOR, 2, 1, "tcp", (), 20, 2.0)]
    if "collectives" in sections:
        for hosts, per_host in mode.cells:
            yield [_collectives(mode, s, hosts, per_host) for s in settings]
    if number > mode.other_rounds:
        return
    if "skew" in sections:
        yield [_skew(mode, s, number) for s in settings]
    if "late" in sections:
        yield [
            Task(
                "late",
                s.name,
                8,
                1,
                "late",
                ("--ops", "reduce:8,bcast:8", "--repeat", 1, "--limit", 25),
                25,
                start_s(s, 8) + 1.2,
                environment=STRICT,
            )
            for s in settings
        ]
    if "traffic" in sections:
        for per_host in (1, 2):
            yield [
                Task(
                    "traffic",
                    s.name,
                    4,
                    per_host,
                    "traffic",
                    ("--limit", 25),
                    25,
                    start_s(s, 4 * per_host) + 0.5,
                    environment=STRICT,
                )
                for s in settings
            ]
    if "stopped" in sections:
        yield [task for s in settings for task in _stopped(mode, s, cores)]
    if "idle" in sections:
        yield [
            Task(
                "idle",
                s.name,
                4,
                1,
                "late",
                ("--ops", "ibarrier", "--repeat", 1, "--delay", 2000, "--limit", 20),
                20,
                start_s(s, 4) + 2.3,
            )
            for s in settings
            if s.is_evenkeel
        ]


# Barriers that wait, as the libraries' do; what deferring them brings is the section `stopped`.
STRICT = {"EVENKEEL_BARRIER": "strict"}


def _collectives(mode, s, hosts, per_host):
    arguments = ("--ops", ",".join(OPERATIONS), "--cap", mode.op_s, "--budget", 8, "--limit", 15)
    return Task(
        "collectives",
        s.name,
        hosts,
        per_host,
        "collectives",
        arguments,
        15,
        start_s(s, hosts * per_host) + 1.3 * mode.op_s * len(OPERATIONS),
        environment=STRICT,
    )


def _skew(mode, s, number):
    arguments = ("--skew", "1000", "--cap", f"{mode.skew_s:g}", "--seed", number, "--limit", 40)
    return Task(
        "skew",
        s.name,
        8,
        1,
        "reduce_skew",
        arguments,
        40,
        start_s(s, 8) + 1.3 * mode.skew_s,
        environment=STRICT,
    )


def _stopped(mode, s, cores, hosts=8, compute_us=1000):
    """The same loop undisturbed and with h1's rank stopped now and then; evenkeel with barriers that may be left pending."""
    loops = int(mode.stopped_s * 1e6 * min(cores, hosts) / (hosts * compute_us))
    environment = {"EVENKEEL_BARRIER": "auto"}
    for variant, victim in (("undisturbed", ""), ("stopped", "h1")):
        arguments = (
            "--loops",
            loops,
            "--compute",
            compute_us,
            "--limit",
            60,
            *(("--victim", victim) if victim else ()),
        )
        yield Task(
            "stopped",
            s.name,
            hosts,
            1,
            "stopped",
            arguments,
            60,
            start_s(s, hosts) + mode.stopped_s * 1.4,
            variant,
            environment,
        )


def expected_s(planned):
    return sum(task.expected_s for tasks in planned for task in tasks)
