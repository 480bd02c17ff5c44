"""What the section `deferred` runs: the programs of apps/, and src/call.c, with deferred barriers and without.

A `Case` is a program with its parameters and what disturbs it; it runs in several *ways*: as one of evenkeel's `--barrier` modes, or
by the library alone. Case and way together are the `variant` of a row. Pure: nothing is started here.
"""

from dataclasses import dataclass

from .disturbance import COMPETITORS, DOUBLED, NOTHING, QUOTA_SET

AUTO, DEFERRED, STRICT, HOST = "auto", "deferred", "strict", "host"
# One library of each kind, in the setting that is best with more ranks than cores; evenkeel over each.
HOSTS = ("openmpi4-bound", "mpich5-one-session")
OURS = ("openmpi4-bound+evenkeel", "mpich5-one-session+evenkeel")
CALL_RANKS = (2, 4, 16, 64)
LOOP_RANKS, SCAN_RANKS, RADIX_RANKS, SMALL_RANKS = 16, 8, (8, 16), 8
MEANS_US = (100, 1000)


@dataclass(frozen=True)
class Case:
    name: str
    program: str
    arguments: tuple
    disturbance: str = NOTHING
    expected_s: float = 0.5  # beside starting and ending
    wait: str = ""  # evenkeel's --wait, if not its own choice
    limit_s: int = 25


def variant(case, way):
    return f"{case}: {way}"


def case_of(variant_):
    """
    >>> case_of(variant("scan, competitors", STRICT))
    ('scan, competitors', 'strict')
    """
    case, _, way = variant_.rpartition(": ")
    return case, way


CALL = Case("call", "call", ("--limit", 20), expected_s=0.3)


def loop(mean_us, with_barriers=True):
    """A turn of the app's computation is taken for 1.25 ns; what it was on this machine is measured with it."""
    mode, name = ("loop", "loop") if with_barriers else ("compute", "no barriers")
    count = {100: 500, 1000: 75}[mean_us]
    return Case(
        f"{name} {mean_us} µs",
        "barrier",
        (f"mode={mode}", f"count={count}", f"spin={mean_us * 800}", "random=yes", "check=3"),
        expected_s=count * mean_us * 1e-6 * LOOP_RANKS / 2 + 0.2,
    )


def _disturbed(name, program, arguments, expected_s):
    """On an idle machine, beside competitors, with twice the processes on half of the cores, with half of the cores' time."""
    return (
        Case(name, program, arguments, expected_s=expected_s),
        *(
            Case(f"{name}, {kind}", program, arguments, kind, 2.5 * expected_s)
            for kind in (COMPETITORS, DOUBLED, QUOTA_SET)
        ),
    )


SCAN, SCAN_DISTURBED, SCAN_DOUBLED, SCAN_QUOTA = _disturbed(
    "scan", "scan", ("algorithm=optimized", "n=1000000", "repeat=20"), 0.4
)
NAIVE = Case("naive scan", "scan", ("algorithm=naive", "n=4096", "repeat=20"), expected_s=0.4)
RADIX, RADIX_DISTURBED, RADIX_DOUBLED, RADIX_QUOTA = _disturbed(
    "radix", "radix", ("n=200000", "tree=flat", "exchange=smart"), 0.4
)
BLOCK = (
    Case(
        "barrier, blocking",
        "barrier",
        ("mode=loop", "count=1000", "spin=80000", "random=yes", "check=3"),
        wait="block",
    ),
    Case("scan, blocking", "scan", SCAN.arguments, wait="block"),
    Case("radix, blocking", "radix", RADIX.arguments, wait="block"),
)
# Small steps, and many of them: a run of a few milliseconds would be all start.
SMALL = (
    Case("small barrier", "barrier", ("mode=loop", "count=20000", "spin=1000", "check=3")),
    Case("small scan", "scan", ("algorithm=optimized", "n=20000", "repeat=4000")),
    Case("small naive scan", "scan", ("algorithm=naive", "n=1024", "repeat=800")),
    Case("small radix", "radix", ("n=800000", "key_bits=32")),
    Case("small cholesky", "cholesky", ("n=1200", "check=residual")),
    Case("small mg", "mg", ("grid=32", "iterations=300")),
)
# Between two ranks with a core each.
MESSAGES = {
    size: Case(
        f"messages of {said}", "pingpong", (f"from={size}", f"to={size}", f"count={count}"), expected_s=0.1
    )
    for size, said, count in (
        (8, "8 B", 2000),
        (1024, "1 KiB", 2000),
        (65536, "64 KiB", 100),
        (4 << 20, "4 MiB", 8),
    )
}


def runs(cores):
    """Groups of (case, ranks, ways): what is compared is in one group."""
    for ranks in CALL_RANKS:
        yield [(CALL, ranks, (DEFERRED, HOST) if ranks == CALL_RANKS[0] else (DEFERRED,))]
    for mean_us in MEANS_US:
        hosts = (
            (HOST,) if mean_us == MEANS_US[0] else ()
        )  # the longer one gains little: its library's own times say nothing new
        yield [
            (loop(mean_us), LOOP_RANKS, (AUTO, STRICT, *hosts)),
            (loop(mean_us, False), LOOP_RANKS, (AUTO, *hosts)),
        ]
    for case in (SCAN, SCAN_DISTURBED, SCAN_DOUBLED, SCAN_QUOTA, NAIVE):
        yield [(case, SCAN_RANKS, (DEFERRED, STRICT))]
    yield (
        [(case, ranks, (AUTO, HOST)) for case in (RADIX, RADIX_DISTURBED) for ranks in RADIX_RANKS]
        + [(RADIX_DISTURBED, ranks // 2, (DEFERRED,)) for ranks in RADIX_RANKS]
        + [(case, RADIX_RANKS[0], (AUTO, HOST)) for case in (RADIX_DOUBLED, RADIX_QUOTA)]
    )
    for case in BLOCK:
        yield [(case, 2 * cores, (DEFERRED, AUTO, STRICT))]
    for case in SMALL:
        yield [(case, SMALL_RANKS, (AUTO, STRICT))]
    for case in MESSAGES.values():
        yield [(case, 2, (AUTO, HOST))]


def environment(case, way):
    more = {} if way == HOST else {"EVENKEEL_BARRIER": way}
    return more | ({"EVENKEEL_WAIT": case.wait} if case.wait and way != HOST else {})
