"""The equations that S. Pakin's thesis (2001) fits to barriers and prefix scans. Pure.

Slow barriers (equation 5.1): of barriers between computations of d iterations each, on P ranks, the fraction

    s(d, P) = d / (d P / (P - 1) + alpha / P)

takes longer than 15 lg P µs. It tends to (P - 1) / P: one rank, the last one, does not wait.

Prefix scan (5.2, 5.3): with T for one pass over a rank's elements, rank p is ready after

    (1 + ceil(lg(p + 1))) T                 if no barrier holds it up,
    ceil(lg P) T, or T more for p >= P / 2   if barriers wait for all ranks.
"""

import random
from math import ceil, exp, log, log2

RESAMPLES = 400


def slow_fraction(iterations, ranks, alpha):
    """
    >>> slow_fraction(10**12, 4, 1.9e6).__round__(3)
    0.75
    """
    return iterations / (iterations * ranks / (ranks - 1) + alpha / ranks) if iterations else 0.0


def fit_alpha(points):
    """The alpha with the least squares over points (iterations, ranks, fraction), and R².

    >>> alpha, r2 = fit_alpha([(d, 8, slow_fraction(d, 8, 5e4)) for d in (100, 10_000, 1_000_000)])
    >>> round(alpha), round(r2, 6)
    (50000, 1.0)
    """

    def squares(alpha):
        return sum((s - slow_fraction(d, p, alpha)) ** 2 for d, p, s in points)

    exponent = _least(lambda x: squares(exp(x)), log(1.0), log(1e12))
    return exp(exponent), r_squared([s for *_, s in points], squares(exp(exponent)))


def _least(function, low, high):
    """Where a function is least: the best of a grid, refined between its neighbours."""
    for _ in range(12):
        step = (high - low) / 40
        best = min((low + i * step for i in range(41)), key=function)
        low, high = best - step, best + step
    return (low + high) / 2


def passes(ranks, waits_for_all):
    """Passes over the elements until each rank is ready.

    >>> passes(8, True), passes(8, False)
    ([3, 3, 3, 3, 4, 4, 4, 4], [1, 2, 3, 3, 4, 4, 4, 4])
    """
    steps = ceil(log2(ranks))
    if waits_for_all:
        return [steps + (2 * p >= ranks) for p in range(ranks)]
    return [1 + ceil(log2(p + 1)) for p in range(ranks)]


def fit_pass(times, counts):
    """T with the least squares for times of `counts` passes, and R².

    >>> fit_pass([3.0, 6.0], [1, 2])
    (3.0, 1.0)
    """
    t = sum(x * k for x, k in zip(times, counts, strict=True)) / sum(k * k for k in counts)
    return t, r_squared(times, sum((x - k * t) ** 2 for x, k in zip(times, counts, strict=True)))


def r_squared(values, squares):
    """1 less the unexplained share of the variance; None if there is no variance."""
    mean = sum(values) / len(values)
    total = sum((v - mean) ** 2 for v in values)
    return 1 - squares / total if total > 0 else None


def interval(rounds, estimate, seed=1):
    """The middle 95% of an estimate over rounds that are drawn anew with replacement.

    >>> interval([1.0, 2.0, 3.0], max)
    (1.0, 3.0)
    """
    generator = random.Random(seed)
    found = sorted(estimate(generator.choices(rounds, k=len(rounds))) for _ in range(RESAMPLES))
    return found[round(0.025 * RESAMPLES)], found[round(0.975 * RESAMPLES) - 1]
