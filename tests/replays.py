"""Runs that are recorded, and repeated."""

import re

import pytest

from mpis import has_stopped, named


def available(name):
    """A library, or the test is skipped."""
    mpi = named(name)
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


class Recorded:
    """A run of a test program, with a trace that compares after each call."""

    def __init__(self, mpi, folder, source, ranks, words):
        self.mpi, self.folder, self.source, self.ranks = mpi, folder, source, ranks
        self.words = list(map(str, words))
        self.out = self.run(["--trace", folder, "--trace-checks", "1"], self.words).ok().out

    def run(self, options, words):
        program = self.mpi.build(self.source)
        return self.mpi.evenkeel(program, self.ranks, *words, options=["--quiet", *options])

    def repeat(self, words, options=()):
        return self.run(["--replay", self.folder, *options], list(map(str, words)))

    def assert_equal(self):
        """Repeated as it is, and with ranks that are stopped now and then."""
        for options in ((), ("--inject", "stalls=exp:2ms/20ms")):
            assert self.repeat(self.words, options).ok().out == self.out

    def assert_stops(self, words, what):
        """With these words on its command line, the program does something else.

        The rank that differs is left the word for a while, and has not said it if it got no core.
        """
        for _ in range(3):
            outcome = self.repeat(words)
            assert has_stopped(self.mpi, outcome), outcome.text
            if re.search(what, outcome.err):
                return
        raise AssertionError(outcome.err)
