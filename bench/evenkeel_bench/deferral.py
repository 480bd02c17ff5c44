"""The runs of the section `deferred`: programs of apps/ and src/call.c with several kinds of barriers.

Pure. A `Workload` is a program with its parameters and what disturbs it. It runs with several kinds of
barriers: one of evenkeel's `--barrier` modes, strict ones with implicit coscheduling (IMPLICIT), or the
library's own (HOST). Workload and barriers together are the `variant` of a row.
"""

from dataclasses import dataclass

from .disturbance import COMPETITORS, DOUBLED, NOTHING, QUOTA_SET

AUTO, DEFERRED, STRICT, HOST = "auto", "deferred", "strict", "host"
# Strict barriers in which ranks spin for the time of a wake-up, then sleep.
IMPLICIT = "implicit coscheduling"
# One library of each family, in its best setting for more ranks than cores; and evenkeel over each.
HOSTS = ("openmpi4-bound", "mpich5-one-session")
OURS = ("openmpi4-bound+evenkeel", "mpich5-one-session+evenkeel")
CALL_RANKS = (2, 4, 16, 64)
LOOP_RANKS, SCAN_RANKS, RADIX_RANKS, SMALL_RANKS = 16, 8, (8, 16), 8
MEANS_US = (100, 1000)


@dataclass(frozen=True)
class Workload:
    """A program with its parameters, and what disturbs it."""

    name: str
    program: str
    arguments: tuple
    disturbance: str = NOTHING
    expected_s: float = 0.5  # without starting and ending
    wait: str = ""  # evenkeel's --wait, if it is not to choose
    limit_s: int = 25

    def parameter(self, name):
        """A number among the arguments of the form name=number."""
        return int(dict(argument.split("=") for argument in self.arguments)[name])


def variant(workload_name, barriers):
    return f"{workload_name}: {barriers}"


def split_variant(text):
    """
    >>> split_variant(variant("scan, competitors", STRICT))
    ('scan, competitors', 'strict')
    """
    workload_name, _, barriers = text.rpartition(": ")
    return workload_name, barriers


CALL = Workload("call", "call", ("--limit", 20), expected_s=0.3)


def loop(mean_us, with_barriers=True):
    """Random computation between barriers, or the same without barriers.

    An iteration of the program's computation is taken for 1.25 ns; the run measures what it was on this
    machine.
    """
    mode, name = ("loop", "loop") if with_barriers else ("compute", "no barriers")
    count = {100: 500, 1000: 75}[mean_us]
    return Workload(
        f"{name} {mean_us} µs",
        "barrier",
        (f"mode={mode}", f"count={count}", f"spin={mean_us * 800}", "random=yes", "check=3"),
        expected_s=count * mean_us * 1e-6 * LOOP_RANKS / 2 + 0.2,
    )


def _with_disturbances(name, program, arguments, expected_s):
    """Idle machine; beside competitors; all ranks on half of the cores; with half of the cores' time."""
    return (
        Workload(name, program, arguments, expected_s=expected_s),
        *(
            Workload(f"{name}, {kind}", program, arguments, kind, 2.5 * expected_s)
            for kind in (COMPETITORS, DOUBLED, QUOTA_SET)
        ),
    )


SCAN, SCAN_DISTURBED, SCAN_DOUBLED, SCAN_QUOTA = _with_disturbances(
    "scan", "scan", ("algorithm=optimized", "n=1000000", "repeat=20"), 0.4
)
NAIVE = Workload("naive scan", "scan", ("algorithm=naive", "n=4096", "repeat=20"), expected_s=0.4)
RADIX, RADIX_DISTURBED, RADIX_DOUBLED, RADIX_QUOTA = _with_disturbances(
    "radix", "radix", ("n=200000", "tree=flat", "exchange=smart"), 0.4
)
BLOCK = (
    Workload(
        "barrier, blocking",
        "barrier",
        ("mode=loop", "count=1000", "spin=80000", "random=yes", "check=3"),
        wait="block",
    ),
    Workload("scan, blocking", "scan", SCAN.arguments, wait="block"),
    Workload("radix, blocking", "radix", RADIX.arguments, wait="block"),
)
# Small steps, but many of them: starting would take most of a run of a few milliseconds.
SMALL = (
    Workload("small barrier", "barrier", ("mode=loop", "count=20000", "spin=1000", "check=3")),
    Workload("small scan", "scan", ("algorithm=optimized", "n=20000", "repeat=4000")),
    Workload("small naive scan", "scan", ("algorithm=naive", "n=1024", "repeat=800")),
    Workload("small radix", "radix", ("n=800000", "key_bits=32")),
    Workload("small cholesky", "cholesky", ("n=1200", "check=residual")),
    Workload("small mg", "mg", ("grid=32", "iterations=300")),
)
# Between two ranks with a core each.
MESSAGES = {
    size: Workload(
        f"messages of {label}", "pingpong", (f"from={size}", f"to={size}", f"count={count}"), expected_s=0.1
    )
    for size, label, count in (
        (8, "8 B", 2000),
        (1024, "1 KiB", 2000),
        (65536, "64 KiB", 100),
        (4 << 20, "4 MiB", 8),
    )
}


def groups(cores):
    """Groups of (workload, ranks, kinds of barriers): what is compared with each other is in one group."""
    for ranks in CALL_RANKS:
        yield [(CALL, ranks, (DEFERRED, HOST) if ranks == CALL_RANKS[0] else (DEFERRED,))]
    for mean_us in MEANS_US:
        # With the longer computation the libraries' own times say nothing new.
        hosts = (HOST,) if mean_us == MEANS_US[0] else ()
        yield [
            (loop(mean_us), LOOP_RANKS, (AUTO, STRICT, *hosts)),
            (loop(mean_us, False), LOOP_RANKS, (AUTO, *hosts)),
        ]
    for workload in (SCAN, SCAN_DISTURBED, SCAN_DOUBLED, SCAN_QUOTA, NAIVE):
        yield [(workload, SCAN_RANKS, (DEFERRED, STRICT))]
    yield [
        *(
            (workload, ranks, (AUTO, STRICT, IMPLICIT, HOST))
            for workload in (RADIX, RADIX_DISTURBED)
            for ranks in RADIX_RANKS
        ),
        *((RADIX_DISTURBED, ranks // 2, (DEFERRED,)) for ranks in RADIX_RANKS),
        *((workload, RADIX_RANKS[0], (AUTO, HOST)) for workload in (RADIX_DOUBLED, RADIX_QUOTA)),
    ]
    for workload in BLOCK:
        yield [(workload, 2 * cores, (DEFERRED, AUTO, STRICT))]
    for workload in SMALL:
        yield [(workload, SMALL_RANKS, (AUTO, STRICT))]
    for workload in MESSAGES.values():
        yield [(workload, 2, (AUTO, HOST))]


def environment(workload, barriers):
    """What a run's ranks get in their environment."""
    if barriers == HOST:
        return {}
    if barriers == IMPLICIT:
        return {"EVENKEEL_BARRIER": STRICT, "EVENKEEL_WAIT": "spin-block"}
    return {"EVENKEEL_BARRIER": barriers} | ({"EVENKEEL_WAIT": workload.wait} if workload.wait else {})
