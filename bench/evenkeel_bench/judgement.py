"""A target, whether it is met for evenkeel over each library, and numbers as people read them. Pure."""

import math
from dataclasses import dataclass

MET, MISSED, PARTLY, UNKNOWN = "met", "**missed**", "partly", "not measured"


@dataclass(frozen=True)
class Judgement:
    """One target for one evenkeel configuration. `value` and `is_met` are None where nothing was measured."""

    configuration: str
    value: float | None
    is_met: bool | None
    text: str


@dataclass(frozen=True)
class Target:
    """A target, and the judgements on it."""

    what: str
    target: str
    judgements: tuple

    @property
    def verdict(self):
        known = [j.is_met for j in self.judgements if j.is_met is not None]
        if not known:
            return UNKNOWN
        if all(known):
            return MET
        if not any(known):
            return MISSED
        missed = ", ".join(host(j.configuration) for j in self.judgements if j.is_met is False)
        return f"{PARTLY}: **missed** over {missed}"


def host(configuration):
    """The library's configuration below evenkeel."""
    return configuration.removesuffix("+evenkeel")


def number(x):
    """Three significant digits, without an exponent."""
    if x is None:
        return "-"
    if x == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(x)))
    return f"{x:.{max(0, digits)}f}" if digits > 0 else f"{x:,.0f}"


def ranged(s, unit=""):
    """A spread: the median, and lowest–highest over the rounds."""
    return "-" if s is None else f"{number(s.median)}{unit} ({number(s.low)}–{number(s.high)})"


def not_measured(configuration):
    return Judgement(configuration, None, None, "-")


def at_most(configuration, s, limit, unit=""):
    if s is None:
        return not_measured(configuration)
    return Judgement(configuration, s.median, s.median <= limit, ranged(s, unit))


def at_least(configuration, s, limit, unit=""):
    if s is None:
        return not_measured(configuration)
    return Judgement(configuration, s.median, s.median >= limit, ranged(s, unit))
