"""What study.py has kept of its rounds: `record["rounds"]` is a list of key of a run → numbers. Pure."""

from evenkeel_bench.disturbance import COMPETITORS, NOTHING

from . import plan
from .plan import DEFERRED, HOST, RESPONSIVE, STRICT

NAMES = {HOST: "Open MPI", STRICT: "evenkeel, strict", DEFERRED: "evenkeel, deferred"}
WHEN = {RESPONSIVE: "responsive", NOTHING: "idle machine", COMPETITORS: "a busy process on each core"}


def values(rounds, run, name):
    """One number of each round that has it."""
    found = [r.get(run.key(), {}).get(name) for r in rounds]
    return [v for v in found if v is not None]


def slow_points(rounds, runs):
    """(iterations, ranks, fraction of slow barriers) of each run of barrier.c in each round."""
    return [
        (run.computed_us * plan.ITERATIONS_PER_US, run.ranks, slow)
        for run in runs
        for slow in values(rounds, run, "slow")
    ]
