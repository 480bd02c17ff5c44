"""Compares runs of a program under evenkeel with runs under the MPI library alone (the control)."""

import dataclasses
import statistics

# How often both sides are repeated before a difference counts.
REPETITIONS = 3

# A program is slower if it takes more than this times the control's seconds, and more than so many seconds.
SLOWER_FACTOR = 2
SLOWER_LEAST_S = 1


@dataclasses.dataclass
class Runs:
    """What several runs of one program came to."""

    outcomes: list = dataclasses.field(default_factory=list)  # `pass`, `timeout`, `fail: …`
    seconds: list = dataclasses.field(default_factory=list)

    def add(self, outcome, seconds):
        self.outcomes.append(outcome)
        self.seconds.append(seconds)

    @property
    def failures(self):
        return [outcome for outcome in self.outcomes if outcome != "pass"]

    @property
    def outcome(self):
        """`pass` if all runs did; else the first failure, and of how many runs, if there are several."""
        if not self.failures:
            return "pass"
        if len(self.outcomes) == 1:
            return self.failures[0]
        return f"{self.failures[0]} ({len(self.failures)} of {len(self.outcomes)})"

    @property
    def median_s(self):
        """Seconds of the median of the last repetitions; runs out of time count with their limit."""
        return statistics.median(self.seconds[-REPETITIONS:])


def is_slower(runs, control):
    return runs.median_s > SLOWER_LEAST_S and runs.median_s > SLOWER_FACTOR * control.median_s


def needs_repetition(runs, control):
    """Whether one run of each shows a difference that must be repeated. A control that fails ends it."""
    return not control.failures and (bool(runs.failures) or is_slower(runs, control))


def verdict(runs, control):
    """One word on all runs of a program: `same`, `fails alone`, `new failure`, `unsteady` or `slower`.

    `new failure`: the control always passes, and most runs with evenkeel fail. `unsteady`: the control always
    passes, and fewer fail. `fails alone`: the control fails at least once, so the program proves nothing.
    """
    if control.failures:
        return "fails alone"
    if 2 * len(runs.failures) > len(runs.outcomes):
        return "new failure"
    if runs.failures:
        return "unsteady"
    return "slower" if is_slower(runs, control) else "same"
