"""The statistics of the tables. Pure: values in, values out."""

import math
from statistics import median


def geometric_mean(values):
    """Of positive numbers; None if there are none.

    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    values = list(values)
    if not values:
        return None
    if min(values) <= 0:
        raise ValueError("a geometric mean needs positive numbers")
    return math.exp(math.fsum(math.log(v) for v in values) / len(values))


class Spread:
    """Median of the rounds, with the lowest and the highest."""

    def __init__(self, values):
        self.values = sorted(values)
        if not self.values:
            raise ValueError("no rounds")
        self.median = median(self.values)
        self.low = self.values[0]
        self.high = self.values[-1]

    def __repr__(self):
        return f"Spread({self.median:.4g}, {self.low:.4g}–{self.high:.4g}, {len(self.values)} rounds)"


def spread(values):
    """`Spread` of the values that are not None, or None if there are none."""
    values = [v for v in values if v is not None]
    return Spread(values) if values else None


def ratio_by_round(ours, theirs):
    """Spread of the ratios within each round that both have (round → value each); None if there is none."""
    return spread(ours[r] / theirs[r] for r in sorted(ours) if r in theirs and theirs[r] > 0)


def best_by_round(many):
    """Round → the smallest value that any of the series (round → value) has in that round.

    >>> best_by_round([{1: 3.0, 2: 5.0}, {1: 4.0, 2: 2.0, 3: 9.0}])
    {1: 3.0, 2: 2.0, 3: 9.0}
    """
    best = {}
    for series in many:
        for round_, value in series.items():
            if round_ not in best or value < best[round_]:
                best[round_] = value
    return dict(sorted(best.items()))


def paired_ratio(with_it, without):
    """Ratio of two medians, each of several alternating runs; None if either is missing."""
    if not with_it or not without or median(without) <= 0:
        return None
    return median(with_it) / median(without)
