"""What barrier_noise measures: programs of apps/, kinds of barriers, and what disturbs them. Pure."""

from dataclasses import dataclass

from evenkeel_bench.disturbance import COMPETITORS, NOTHING

# High priority: as close to ranks that always respond as a machine without a spare core comes.
RESPONSIVE = "responsive"
HOST, STRICT, DEFERRED = "host", "strict", "deferred"
BARRIERS = (HOST, STRICT, DEFERRED)
CONDITIONS = (RESPONSIVE, NOTHING, COMPETITORS)

LIBRARY = "openmpi4-bound"
ITERATIONS_PER_US = 800  # of barrier.c's computation; what it takes on this machine is measured
COMPUTED_US = (0, 10, 30, 100, 300, 1000, 3000, 10000)
# More ranks than cores take turns, so barriers are slow for another reason than noise.
FEW_COMPUTED_US = (10, 100, 1000, 10000)
SCAN_RANKS, MG_RANKS, MG_ROUNDS = 8, 8, 3
MOST_BARRIERS, COMPUTED_S = 4000, 0.4


@dataclass(frozen=True)
class Run:
    """One program with one kind of barriers."""

    program: str
    ranks: int
    barriers: str
    condition: str
    arguments: tuple
    computed_us: int = 0
    limit_s: int = 60

    def key(self):
        return f"{self.program} {self.ranks} {self.barriers} {self.condition or 'idle'} {self.computed_us}"

    def environment(self):
        """Of the ranks. barrier.c reads the clock around each barrier, and compares no ranks' times."""
        free = {"EVENKEEL_CLOCK": "free"} if self.program == "barrier" else {}
        return {} if self.barriers == HOST else {"EVENKEEL_BARRIER": self.barriers} | free


def barrier(ranks, barriers, condition, computed_us):
    """
    >>> barrier(2, HOST, NOTHING, 1000).arguments
    ('mode=barrier', 'count=400', 'spin=800000', 'check=3')
    """
    count = round(min(MOST_BARRIERS, max(20, COMPUTED_S * 1e6 / max(1, computed_us))))
    arguments = (
        "mode=barrier",
        f"count={count}",
        f"spin={computed_us * ITERATIONS_PER_US}",
        "check=3",
    )
    return Run("barrier", ranks, barriers, condition, arguments, computed_us)


def scan(barriers, condition):
    arguments = ("algorithm=optimized", "n=1000000", "repeat=20", "per_rank=yes")
    return Run("scan", SCAN_RANKS, barriers, condition, arguments)


def mg(barriers, condition):
    arguments = ("grid=256", "iterations=4", "check=nas", "histogram=yes")
    return Run("mg", MG_RANKS, barriers, condition, arguments, limit_s=300)


def one_round(number, cores):
    """All runs of a round, those that are compared next to each other."""
    for condition in CONDITIONS:
        for us in COMPUTED_US:
            yield from (barrier(cores, kind, condition, us) for kind in BARRIERS)
    for ranks in (2 * cores, 4 * cores):
        for us in FEW_COMPUTED_US:
            yield from (barrier(ranks, kind, NOTHING, us) for kind in BARRIERS)
    for condition in CONDITIONS:
        yield from (scan(kind, condition) for kind in BARRIERS)
    if number <= MG_ROUNDS:
        for condition in (NOTHING, COMPETITORS):
            yield from (mg(kind, condition) for kind in BARRIERS)
